/// Making files without names, and reading from memory.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "unit/text/rendering/files.hpp"

namespace hondana_test {
namespace {

class memory_source final : public hondana::rendering::byte_source {
 public:
  explicit memory_source(std::string_view all) : all_(all) {}
  [[nodiscard]] std::int64_t read_at(std::uint64_t offset, char* into, std::size_t size) override {
    if (offset >= all_.size()) return 0;
    const auto count = std::min(size, all_.size() - static_cast<std::size_t>(offset));
    std::memcpy(into, all_.data() + offset, count);
    return static_cast<std::int64_t>(count);
  }
  [[nodiscard]] std::uint64_t size() const override { return all_.size(); }

 private:
  std::string_view all_;
};

}  // namespace

hondana::disk::handle file_of(std::string_view content) {
  std::string path = "/tmp/hondana-rendering-XXXXXX";
  const hondana::disk::handle made(::mkostemp(path.data(), O_CLOEXEC));
  hondana::disk::handle reading(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ::unlink(path.c_str());
  for (auto left = content; !left.empty();) {
    const auto count = ::write(made.get(), left.data(), left.size());
    if (count <= 0) throw std::runtime_error("no file for a test");
    left.remove_prefix(static_cast<std::size_t>(count));
  }
  return reading;
}

hondana::result<hondana::rendering::document> office_text(hondana::rendering::format what, std::string_view file,
                                                          const hondana::rendering::limits& most) {
  const auto libraries = hondana::rendering::load_office_libraries();
  if (!libraries) return tl::unexpected(libraries.error());
  memory_source from(file);
  return hondana::rendering::render_office(what, from, most, **libraries);
}

hondana::result<hondana::rendering::document> office_sheets(std::string_view file, const hondana::rendering::limits& most) {
  const auto libraries = hondana::rendering::load_office_libraries();
  if (!libraries) return tl::unexpected(libraries.error());
  memory_source from(file);
  return hondana::rendering::render_office_sheets(from, most, **libraries);
}

}  // namespace hondana_test
