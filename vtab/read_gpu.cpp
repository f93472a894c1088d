#include "vtab/read_gpu.h"

namespace profana {
namespace {

class GpuSource : public Source {
  public:
    explicit GpuSource(Capture capture) : capture_(std::move(capture)) {}
    const SourceFacts& facts() const override { return capture_.facts; }
    std::shared_ptr<Table> table(Model) override { return nullptr; }
    std::vector<std::string> files() const override { return capture_.every_file(); }

  private:
    Capture capture_;
};

}  // namespace

std::shared_ptr<Source> make_gpu_source(Capture capture, const ProfileOptions&) {
    return std::make_shared<GpuSource>(std::move(capture));
}

}  // namespace profana
