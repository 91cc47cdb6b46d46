/// A temporary buffer: small content in memory, large content in an unnamed file.
#include "os/disk/spool.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

#include "os/disk/file_descriptor.hpp"

namespace hondana::disk {
namespace {

// Number of bytes per write to the file.
constexpr std::size_t chunk_bytes = 256u << 10;

tl::unexpected<failure> storage_failure(const char* operation, int error) {
  return fail(errc::source_unavailable, "No space to buffer the content while it is sent. Retry later.",
              std::string(operation) + ": " + std::strerror(error));
}

class spooled_reader final : public byte_reader {
 public:
  spooled_reader(handle file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::span<char> buffer) override {
    const auto requested = std::min<std::uint64_t>(buffer.size(), size_ - position_);
    const auto count = read_at(file_.get(), buffer.data(), static_cast<std::size_t>(requested), position_);
    if (!count || *count < requested) return storage_failure("reading a temporary file", count ? EIO : count.error());
    position_ += *count;
    return *count;
  }
  [[nodiscard]] result<void> rewind() override {
    position_ = 0;
    return {};
  }

 private:
  const handle file_;
  const std::uint64_t size_;
  std::uint64_t position_ = 0;
};

}  // namespace

result<handle> create_unnamed_file() {
  const auto directory = spool::folder();
  handle file(::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (file.is_open()) return file;
  // Not every file system supports O_TMPFILE. Here the file has a name for a moment.
  std::string name = directory + "/hondana-XXXXXX";
  file = handle(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.is_open()) return storage_failure("creating a temporary file", errno);
  if (::unlink(name.c_str()) != 0) return storage_failure("unlinking a temporary file", errno);
  return file;
}

std::string spool::folder() {
  const char* configured = std::getenv("TMPDIR");  // read before there are threads that could change it
  std::string parent = configured == nullptr || *configured != '/' ? "/tmp" : configured;
  const auto private_folder = parent + "/hondana-" + std::to_string(::geteuid());
  ::mkdir(private_folder.c_str(), 0700);  // it may already exist; its owner is checked below
  struct stat attributes{};
  const bool is_private = ::lstat(private_folder.c_str(), &attributes) == 0 && S_ISDIR(attributes.st_mode) &&
                          attributes.st_uid == ::geteuid() && (attributes.st_mode & 0077) == 0;
  return is_private ? private_folder : parent;
}

result<void> spool::append(std::string_view bytes) {
  size_ += bytes.size();
  memory_ += bytes;
  if (!file_.is_open() && memory_.size() <= max_memory_bytes) return {};
  if (file_.is_open() && memory_.size() < chunk_bytes) return {};
  return flush();
}

result<void> spool::flush() {
  if (!file_.is_open()) {
    HONDANA_TRY(auto file, create_unnamed_file());
    file_ = std::move(file);
  }
  for (std::string_view remaining = memory_; !remaining.empty();) {
    const auto count = ::pwrite(file_.get(), remaining.data(), remaining.size(), static_cast<off_t>(written_));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return storage_failure("writing a temporary file", count < 0 ? errno : ENOSPC);
    written_ += static_cast<std::uint64_t>(count);
    remaining.remove_prefix(static_cast<std::size_t>(count));
  }
  memory_.clear();
  return {};
}

result<std::variant<shared_bytes, std::shared_ptr<byte_reader>>> spool::finish() {
  using data = std::variant<shared_bytes, std::shared_ptr<byte_reader>>;
  if (!file_.is_open()) return data(std::make_shared<const std::string>(std::move(memory_)));
  HONDANA_TRY(flush());
  return data(std::shared_ptr<byte_reader>(std::make_shared<spooled_reader>(std::move(file_), size_)));
}

}  // namespace hondana::disk
