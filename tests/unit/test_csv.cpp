// CSV files as tables: values by the heads' units, rows as real writers leave them, and what is said about
// it.
#include <catch2/catch.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "ext/core/csv_cells.h"
#include "tests/unit/files.h"
#include "vtab/raw_csv.h"

using namespace profana;

namespace {

std::string show(const Column& column, Row row) {
    if (column.is_null(row)) return "NULL";
    switch (column.type()) {
        case ColumnType::kInt:
            return std::to_string(column.integer(row));
        case ColumnType::kReal: {
            char text[40];
            std::snprintf(text, sizeof text, "%.17g", column.real(row));
            return text;
        }
        case ColumnType::kText:
            return "'" + std::string(column.text(row)) + "'";
        case ColumnType::kLong:
            return column.long_text(row);
        case ColumnType::kAny:
            break;
    }
    return "?";
}

// A table of one kind, read with all it has to say.
class Csv {
  public:
    explicit Csv(CsvKind kind) : kind_(kind) {}

    void open(std::vector<std::string> files, CsvFault fault = CsvFault::kError,
              const ChunkLimits& limits = kCsvLimits) {
        table_ = make_csv_table(csv_format(kind_), std::move(files), fault, limits);
    }
    // A file with these bytes.
    void write(const std::string& text) { open({folder_.write("file.csv", text)}); }

    // The values of the columns, row by row: "1 'a' NULL; 2 'b' 7".
    std::string rows(const std::vector<const char*>& columns) {
        ColumnSet wanted;
        for (const char* name : columns) wanted.add(csv_column(kind_, name));
        table_->ensure(wanted, context_);
        std::string out;
        for (Row row = 0; row < table_->rows(); ++row) {
            out += row == 0 ? "" : "; ";
            for (size_t i = 0; i < columns.size(); ++i) {
                const int column = csv_column(kind_, columns[i]);
                out += (i == 0 ? "" : " ") +
                       (table_->absent(column) ? std::string("NULL") : show(table_->column(column), row));
            }
        }
        return out;
    }
    // "line:code line:code", in file order within a code; "*n" for more than were kept.
    std::string codes() const {
        std::string out;
        for (const Diagnostic& d : diagnostics_.rows())
            out += (out.empty() ? "" : " ") + std::to_string(d.line) + ":" + d.code;
        return out;
    }
    std::string message() const { return diagnostics_.rows().at(0).message; }

    TempFolder folder_;
    CsvKind kind_;
    Progress progress_;
    Diagnostics diagnostics_;
    LoadContext context_{progress_, diagnostics_};
    std::shared_ptr<Table> table_;
};

template <class Body>
std::string error_of(Body body) {
    try {
        body();
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

const char kHeads[] = "Step Id,Name,Type,Start Time(us),Duration(us),Input Shapes\n";

}  // namespace

TEST_CASE("values of a kernel_details file", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(
        "Step Id,Device_id,Model ID,Task ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),"
        "Wait Time(us),Block Dim,Input Shapes,aic_mac_ratio,cube_utilization(%),GM_to_L1_datas(KB),"
        "ub_read_bw(GB/s),Context ID\r\n"
        "7,0,4294967295,N/A,\"a,b\",MatMulV3,AI_CORE,1736413971558972.912\t,53.741,0,20,"
        "\"\"\"16,16;16,16\"\"\",0.5,101.25,1.5,3.25,N/A\r\n"
        ",1,3,12,c,N/A,COMMUNICATION,\"1736413971558973.001\t\",8868.240000000003,1797.220000,0,"
        "\"\"\"\"\"\",N/A,,,N/A,4294967295\r\n");
    CHECK(csv.rows({"step", "device_id", "model_id", "task_id", "name", "op_type", "accelerator_core"}) ==
          "7 0 NULL NULL 'a,b' 'MatMulV3' 'AI_CORE'; NULL 1 3 12 'c' NULL 'COMMUNICATION'");
    CHECK(csv.rows({"start_ns", "dur_ns", "wait_ns", "block_num", "input_shapes"}) ==
          "1736413971558972912 53741 0 20 '16,16;16,16'; 1736413971558973001 8868240 1797220 0 ''");
    CHECK(csv.rows({"aic_mac_ratio", "cube_utilization_percent", "gm_to_l1_datas_bytes",
                    "ub_read_bw_gb_per_s", "context_id", "aiv_time_ns", "extra", "line"}) ==
          "0.5 101.25 1536 3.25 NULL NULL NULL 2; NULL NULL NULL NULL NULL NULL NULL 3");
    CHECK(csv.codes().empty());
}

TEST_CASE("heads of other versions and spellings share a column", "[csv]") {
    for (const char* heads : {"Step Id,Name,Start Time(us),Duration(us),Block Dim",
                              "Step ID,Name,Start Time(us),Duration(us),Block Num",
                              "STEP_ID,Op Name,Task Start Time(us),Task Duration(us),block_num",
                              "step,name,start time (ns),duration( ns ),Block-Num"}) {
        Csv csv(CsvKind::kKernelDetails);
        const bool ns = std::string(heads).find("ns") != std::string::npos;
        csv.write(std::string(heads) + (ns ? "\n5,k,1500,250,20\n" : "\n5,k,1.5,0.25,20\n"));
        INFO(heads);
        CHECK(csv.rows({"step", "name", "start_ns", "dur_ns", "block_num", "extra"}) ==
              "5 'k' 1500 250 20 NULL");
    }
}

TEST_CASE("units decide the factor", "[csv]") {
    Csv csv(CsvKind::kTaskTime);
    csv.write("Time(%),Time(us),Count,Avg(ms),Op Name\n12.5,3.5,2,1.25,k\n");
    CHECK(csv.rows({"time_percent", "task_time_ns", "count", "avg_ns", "kernel_name"}) ==
          "12.5 3500 2 1250000 'k'");
    Csv memory(CsvKind::kOperatorMemory);
    memory.write(
        "Name,Size(KB),Allocation Total Allocated(MB),Release Total Allocated(KB),Stream Ptr,Device\n"
        "a,192.0,242.0,0.5,140187732541440,NPU:0\nb,-0.5,0.00048828125,,,\n");
    CHECK(memory.rows({"name", "size_bytes", "allocation_total_allocated_bytes",
                       "release_total_allocated_bytes", "stream_ptr", "device_type"}) ==
          "'a' 196608 253755392 512 140187732541440 'NPU:0'; 'b' -512 512 NULL NULL NULL");
    CHECK(memory.codes().empty());
}

TEST_CASE("step and device as words", "[csv]") {
    Csv steps(CsvKind::kStepTraceTime);
    steps.write(
        "Device_id,Step,Computing,Communication(Not Overlapped),Free\n"
        "0,50,1.5,2,3\n0,step51,1,2,3\n-1,step,1,2,3\n,,1,2,\n");
    CHECK(steps.rows({"device_id", "step", "computing_ns", "communication_not_overlapped_ns", "free_ns"}) ==
          "0 50 1500 2000 3000; 0 51 1000 2000 3000; -1 NULL 1000 2000 3000; NULL NULL 1000 2000 NULL");
    Csv apis(CsvKind::kApiStatistic);
    apis.write(
        "Device_id,Level,API Name,Time(us),Count,Avg(us),Min(us),Max(us),Variance\n"
        "host,acl,aclnnAdd,10.5,2,5.25,5,5.5,0.0625\n");
    CHECK(apis.rows({"device_id", "level", "name", "total_ns", "count", "avg_ns", "min_ns", "max_ns",
                     "variance"}) == "NULL 'acl' 'aclnnAdd' 10500 2 5250 5000 5500 0.0625");
    CHECK(steps.codes() + apis.codes() == "");
}

TEST_CASE("byte-order mark, mixed line ends, quoted line ends, blank lines", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(
        "\xEF\xBB\xBFStep Id,Name,Type,Start Time(us),Duration(us)\r\n"
        "\r\n1,\"two\r\nlines\",T,1,2\n  \n2,\" x \",T,3,4\r\n\n");
    CHECK(csv.rows({"step", "name", "dur_ns", "line"}) == "1 'two\r\nlines' 2000 3; 2 'x' 4000 6");
    CHECK(csv.codes().empty());
}

TEST_CASE("rows with cells missing or too many", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(std::string(kHeads) +
              "1,short,T\n"
              "2,void k<int, 4, float>(a),T,1.5,2.5,\"\"\"8,8\"\"\"\n"
              "3,plain,T,1.5,2.5,,,\n"
              "4,plain,T,1.5,2.5,\"\"\"8,8\"\"\",surplus\n"
              "5,cut,T,1.2");
    CHECK(csv.rows({"step", "name", "op_type", "start_ns", "dur_ns", "input_shapes", "line"}) ==
          "1 'short' 'T' NULL NULL NULL 2; "
          "2 'void k<int, 4, float>(a)' 'T' 1500 2500 '8,8' 3; "
          "3 'plain' 'T' 1500 2500 NULL 4; "
          "4 'plain' 'T' 1500 2500 '8,8' 5; "
          "5 'cut' 'T' NULL NULL NULL 6");
    CHECK(csv.codes() == "2:cells_missing 3:cells_surplus 5:cells_surplus 6:row_cut");
}

TEST_CASE("a last row without a line end is whole", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(std::string(kHeads) + "1,a,T,1,2,\"\"\"4\"\"\"");
    CHECK(csv.rows({"step", "input_shapes"}) == "1 '4'");
    CHECK(csv.codes().empty());
}

TEST_CASE("headers further down", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(std::string(kHeads) + "1,a,T,1,2,\"\"\"4\"\"\"\n" + kHeads + "2,b,T,3,4,\n" +
              "\xEF\xBB\xBF"
              "Name,Step Id,Duration(ms),Block Num,Start Time(us)\nc,3,5,20,6\n" +
              kHeads + "4,d,T,7,8,\n");
    CHECK(csv.rows({"step", "name", "dur_ns"}) == "1 'a' 2000; 2 'b' 4000; 3 'c' 5000000; 4 'd' 8000");
    // A column that only a later header has.
    CHECK(csv.rows({"block_num", "start_ns", "line"}) == "NULL 1000 2; NULL 3000 4; 20 6000 6; NULL 7000 8");
    CHECK(csv.codes() == "3:repeated_header 5:new_header 7:new_header");
    Csv only(CsvKind::kKernelDetails);
    only.write(kHeads);
    CHECK(only.rows({"name"}).empty());
    CHECK(only.table_->rows() == 0);
}

TEST_CASE("names like heads are names", "[csv]") {
    Csv csv(CsvKind::kOperatorMemory);
    csv.write("Name,Size(KB),Duration(us)\nName,1,2\nDuration,2,3\naten::add,3,4\n");
    CHECK(csv.rows({"name", "size_bytes", "dur_ns"}) ==
          "'Name' 1024 2000; 'Duration' 2048 3000; 'aten::add' 3072 4000");
}

TEST_CASE("slices are joined in order, each with its own header", "[csv]") {
    Csv csv(CsvKind::kOpSummary);
    csv.open({csv.folder_.write("a.csv", "Device_id,Op Name,Task Duration(us)\n0,a,1\n1,b,2\n"),
              csv.folder_.write("b.csv", ""),
              csv.folder_.write("c.csv", "Op Name,Task Duration(us),Block Num\nc,3,20\n")});
    CHECK(csv.rows({"device_id", "name", "dur_ns", "block_num", "line"}) ==
          "0 'a' 1000 NULL 2; 1 'b' 2000 NULL 3; NULL 'c' 3000 20 2");
    CHECK(csv.codes() == "0:file_unusable");
}

TEST_CASE("a slice without the right heads does not lose the others", "[csv]") {
    Csv csv(CsvKind::kOpSummary);
    const std::string wrong = csv.folder_.write("wrong.csv", "Device_id,API Name\n0,x\n"),
                      utf16 = csv.folder_.write("utf16.csv", std::string("\xFF\xFEO\0p\0\n\0", 8)),
                      endless = csv.folder_.write("endless.csv", std::string(17 << 20, 'x'));
    csv.open({csv.folder_.write("a.csv", "Op Name,Task Duration(us)\na,1\n"), wrong, utf16, endless,
              csv.folder_.write("cut.csv", gzip("Op Name,Task Duration(us)\nb,2\n").substr(0, 6)),
              csv.folder_.write("b.csv", "Op Name,Task Duration(us)\nb,2\n")});
    CHECK(csv.rows({"name", "dur_ns", "line"}) == "'a' 1000 2; 'b' 2000 2");
    CHECK(csv.codes() == "0:file_unusable 0:file_unusable 0:file_unusable 0:file_unusable");
    const std::vector<Diagnostic> found = csv.diagnostics_.rows();
    for (size_t i = 0; i < found.size(); ++i) {
        CHECK(found[i].severity == Severity::kError);
        CHECK(found[i].file == std::vector{wrong, utf16, endless, csv.folder_.file("cut.csv")}[i]);
    }
    CHECK(found[0].message.starts_with("line 1: is no op_summary file: it has no head "));
    CHECK(found[0].message.ends_with("; no row of it was read"));

    csv.open({wrong, utf16});
    const std::string error = error_of([&] { csv.rows({"name"}); });
    CHECK(error.find("wrong.csv: line 1: is no op_summary file: ") != std::string::npos);
    CHECK(error.find("no row of it was read") == std::string::npos);
}

TEST_CASE("heads nobody knows", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(
        "Name,Duration(us),aic_0x49,New \"Head\",Duration(us),,aic_0x49,Pages(pages)\n"
        "a,1,12.5,x \"y\",2,z,03,7\n"
        "b,2,,N/A,,,,\n");
    CHECK(csv.rows({"name", "dur_ns", "extra"}) ==
          "'a' 1000 {\"aic_0x49\":12.5,\"New \\\"Head\\\"\":\"x "
          "\\\"y\\\"\",\"Duration(us)\":2,\"column_6\":\"z\","
          "\"aic_0x49_2\":\"03\",\"Pages(pages)\":7}; 'b' 2000 NULL");
    CHECK(csv.codes() == "1:repeated_head");
}

TEST_CASE("bytes that are no UTF-8", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(std::string(kHeads) + "1,\xcb\xe3\xd7\xd3,T,1,2,\n2,\xe7\xae\x97\xe5\xad\x90,T,3,4,\n3," +
              std::string("a\0b", 3) + ",T,5,6,\n");
    CHECK(csv.rows({"step", "name", "dur_ns"}) ==
          "1 '\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD' 2000; 2 '\xe7\xae\x97\xe5\xad\x90' 4000; "
          "3 'a\xEF\xBF\xBD"
          "b' 6000");
    CHECK(csv.codes() == "2:invalid_utf8 4:invalid_utf8");
}

TEST_CASE("numbers that are none, or do not fit", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(
        "Step Id,Task ID,Name,Duration(us),aic_mac_ratio\n"
        "1.5,99999999999999999999,a,9223372036854775.808,nan\n"
        "x,-5,b,1e3,1e999\n"
        "\" 7\t\",18446744073709551615,c,\"\"\"2.5\"\"\",inf\n"
        "1.0,3,d,1.69512E+13,2.5e-1\n"
        "1,4,e,1.69512E+15,1\n"
        "1,5,f,\"-1.69512E+15\",1\n");
    CHECK(csv.rows({"step", "task_id", "dur_ns", "aic_mac_ratio"}) ==
          "2 NULL NULL NULL; NULL -5 1000000 NULL; 7 NULL 2500 NULL; 1 3 16951200000000000 0.25; "
          "1 4 NULL 1; 1 5 NULL 1");
    CHECK(csv.codes() ==
          "2:not_a_number 3:not_a_number 4:not_a_number 2:not_an_integer 2:number_out_of_range "
          "2:number_out_of_range 3:number_out_of_range 4:number_out_of_range 6:implausible_value 7:implausible_value");
    CHECK(csv.message() == "aic_mac_ratio: 'nan' is no number; read as NULL");
}

TEST_CASE("torn quotes do not swallow rows", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(std::string(kHeads) +
              "1,\"torn,T,1,2,\"\"\"8\"\"\"\n2,b,T,3,4,\"\"\"9\"\"\"\n3,5\" pipe,T,5,6,\n" +
              "4,\"torn,T,7,8,\n5,e,T,9,10,\n");
    CHECK(csv.rows({"step", "name", "dur_ns", "input_shapes", "line"}) ==
          "1 '\"torn' 2000 '8' 2; 2 'b' 4000 '9' 3; 3 '5\" pipe' 6000 NULL 4; 4 '\"torn' 8000 NULL 5; "
          "5 'e' 10000 NULL 6");
    CHECK(csv.codes() == "2:torn_quote 5:torn_quote");
}

TEST_CASE("a header with line ends within, or with CRs before its line feed", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write("Name,Duration(us),\"a\r\nb\"\r\nx,1,2\r\n");
    CHECK(csv.rows({"name", "dur_ns", "line"}) == "'x' 1000 3");
    csv.write("Name,Duration(us),New\rHead\nx,1,2\n");
    CHECK(csv.rows({"name", "dur_ns", "line"}) == "'x' 1000 2");
    csv.write("Name,Duration(us)\r\r\nx,1\r\r\n");
    CHECK(csv.rows({"name", "dur_ns", "line"}) == "'x' 1000 2");
    CHECK(csv.codes().empty());
}

TEST_CASE("a torn quote in a long file is bounded", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    std::string text = std::string(kHeads) + "0,\"torn,T,1,2,\n";
    for (int i = 1; i <= 3000; ++i) text += std::to_string(i) + ",a,T,1,2,\n";
    csv.context_.threads = 3;
    csv.open({csv.folder_.write("a.csv", text)}, CsvFault::kError, {1000, 4000});
    csv.rows({"step", "name"});
    CHECK(csv.table_->rows() == 3001);
    CHECK(csv.table_->column(csv_column(CsvKind::kKernelDetails, "step")).integer(3000) == 3000);
    CHECK(csv.codes() == "2:torn_quote");
}

TEST_CASE("a line too long is left out up to its line feed, and no part of it is a row", "[csv]") {
    const std::string other(3990, 'b');
    for (const size_t longer : {size_t{4001}, size_t{4500}, size_t{8000}, size_t{60000}}) {
        const std::string cells = std::string(longer, 'x') + ",T,9.0,77.0,\n";
        std::string text = std::string(kHeads) + "0,a,T,1,2,\n" + "1," + cells + "2,b,T,1,2,\n" + "3," +
                           cells + "4," + cells + "5,\"c\nd\",T,1,2,\n6," + other + ",T,1,2,\n";
        for (int i = 0; i < 300; ++i) text += "7,e,T,1,2,\n";
        for (const bool cut : {false, true}) {
            INFO("length " << longer << (cut ? ", the file ends within a line" : ""));
            const std::string file =
                text + (cut ? "8," + std::string(longer, 'y') : "8," + cells + "9,f,T,1,2,\n");
            for (const unsigned threads : {1u, 3u}) {
                Csv csv(CsvKind::kKernelDetails);
                csv.context_.threads = threads;
                csv.open({csv.folder_.write("a.csv", file)}, CsvFault::kError, {1000, 4000});
                csv.rows({"step", "name", "line"});
                const Table& table = *csv.table_;
                const Column &step = table.column(csv_column(CsvKind::kKernelDetails, "step")),
                             &line = table.column(csv_column(CsvKind::kKernelDetails, "line"));
                REQUIRE(table.rows() == (cut ? 304 : 305));
                CHECK(step.integer(0) == 0);
                CHECK(step.integer(1) == 2);
                CHECK(line.integer(1) == 4);
                CHECK(step.integer(2) == 5);
                CHECK(line.integer(2) == 7);
                CHECK(step.integer(3) == 6);
                CHECK(line.integer(3) == 9);
                CHECK(line.integer(303) == 309);
                if (!cut) CHECK(line.integer(304) == 311);
                CHECK(csv.codes() == "3:row_too_long 5:row_too_long 6:row_too_long 310:row_too_long");
            }
        }
    }
}

TEST_CASE("a row too long is left out to its end, wherever line feeds, quotes and commas stand in it",
          "[csv]") {
    const std::string x(4200, 'x'), y(9000, 'y'), commas(4100, ','), behind = "2,b,T,1,2,\n";
    const struct {
        std::string row;
        int line_behind;
    } cases[] = {
        {"1,\"a\nb\",T," + x + ",2,\n", 4},                  // a quoted line feed in what is looked at
        {"1,\"a\nb\",T,\"" + x + "\",2,\n", 4},              // and no cell that ends there
        {"1," + x + ",\"a\n3,c,T,1,2\",2,\n", 4},            // in what follows
        {"1," + y + ",\"a\n3\n\"," + x + ",\"\n\",2\n", 6},  // in more than one part
        {"1," + x + "\"y,\"\"\"\n,\",\n", 4},                // a quote within a cell is a character
        {"1,a,T" + commas + "\"a\n3,c,T,1,2\",2,\n", 4},     // the part ends with a comma
        {"Step Id,Name,Type," + x + "\n", 3},                // it looks like another header
        {std::string(5000, ' ') + ",c,T,1,2,\n", 3},         // or like a blank line
        {"1,\"torn," + x + "\n", 3},
    };
    for (const auto& [row, line] : cases) {
        Csv csv(CsvKind::kKernelDetails);
        csv.open({csv.folder_.write("a.csv", kHeads + row + behind)}, CsvFault::kError, {1000, 4000});
        INFO(row.substr(0, 20));
        CHECK(csv.rows({"step", "name", "line"}) == "2 'b' " + std::to_string(line));
        CHECK(csv.codes() == "2:row_too_long");
    }
}

TEST_CASE("a header may have a torn quote, and blanks before it, but no more than 16 MiB", "[csv]") {
    const size_t most = size_t{1} << 24;
    Csv csv(CsvKind::kKernelDetails);
    csv.write("Step Id,Name,Duration(us),\"New\n1,a,2,3\n" + std::string(most, 'b') + "\n");
    CHECK(csv.rows({"step", "name", "dur_ns", "line"}).starts_with("1 'a' 2000 2"));
    csv.write(std::string(100000, '\n') + kHeads + "1,a,T,1,2,\n");
    CHECK(csv.rows({"step", "line"}) == "1 100002");
    CHECK(csv.codes() == "3:row_too_long");
    csv.write(std::string(most, '\n') + kHeads);
    CHECK(error_of([&] { csv.rows({"step"}); }).find("has nothing but blanks in its first 16777216 bytes") !=
          std::string::npos);
    csv.write("Step Id,Name" + std::string(most, ',') + "\n");
    CHECK(error_of([&] { csv.rows({"step"}); }).find("has no line end in its first 16777216 bytes") !=
          std::string::npos);
    csv.write("Step Id,Name\r1,a\r" + std::string(most, '2') + "\r");
    CHECK(error_of([&] { csv.rows({"step"}); }).find("has lines that end in CR alone") != std::string::npos);
}

TEST_CASE("a second load reads other columns and says nothing twice", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write(std::string(kHeads) + "x,a,T,1,y,\n2,\xff,T,3\n");
    CHECK(csv.rows({"name"}) == "'a'; '\xEF\xBF\xBD'");
    CHECK(csv.codes() == "3:cells_missing 3:invalid_utf8");
    CHECK(csv.rows({"step", "dur_ns"}) == "NULL NULL; 2 NULL");
    CHECK(csv.codes() == "3:cells_missing 3:invalid_utf8 2:not_a_number 2:not_a_number");
    csv.folder_.write("file.csv", std::string(kHeads) + "1,b,T,1,2,\n");
    CHECK(error_of([&] { csv.rows({"op_type"}); }).find("has changed") != std::string::npos);
    CHECK(csv.rows({"name"}) == "'a'; '\xEF\xBF\xBD'");
}

TEST_CASE("files that are of another kind", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.write("root:x:0:0:root:/root:/bin/bash\nbin:x:1:1\n");
    const std::string error = error_of([&] { csv.rows({"name"}); });
    CHECK(
        error.find("file.csv: line 1: is no kernel_details file: it has no head 'Name' or 'Op Name', no head "
                   "'Duration' or 'Task Duration'; its first line is 'root:x:0:0:root:/root:/bin/bash'") !=
        std::string::npos);
    csv.write("");
    CHECK(error_of([&] { csv.rows({"name"}); }).find("file.csv: is empty") != std::string::npos);
    csv.write(" \r\n\n");
    CHECK(error_of([&] { csv.rows({"name"}); }).find("is empty") != std::string::npos);
    csv.write(std::string("\xFF\xFEN\0a\0m\0e\0", 10));
    CHECK(error_of([&] { csv.rows({"name"}); }).find("UTF-16") != std::string::npos);
    for (const std::string& text : {std::string("\0N\0a\0m\0e\0", 9), std::string("N\0a\0m\0e\0", 8),
                                    std::string("N\0a\0m\0e\0\n\0\x97\x7B\n\0", 14)}) {
        csv.write(text);
        CHECK(error_of([&] { csv.rows({"name"}); }).find("UTF-16") != std::string::npos);
    }
    csv.write("Name,Duration(us)\ra,1\rb,2\r");
    CHECK(error_of([&] { csv.rows({"name"}); }).find("lines that end in CR alone") != std::string::npos);
    csv.write("Name,Size(KB)\na,1\n");
    CHECK(error_of([&] { csv.rows({}); }).find("no head 'Duration'") != std::string::npos);
    csv.open({csv.folder_.file("none.csv")});
    CHECK(error_of([&] { csv.rows({"name"}); }).find("no such file") != std::string::npos);

    csv.open({csv.folder_.write("other.csv", "a,b\n1,2\n"), csv.folder_.write("empty.csv", "")},
             CsvFault::kDiagnostic);
    CHECK(csv.rows({"name"}).empty());
    CHECK(csv.codes() == "0:file_unusable 0:file_unusable");
}

TEST_CASE("strict makes the first warning an error", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    csv.diagnostics_.set_strict(true);
    csv.write(std::string(kHeads) + "1,a,T,1,2,\nx,a,T,1,2,\n");
    CHECK(csv.rows({"name"}) == "'a'; 'a'");
    CHECK(error_of([&] { csv.rows({"step"}); }).find("file.csv: line 3: Step Id: 'x' is no number") !=
          std::string::npos);
}

TEST_CASE("gzip, also a truncated one", "[csv]") {
    std::string text = kHeads;
    for (int i = 1; i <= 5000; ++i) text += std::to_string(i) + ",a" + std::to_string(i * 7919) + ",T,1,2,\n";
    const std::string packed = gzip(text);
    Csv csv(CsvKind::kKernelDetails);
    csv.write(packed);
    csv.rows({"step"});
    CHECK(csv.table_->rows() == 5000);
    CHECK(csv.codes().empty());
    csv.write(packed.substr(0, packed.size() * 3 / 4));
    csv.rows({"step"});
    CHECK(csv.table_->rows() > 1000);
    CHECK(csv.table_->rows() < 5000);
    CHECK(csv.codes().find("gzip_truncated") != std::string::npos);
    const std::string before = csv.codes();
    csv.rows({"name"});
    CHECK(csv.codes() == before);
}

TEST_CASE("what is read does not depend on chunks and threads", "[csv]") {
    std::mt19937 random(9);
    const char* const cells[] = {"1",
                                 "22",
                                 "x",
                                 "\"a,b\"",
                                 "\"l1\nl2\"",
                                 "\"\"\"4,4\"\"\"",
                                 "",
                                 "N/A",
                                 "3.25",
                                 "\"torn",
                                 "5\"",
                                 "\xff",
                                 "\"a\"b",
                                 "1.5\t",
                                 "\"\"\"\"\"\"",
                                 "-7.0005",
                                 "99999999999999999999"};
    const std::vector<const char*> columns = {"step",   "name",         "op_type", "start_ns",
                                              "dur_ns", "input_shapes", "extra",   "line"};
    for (int round = 0; round < 40; ++round) {
        std::string text = kHeads;
        for (unsigned n = random() % 80; n > 0; --n) {
            if (random() % 30 == 0) text += kHeads;
            if (random() % 40 == 0) text += "Name,Duration(us),New\n";
            for (unsigned cell = 0, all = random() % 8 ? 6 : random() % 9; cell < all; ++cell)
                text.append(cell == 0 ? "" : ",").append(cells[random() % std::size(cells)]);
            text += random() % 5 ? "\n" : "\r\n";
        }
        if (random() % 2) text += "1,a,T";
        // Now and then, some rows are longer than a row may be.
        const size_t longest = random() % 3 == 0 ? 30 : size_t{1} << 24;
        Csv whole(CsvKind::kKernelDetails);
        whole.open({whole.folder_.write("a.csv", text)}, CsvFault::kError, {longest, longest});
        INFO(text);
        const std::string expected = whole.rows(columns), codes = whole.codes();
        for (const size_t chunk :
             {size_t{1}, std::min(size_t{40}, longest), std::min(size_t{300}, longest)}) {
            for (const unsigned threads : {1u, 3u}) {
                Csv csv(CsvKind::kKernelDetails);
                csv.context_.threads = threads;
                csv.open({csv.folder_.write("a.csv", random() % 2 ? text : gzip(text))}, CsvFault::kError,
                         {chunk, longest});
                INFO(text);
                REQUIRE(csv.rows(columns) == expected);
                REQUIRE(csv.codes() == codes);
            }
        }
    }
}

TEST_CASE("heads of a file, and what columns they make", "[csv]") {
    Csv csv(CsvKind::kKernelDetails);
    const std::string file = csv.folder_.write(
        "a.csv", "\xEF\xBB\xBFStep Id, \"Name\",Duration(us) ,mac_time(us),mine,,\r\n1,2,3\n");
    const auto heads = read_csv_heads(file, csv.context_);
    CHECK(heads == std::vector<std::string>{"Step Id", "Name", "Duration(us)", "mac_time(us)", "mine"});
    const ColumnSet columns = csv_columns_with_heads(*csv_format(CsvKind::kKernelDetails), heads);
    std::vector<std::string> names;
    columns.each([&](int c) {
        names.push_back(csv_format(CsvKind::kKernelDetails)->columns[static_cast<size_t>(c)].name);
    });
    CHECK(names == std::vector<std::string>{"step", "name", "dur_ns", "mac_time_ns"});
}

TEST_CASE("formats name each column once", "[csv]") {
    for (int kind = 0; kind < static_cast<int>(CsvKind::kCount); ++kind) {
        const CsvFormat& format = *csv_format(static_cast<CsvKind>(kind));
        std::set<std::string> names;
        for (const CsvColumn& column : format.columns) {
            INFO(format.name << "." << column.name);
            CHECK(names.insert(column.name).second);
            CHECK(std::string(column.doc) != "");
        }
        for (const char* name : format.required) CHECK(format.column(name) >= 0);
        CHECK(std::string(format.columns.back().name) == "line");
    }
}

TEST_CASE("numbers of any cell", "[csv]") {
    const auto kind = [](const char* text) { return cell_number(text).kind; };
    for (const char* text : {"0", "-1", "42", "9223372036854775807", "-9223372036854775807"})
        CHECK(kind(text) == AnyValue::kInteger);
    for (const char* text : {"0.5", "-1.25", "123456789012.345", "1e3", "1.69512E+15", "0.0", "1.50"})
        CHECK(kind(text) == AnyValue::kDouble);
    for (const char* text :
         {"", "007", "+1", "1.", ".5", "-0", "0x10", "nan", "inf", "1 2", "9223372036854775808",
          "1736413971558972.912", "1e999", "1e-999", "N/A", "1_000"}) {
        INFO(text);
        CHECK(kind(text) == AnyValue::kNull);
    }
    CHECK(cell_number("-17").integer == -17);
    CHECK(cell_number("0.1").real == 0.1);
}
