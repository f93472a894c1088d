#include "vtab/op_kernels.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ext/core/row_sort.h"
#include "vtab/load_parts.h"

namespace profana {
namespace {

int host_op(const char* column) {
    return model_column(Model::kHostOp, column);
}

// The values of a column that may be absent.
class Integers {
  public:
    Integers(const Table& table, Model model, const char* name)
        : column_(table.find(model_column(model, name))) {}
    int64_t at(Row row) const { return column_ == nullptr ? kNullInt : column_->integer(row); }

  private:
    const Column* column_;
};

// The kernels of each operator, one operator behind the other.
struct Launched {
    PageVector<uint32_t> first;  // by operator, and the end
    PageVector<Row> kernels;     // those of an operator in order of prof_launch
};

Launched launched_kernels(const Table& launches, size_t operators, size_t kernels, int64_t id_base,
                          LoadContext& context) {
    const Integers op_ids(launches, Model::kLaunch, "host_op_id"),
        kernel_ids(launches, Model::kLaunch, "kernel_id");
    const auto each = [&](auto f) {
        LoopPoll poll(context);
        for (Row launch = 0; launch < launches.rows(); ++launch) {
            poll.tick();
            const int64_t op_id = op_ids.at(launch), kernel_id = kernel_ids.at(launch);
            if (op_id == kNullInt || kernel_id == kNullInt) continue;
            const auto op = static_cast<uint64_t>(op_id - id_base),
                       kernel = static_cast<uint64_t>(kernel_id - id_base);
            if (op < operators && kernel < kernels) f(op, static_cast<Row>(kernel));
        }
    };
    Launched out;
    out.first.resize(operators + 1, 0);
    each([&](uint64_t op, Row) { ++out.first[op + 1]; });
    for (size_t op = 0; op < operators; ++op) out.first[op + 1] += out.first[op];
    out.kernels.resize(out.first[operators]);
    PageVector<uint32_t> next(out.first.begin(), out.first.end() - 1);
    each([&](uint64_t op, Row kernel) { out.kernels[next[op]++] = kernel; });
    return out;
}

// The columns of one prof_host_op, filled operator by operator.
class OpKernels {
  public:
    OpKernels(const Table& kernels, Column* count, Column* names, Column* total)
        : start_(kernels, Model::kKernel, "start_ns"),
          duration_(kernels, Model::kKernel, "dur_ns"),
          communication_(kernels, Model::kKernel, "is_communication"),
          count_(count),
          names_(names),
          total_(total) {
        kernel_name_ = kernels.find(model_column(Model::kKernel, "name"));
        if (names != nullptr && kernel_name_ != nullptr)
            codes_.emplace(kernel_name_->dictionary(), names->dictionary());
    }

    void add(const Row* kernels, size_t n) {
        if (count_ != nullptr) count_->add_int(static_cast<int64_t>(n));
        computing_.clear();
        for (size_t i = 0; i < n; ++i)
            if (communication_.at(kernels[i]) != 1) computing_.push_back(kernels[i]);
        if (total_ != nullptr) total_->add_int(total());
        if (names_ != nullptr) names_->add_code(names());
    }

  private:
    int64_t total() const {
        int64_t sum = 0;
        for (const Row kernel : computing_) {
            const int64_t duration = duration_.at(kernel);
            if (duration != kNullInt && __builtin_add_overflow(sum, duration, &sum)) return kNullInt;
        }
        return sum;
    }

    uint32_t names() {
        if (!codes_) return kNullCode;
        if (computing_.size() == 1) return (*codes_)(kernel_name_->code(computing_[0]));
        std::sort(computing_.begin(), computing_.end(), [&](Row a, Row b) {
            return std::make_pair(start_.at(a), a) < std::make_pair(start_.at(b), b);
        });
        joined_.clear();
        bool any = false;
        for (const Row kernel : computing_) {
            if (kernel_name_->is_null(kernel)) continue;
            if (any) joined_ += ", ";
            joined_ += kernel_name_->text(kernel);
            any = true;
        }
        return any ? names_->dictionary().intern(joined_) : kNullCode;
    }

    Integers start_, duration_, communication_;
    const Column* kernel_name_ = nullptr;
    std::optional<Recoder> codes_;  // of names of single kernels; none: the names are not known or not wanted
    Column *count_, *names_, *total_;
    std::vector<Row> computing_;
    std::string joined_;
};

// The tables of one source that prof_host_op is made of. launches or kernels: nullptr where the source has
// none.
struct Tables {
    std::shared_ptr<Table> operators, launches, kernels;
    int64_t id_base;
    bool side_by_side;
};

ColumnSet columns_of(Model model, std::initializer_list<const char*> names) {
    ColumnSet out;
    for (const char* name : names) out.add(model_column(model, name));
    return out;
}

void load_sources(const Tables& tables, const ColumnSet& of_operators, LoadContext& context) {
    const std::vector<LoadTask> links = {
        {tables.launches.get(), columns_of(Model::kLaunch, {"host_op_id", "kernel_id"})},
        {tables.kernels.get(),
         columns_of(Model::kKernel, {"name", "start_ns", "dur_ns", "is_communication"})}};
    load_side_by_side({{tables.operators.get(), of_operators}},
                      tables.side_by_side ? links : std::vector<LoadTask>(), context);
    load_one_by_one(links, context);  // what was not read ahead, and what went wrong with it
}

void load_kernel_columns(const Tables& tables, Table& out, const ColumnSet& wanted, LoadContext& context) {
    const auto column = [&](const char* name) {
        return wanted.has(host_op(name)) ? &out.building(host_op(name)) : nullptr;
    };
    OpKernels columns(*tables.kernels, column("kernel_count"), column("kernel_names"), column("kernel_ns"));
    const size_t operators = tables.operators->rows();
    const Launched launched =
        launched_kernels(*tables.launches, operators, tables.kernels->rows(), tables.id_base, context);
    LoopPoll poll(context);
    for (size_t op = 0; op < operators; ++op) {
        poll.tick();
        columns.add(launched.kernels.data() + launched.first[op],
                    launched.first[op + 1] - launched.first[op]);
    }
}

void load_host_op(const Tables& tables, Table& out, const ColumnSet& wanted, LoadContext& context) {
    const ColumnSet kernel_columns =
        columns_of(Model::kHostOp, {"kernel_count", "kernel_names", "kernel_ns"});
    ColumnSet of_operators;
    bool any = false;
    wanted.each([&](int column) {
        if (kernel_columns.has(column))
            any = true;
        else
            of_operators.add(column);
    });
    const bool known = any && tables.launches != nullptr && tables.kernels != nullptr;
    if (known)
        load_sources(tables, of_operators, context);
    else
        tables.operators->ensure(of_operators, context);
    out.set_from(*tables.operators, of_operators);
    if (known) return load_kernel_columns(tables, out, wanted, context);
    kernel_columns.each([&](int column) {
        if (wanted.has(column)) out.set_absent(column);
    });
}

class WithOpKernels : public Source {
  public:
    explicit WithOpKernels(std::shared_ptr<Source> of) : of_(std::move(of)) {}

    const SourceFacts& facts() const override { return of_->facts(); }
    bool loads_side_by_side() const override { return of_->loads_side_by_side(); }
    int64_t time_base_ns(LoadContext& context) override { return of_->time_base_ns(context); }
    std::vector<std::string> files() const override { return of_->files(); }

    std::shared_ptr<Table> table(Model model) override {
        if (model != Model::kHostOp || of_->table(model) == nullptr) return of_->table(model);
        if (host_ops_ == nullptr)
            host_ops_ = make_model_table(
                model,
                [tables = Tables{of_->table(model), of_->table(Model::kLaunch), of_->table(Model::kKernel),
                                 of_->facts().id_base, of_->loads_side_by_side()}](
                    Table& out, const ColumnSet& wanted, LoadContext& context) {
                    load_host_op(tables, out, wanted, context);
                });
        return host_ops_;
    }

  private:
    std::shared_ptr<Source> of_;
    std::shared_ptr<Table> host_ops_;
};

}  // namespace

std::shared_ptr<Source> with_op_kernels(std::shared_ptr<Source> source) {
    return std::make_shared<WithOpKernels>(std::move(source));
}

}  // namespace profana
