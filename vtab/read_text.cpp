#include "vtab/read_text.h"

namespace profana {
namespace {

class TextSource : public Source {
  public:
    explicit TextSource(Capture capture) : capture_(std::move(capture)) {}
    const SourceFacts& facts() const override { return capture_.facts; }
    std::shared_ptr<Table> table(Model) override { return nullptr; }
    std::vector<std::string> files() const override { return capture_.every_file(); }

  private:
    Capture capture_;
};

}  // namespace

std::shared_ptr<Source> make_text_source(Capture capture, const ProfileOptions&) {
    return std::make_shared<TextSource>(std::move(capture));
}

}  // namespace profana
