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
constexpr std::size_t piece = 256u << 10;

tl::unexpected<failure> no_room(const char* what, int error) {
  return fail(errc::source_unavailable, "No space to buffer the content while it is sent. Retry later.",
              std::string(what) + ": " + std::strerror(error));
}

class spooled final : public byte_reader {
 public:
  spooled(handle file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    const auto wanted = std::min<std::uint64_t>(into.size(), size_ - done_);
    const auto got = read_at(file_.get(), into.data(), static_cast<std::size_t>(wanted), done_);
    if (!got || *got < wanted) return no_room("reading a temporary file", got ? EIO : got.error());
    done_ += *got;
    return *got;
  }
  [[nodiscard]] result<void> rewind() override {
    done_ = 0;
    return {};
  }

 private:
  const handle file_;
  const std::uint64_t size_;
  std::uint64_t done_ = 0;
};

}  // namespace

result<handle> nameless_file() {
  const auto where = spool::folder();
  handle made(::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (made.is_open()) return made;
  // Not every file system supports O_TMPFILE. Here the file has a name for a moment.
  std::string name = where + "/hondana-XXXXXX";
  made = handle(::mkostemp(name.data(), O_CLOEXEC));
  if (!made.is_open()) return no_room("creating a temporary file", errno);
  if (::unlink(name.c_str()) != 0) return no_room("unlinking a temporary file", errno);
  return made;
}

std::string spool::folder() {
  const char* named = std::getenv("TMPDIR");  // read before there are threads that could change it
  std::string around = named == nullptr || *named != '/' ? "/tmp" : named;
  const auto own = around + "/hondana-" + std::to_string(::geteuid());
  ::mkdir(own.c_str(), 0700);  // it may already exist; its owner is checked below
  struct stat facts{};
  const bool is_ours =
      ::lstat(own.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) && facts.st_uid == ::geteuid() && (facts.st_mode & 0077) == 0;
  return is_ours ? own : around;
}

result<void> spool::append(std::string_view bytes) {
  size_ += bytes.size();
  memory_ += bytes;
  if (!file_.is_open() && memory_.size() <= most_in_memory) return {};
  if (file_.is_open() && memory_.size() < piece) return {};
  return flush();
}

result<void> spool::flush() {
  if (!file_.is_open()) {
    HONDANA_TRY(auto made, nameless_file());
    file_ = std::move(made);
  }
  for (std::string_view rest = memory_; !rest.empty();) {
    const auto put = ::pwrite(file_.get(), rest.data(), rest.size(), static_cast<off_t>(written_));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return no_room("writing a temporary file", put < 0 ? errno : ENOSPC);
    written_ += static_cast<std::uint64_t>(put);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  memory_.clear();
  return {};
}

result<std::variant<shared_bytes, std::shared_ptr<byte_reader>>> spool::take() {
  using data = std::variant<shared_bytes, std::shared_ptr<byte_reader>>;
  if (!file_.is_open()) return data(std::make_shared<const std::string>(std::move(memory_)));
  HONDANA_TRY(flush());
  return data(std::shared_ptr<byte_reader>(std::make_shared<spooled>(std::move(file_), size_)));
}

}  // namespace hondana::disk
