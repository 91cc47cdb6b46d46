/// Inflates loose objects into buffers of the size that they say, and not a byte more.
#include "sources/git/loose_objects.hpp"

#include <fcntl.h>
#include <git2/odb_backend.h>
#include <git2/sys/odb_backend.h>
#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "os/disk/handle.hpp"
#include "os/disk/read_at.hpp"
#include "sources/git/library.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t largest_loose = std::size_t{512} << 20;
constexpr std::size_t read_at_once = std::size_t{32} << 10;
// Of `commit 18446744073709551615` and its NUL, and more than git takes.
constexpr std::size_t longest_header = 32;

int is_broken(const char* why) {
  git_error_set_str(GIT_ERROR_ODB, why);
  return GIT_ERROR;
}

/// A compressed file, from its front to its end.
class inflated_file {
 public:
  explicit inflated_file(disk::handle file) noexcept : file_(std::move(file)) { is_ready_ = ::inflateInit(&stream_) == Z_OK; }
  ~inflated_file() {
    if (is_ready_) ::inflateEnd(&stream_);
  }
  inflated_file(const inflated_file&) = delete;
  inflated_file& operator=(const inflated_file&) = delete;

  /// Fills `to`, or as much of it as there is. Nothing: the file is damaged.
  std::optional<std::size_t> read(std::span<char> to) {
    std::size_t done = 0;
    while (is_ready_ && done < to.size() && !is_over_) {
      if (stream_.avail_in == 0 && !refill()) return std::nullopt;
      const auto room = std::min(to.size() - done, read_at_once);
      stream_.next_out = reinterpret_cast<Bytef*>(to.data() + done);
      stream_.avail_out = static_cast<uInt>(room);
      const int code = ::inflate(&stream_, Z_NO_FLUSH);
      done += room - stream_.avail_out;
      if (code != Z_OK && code != Z_STREAM_END) return std::nullopt;
      is_over_ = code == Z_STREAM_END;
    }
    return is_ready_ ? std::optional(done) : std::nullopt;
  }

  /// Whether all has been read, and nothing stands behind it.
  [[nodiscard]] bool has_ended() { return is_over_ && stream_.avail_in == 0 && !refill(); }

 private:
  /// False at the end of the file, and where it cannot be read.
  bool refill() {
    const auto count = disk::read_at(file_.get(), reinterpret_cast<char*>(in_.data()), in_.size(), offset_);
    if (!count || *count == 0) return false;
    offset_ += *count;
    stream_.next_in = in_.data();
    stream_.avail_in = static_cast<uInt>(*count);
    return true;
  }

  disk::handle file_;
  std::uint64_t offset_ = 0;
  z_stream stream_{};
  bool is_ready_ = false, is_over_ = false;
  std::array<Bytef, read_at_once> in_;
};

struct loose_header {
  git_object_t kind = GIT_OBJECT_INVALID;
  std::size_t size = 0;
  std::size_t length = 0;  ///< Of the header itself.
};

std::optional<loose_header> header_of(std::string_view front) {
  const auto end = front.find('\0');
  const auto space = front.find(' ');
  if (end == std::string_view::npos || space > end) return std::nullopt;
  loose_header header;
  for (const auto kind : {GIT_OBJECT_COMMIT, GIT_OBJECT_TREE, GIT_OBJECT_BLOB, GIT_OBJECT_TAG})
    if (front.substr(0, space) == git_object_type2string(kind)) header.kind = kind;
  const auto digits = front.substr(space + 1, end - space - 1);
  const auto [last, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), header.size);
  if (problem != std::errc() || last != digits.data() + digits.size()) return std::nullopt;
  header.length = end + 1;
  return header.kind == GIT_OBJECT_INVALID ? std::nullopt : std::optional(header);
}

struct loose_backend : git_odb_backend {
  git_odb_backend* theirs = nullptr;
  std::string folder;
};

loose_backend* ours(git_odb_backend* of) noexcept { return static_cast<loose_backend*>(of); }

/// FIFOs are not waited for. A code of libgit2.
int open_loose(disk::handle& file, git_odb_backend* from, const git_oid* id) {
  const auto digits = text_of(*id);
  const auto path = ours(from)->folder + '/' + digits.substr(0, 2) + '/' + digits.substr(2);
  file = disk::handle(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (file.get() < 0) {
    if (errno != ENOENT && errno != ENOTDIR) return is_broken(std::strerror(errno));
    git_error_set_str(GIT_ERROR_ODB, "no such loose object");
    return GIT_ENOTFOUND;
  }
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return is_broken("a loose object is not a regular file");
  return 0;
}

int read_loose_header(std::size_t* size, git_object_t* kind, git_odb_backend* from, const git_oid* id) {
  disk::handle file;
  if (const int code = open_loose(file, from, id); code < 0) return code;
  const auto unpacked = std::make_unique<inflated_file>(std::move(file));
  std::array<char, longest_header> front{};
  const auto begun = unpacked->read(front);
  const auto header = begun ? header_of({front.data(), *begun}) : std::nullopt;
  if (!header) return is_broken("a loose object has an invalid header");
  *size = header->size;
  *kind = header->kind;
  return 0;
}

int read_loose(void** bytes, std::size_t* size, git_object_t* kind, git_odb_backend* from, const git_oid* id) {
  disk::handle file;
  if (const int code = open_loose(file, from, id); code < 0) return code;
  const auto unpacked = std::make_unique<inflated_file>(std::move(file));
  std::array<char, longest_header> front{};
  const auto begun = unpacked->read(front);
  const auto header = begun ? header_of({front.data(), *begun}) : std::nullopt;
  if (!header) return is_broken("a loose object has an invalid header");
  if (header->size > largest_loose) return is_broken("a loose object is larger than 512 MiB");
  const auto taken = *begun - header->length;
  if (taken > header->size) return is_broken("a loose object is longer than its header says");

  const auto release = [from](void* of) { git_odb_backend_data_free(from, of); };
  // libgit2 wants a NUL behind every object.
  const auto room = header->size + 1;
  std::unique_ptr<void, decltype(release)> buffer(git_odb_backend_data_alloc(from, room), release);
  if (!buffer) return GIT_ERROR;
  const std::span<char> all(static_cast<char*>(buffer.get()), room);
  std::copy_n(front.data() + header->length, taken, all.data());
  const auto rest = unpacked->read(all.subspan(taken));
  if (!rest || taken + *rest != header->size || !unpacked->has_ended())
    return is_broken("a loose object is damaged, or not as long as its header says");
  all.back() = '\0';
  *bytes = buffer.release();
  *size = header->size;
  *kind = header->kind;
  return 0;
}

int read_loose_prefix(git_oid* found, void** bytes, std::size_t* size, git_object_t* kind, git_odb_backend* from,
                      const git_oid* front, std::size_t digits) {
  if (const int code = from->exists_prefix(found, from, front, digits); code < 0) return code;
  return read_loose(bytes, size, kind, from, found);
}

void free_loose(git_odb_backend* of) {
  const std::unique_ptr<loose_backend> owner(ours(of));
  if (owner->theirs != nullptr) owner->theirs->free(owner->theirs);
}

}  // namespace

int loose_objects(git_odb_backend** out, const std::string& folder) {
  auto made = std::make_unique<loose_backend>();
  if (const int code = git_odb_init_backend(made.get(), GIT_ODB_BACKEND_VERSION); code < 0) return code;
  if (const int code = git_odb_backend_loose(&made->theirs, folder.c_str(), -1, 0, 0, 0); code < 0) return code;
  made->folder = folder;
  made->read = read_loose;
  made->read_prefix = read_loose_prefix;
  made->free = free_loose;
  made->read_header = read_loose_header;
  made->exists = [](git_odb_backend* from, const git_oid* id) {
    auto* const theirs = ours(from)->theirs;
    return theirs->exists(theirs, id);
  };
  made->exists_prefix = [](git_oid* found, git_odb_backend* from, const git_oid* front, std::size_t digits) {
    auto* const theirs = ours(from)->theirs;
    return theirs->exists_prefix(found, theirs, front, digits);
  };
  made->foreach = [](git_odb_backend* from, git_odb_foreach_cb visit, void* with) {
    auto* const theirs = ours(from)->theirs;
    return theirs->foreach (theirs, visit, with);
  };
  *out = made.release();
  return 0;
}

}  // namespace hondana::git
