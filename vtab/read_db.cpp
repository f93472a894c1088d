#include "vtab/read_db.h"

namespace profana {
namespace {

class DbSource : public Source {
  public:
    DbSource(SourceFacts facts, DbFiles files) : facts_(std::move(facts)), files_(std::move(files)) {}
    const SourceFacts& facts() const override { return facts_; }
    std::shared_ptr<Table> table(Model) override { return nullptr; }
    std::vector<std::string> files() const override { return {files_.profiler}; }

  private:
    SourceFacts facts_;
    DbFiles files_;
};

}  // namespace

DbContent db_content(const std::string&) {
    return DbContent::kUnknown;
}

std::shared_ptr<Source> make_db_source(Connection&, SourceFacts facts, DbFiles files, const ProfileOptions&) {
    return std::make_shared<DbSource>(std::move(facts), std::move(files));
}

}  // namespace profana
