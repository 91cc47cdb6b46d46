/// Writing contents away and reading them again.
#include "providers/mcp/spool.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <span>
#include <utility>

namespace hondana::mcp {
namespace {

// What is written to the file at a time.
constexpr std::size_t piece = 256u << 10;

tl::unexpected<failure> no_room(const char* what) {
  return fail(errc::source_unavailable, "There is no room to keep what is read while it is sent. Ask again later.",
              std::string(what) + ": " + std::strerror(errno));
}

class spooled final : public byte_reader {
 public:
  spooled(std::shared_ptr<const nameless_file> file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::span<char> into) override {
    const auto wanted = std::min<std::uint64_t>(into.size(), size_ - done_);
    if (wanted == 0) return std::size_t{0};
    for (;;) {
      const auto got = ::pread(file_->descriptor(), into.data(), static_cast<std::size_t>(wanted), static_cast<off_t>(done_));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return no_room("reading a nameless file");
      done_ += static_cast<std::uint64_t>(got);
      return static_cast<std::size_t>(got);
    }
  }
  [[nodiscard]] result<void> rewind() override {
    done_ = 0;
    return {};
  }

 private:
  const std::shared_ptr<const nameless_file> file_;
  const std::uint64_t size_;
  std::uint64_t done_ = 0;
};

}  // namespace

std::string nameless_file::folder() {
  const char* named = std::getenv("TMPDIR");  // read before threads that would change it exist
  return named == nullptr || *named != '/' ? "/tmp" : named;
}

result<std::shared_ptr<nameless_file>> nameless_file::make() {
  const auto where = folder();
  auto descriptor = ::open(where.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor < 0) {
    // Not every file system has them; this one has a name for a moment.
    std::string name = where + "/hondana-XXXXXX";
    descriptor = ::mkostemp(name.data(), O_CLOEXEC);
    if (descriptor < 0) return no_room("making a nameless file");
    if (::unlink(name.c_str()) != 0) {
      ::close(descriptor);
      return no_room("unlinking a nameless file");
    }
  }
  return std::make_shared<nameless_file>(descriptor);
}

nameless_file::~nameless_file() { ::close(descriptor_); }

result<void> spool::append(std::string_view bytes) {
  size_ += bytes.size();
  memory_ += bytes;
  if (!file_ && memory_.size() <= most_in_memory) return {};
  if (file_ && memory_.size() < piece) return {};
  return flush();
}

result<void> spool::flush() {
  if (!file_) {
    auto made = nameless_file::make();
    if (!made) return tl::unexpected(std::move(made.error()));
    file_ = std::move(*made);
  }
  for (std::string_view rest = memory_; !rest.empty();) {
    const auto put = ::pwrite(file_->descriptor(), rest.data(), rest.size(), static_cast<off_t>(written_));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return no_room("writing a nameless file");
    written_ += static_cast<std::uint64_t>(put);
    rest.remove_prefix(static_cast<std::size_t>(put));
  }
  memory_.clear();
  return {};
}

result<std::variant<shared_bytes, std::shared_ptr<byte_reader>>> spool::take() {
  using data = std::variant<shared_bytes, std::shared_ptr<byte_reader>>;
  if (!file_) return data(std::make_shared<const std::string>(std::move(memory_)));
  if (auto done = flush(); !done) return tl::unexpected(std::move(done.error()));
  return data(std::shared_ptr<byte_reader>(std::make_shared<spooled>(std::move(file_), size_)));
}

}  // namespace hondana::mcp
