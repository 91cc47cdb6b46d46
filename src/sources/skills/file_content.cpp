/// Reading a file so that no mix of two states is sent.
#include "sources/skills/file_content.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/bytes/prepare.hpp"
#include "sources/skills/naming.hpp"
#include "text/secrets/masking_reader.hpp"
#include "text/secrets/policy.hpp"

namespace hondana::skills {
namespace {

constexpr std::uint64_t whole_bytes = 1u << 20;

tl::unexpected<failure> changed() {
  return fail(errc::content_changed, "The file changed while it was being read. Read it again.");
}

/// Pulls a file of the size it had when it was opened.
class file_reader final : public byte_reader {
 public:
  explicit file_reader(opened_file file) noexcept : file_(std::move(file)) {}

  [[nodiscard]] std::uint64_t size() const noexcept override { return file_.state.size; }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size() - done_));
    HONDANA_TRY(const auto count, read_at(file_.file.get(), into.first(wanted), done_));
    if (count < wanted) return changed();
    done_ += count;
    return count;
  }
  [[nodiscard]] result<void> rewind() override {
    done_ = 0;
    return {};
  }

 private:
  opened_file file_;
  std::uint64_t done_ = 0;
};

/// Twice, when the first reading may be a mix that the time stamps do not show.
result<std::string> read_whole(const opened_file& file) {
  std::string bytes(file.state.size, '\0');
  HONDANA_TRY(const auto count, read_at(file.file.get(), bytes, 0));
  struct stat after{};
  if (count < bytes.size() || ::fstat(file.file.get(), &after) != 0 || disk::stamp_of(after) != file.state) return changed();
  return bytes;
}

}  // namespace

result<content> content_of(opened_file file, std::string_view path, const read_request& request) {
  if (file.state.size > request.max_bytes) {
    return tl::unexpected(bytes::too_large(request.asked_uri, file.state.size, request.max_bytes, false));
  }
  content item;
  item.name = last_name(path);
  item.mimeType = type_of(path);
  if (file.state.size > whole_bytes) {
    const bool masks = file.masks;
    std::shared_ptr<byte_reader> reader = std::make_shared<file_reader>(std::move(file));
    if (masks) reader = std::make_shared<secrets::masking_reader>(std::move(reader), secrets::policy_of(path));
    item.data = std::move(reader);
    return item;
  }
  auto bytes = read_whole(file);
  if (bytes && is_racy(file.state, disk::wall_clock())) {
    HONDANA_TRY(const auto again, read_whole(file));
    if (again != *bytes) return changed();
  }
  if (!bytes) return tl::unexpected(std::move(bytes.error()));
  if (file.masks) item.metadata = secrets::facts_of(secrets::redactor(secrets::policy_of(path), *bytes).mask(*bytes));
  item.data = std::make_shared<const std::string>(std::move(*bytes));
  return item;
}

}  // namespace hondana::skills
