/// Walking and opening, one name at a time, each without following a link.
#include "sources/skills/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "os/disk/folder_stream.hpp"
#include "os/disk/in_place.hpp"
#include "os/disk/read_at.hpp"
#include "protocol/model/still_wanted.hpp"

namespace hondana::skills {
namespace {

constexpr std::size_t deepest = 32;
constexpr std::size_t most_files = 100'000;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// Not to wait for a writer, should the name be a pipe's by now.
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string words_of(int error) { return std::error_code(error, std::generic_category()).message(); }

tl::unexpected<failure> refused(int error, std::string_view path) {
  const auto why = std::string(path) + ": " + words_of(error);
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
    case ENAMETOOLONG:
      return fail(errc::resource_not_found, "The file does not exist.", why);
    case EACCES:
    case EPERM:
      return fail(errc::access_denied, "The operating system does not allow this server to read the file.", words_of(error));
    default:
      return fail(errc::source_unavailable, "The disk or network behind the skills fails. Retry later.", why);
  }
}

/// A place only, so that a source that the sandbox would not let read can still be made, and be asked what it needs.
disk::handle open_root(const std::string& path) {
  disk::handle at(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.is_open() && ::faccessat(at.get(), ".", R_OK | X_OK, AT_EACCESS) != 0) return {};
  return at;
}

/// One walk on its way.
class walker {
 public:
  walker(const call& by, const std::function<void(const std::string&, int)>& entering, const disk::own_files& own)
      : by_(by), entering_(entering), own_(own) {}

  /// Goes through a folder, which it takes over. `prefix` is its path with a slash; empty for the root.
  result<void> enter(disk::handle folder, const std::string& prefix, std::size_t depth) {
    const auto names = disk::stream_of(std::move(folder));
    if (!names) return refused(errno, prefix);
    const int at = ::dirfd(names.get());
    if (entering_) entering_(prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1)), at);
    for (;;) {
      HONDANA_TRY(still_wanted(by_));
      errno = 0;
      const auto* one = ::readdir(names.get());
      if (one == nullptr && errno != 0) return refused(errno, prefix);
      if (one == nullptr || is_full_) {
        struct stat facts{};
        if (::fstat(at, &facts) == 0) found_.changed = std::max(found_.changed, disk::stamp_of(facts).changed);
        return {};
      }
      if (one->d_name[0] == '.') continue;
      HONDANA_TRY(look(at, prefix, one->d_name, depth));
    }
  }

  [[nodiscard]] walked take() && { return std::move(found_); }

 private:
  result<void> look(int at, const std::string& prefix, const char* name, std::size_t depth) {
    auto path = prefix + name;
    struct stat facts{};
    if (::fstatat(at, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return {};  // it has just gone
      if (errno == EACCES || errno == EPERM) return leave_out(std::move(path), "it cannot be accessed: " + words_of(errno));
      return refused(errno, path);
    }
    if (!S_ISDIR(facts.st_mode) && found_.files.size() + found_.left_out.size() >= most_files) {
      is_full_ = true;
      return leave_out(std::move(path),
                       "this file and those after it are beyond the first " + std::to_string(most_files) + " files");
    }
    if (S_ISREG(facts.st_mode)) {
      if (own_.has_name(path) || own_.is_one(facts)) return leave_out(std::move(path), std::string(disk::own_files::reason));
      found_.files.push_back({std::move(path), disk::stamp_of(facts)});
      return {};
    }
    if (S_ISLNK(facts.st_mode)) return leave_out(std::move(path), "symbolic links are not followed");
    if (!S_ISDIR(facts.st_mode)) return leave_out(std::move(path), "it is neither a file nor a folder");
    if (depth == deepest) return leave_out(std::move(path), "it is nested deeper than " + std::to_string(deepest) + " folders");
    disk::handle inner(::openat(at, name, folder_flags));
    if (inner.is_open()) return enter(std::move(inner), path + '/', depth + 1);
    if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP) return {};  // it has just been replaced
    if (errno == EACCES || errno == EPERM) return leave_out(std::move(path), "it cannot be opened: " + words_of(errno));
    return refused(errno, path);
  }

  result<void> leave_out(std::string path, std::string why) {
    found_.left_out.push_back({std::move(path), std::move(why), false});
    return {};
  }

  const call& by_;
  const std::function<void(const std::string&, int)>& entering_;
  const disk::own_files& own_;
  walked found_;
  bool is_full_ = false;
};

}  // namespace

folder::folder(std::string path, std::vector<std::string> kept_back, disk::handle root)
    : path_(std::move(path)), kept_back_(std::move(kept_back)), top_(std::make_unique<top>()) {
  top_->now = hold(std::move(root));
}

std::shared_ptr<const folder::place> folder::hold(disk::handle root) const {
  std::error_code problem;
  const auto real = std::filesystem::canonical(path_, problem);
  return std::make_shared<const place>(place{std::move(root), {kept_back_, problem ? path_ : real.string()}});
}

result<folder> folder::open(const std::string& path, std::vector<std::string> kept_back) {
  auto root = open_root(path);
  if (root.is_open()) return folder(path, std::move(kept_back), std::move(root));
  return fail(errc::source_unavailable, "The folder of skills \"" + path + "\" cannot be opened: " + words_of(errno) +
                                            ". Check its path and permissions.");
}

result<std::shared_ptr<const folder::place>> folder::root() const {
  const std::lock_guard lock(top_->mutex);
  if (disk::is_in_place(top_->now->at.get(), path_)) return top_->now;
  auto again = open_root(path_);
  if (!again.is_open()) {
    return fail(errc::source_unavailable, "A folder of skills is gone. Retry when it exists again.",
                path_ + ": " + words_of(errno));
  }
  top_->now = hold(std::move(again));
  return top_->now;
}

result<walked> folder::walk(const call& by, const std::function<void(const std::string&, int)>& entering) const {
  HONDANA_TRY(const auto held, root());
  // A descriptor of its own, since its position is that of the walk.
  disk::handle again(::openat(held->at.get(), ".", folder_flags));
  if (!again.is_open()) {
    return fail(errc::source_unavailable, "A folder of skills cannot be read. Retry later.", path_ + ": " + words_of(errno));
  }
  walker one(by, entering, held->own);
  if (auto done = one.enter(std::move(again), {}, 1); !done) {
    auto why = std::move(done.error());
    // Whatever it is for a file, for the whole it is that the source does not work.
    if (why.code == errc::resource_not_found || why.code == errc::access_denied) why.code = errc::source_unavailable;
    return tl::unexpected(std::move(why));
  }
  return std::move(one).take();
}

result<disk::handle> folder::open_at(const place& in, std::string_view below, int flags) const {
  if (in.own.has_name(below)) return refused(ENOENT, below);
  disk::handle above;
  int at = in.at.get();
  for (std::string_view rest = below;;) {
    const auto slash = rest.find('/');
    const std::string name(rest.substr(0, slash));
    if (name.empty() || name == "." || name == "..") return refused(ENOENT, below);
    const bool is_last = slash == std::string_view::npos;
    disk::handle next(::openat(at, name.c_str(), is_last ? flags : folder_flags));
    if (!next.is_open()) return refused(errno == ENXIO ? ENOENT : errno, below);
    above = std::move(next);
    at = above.get();
    if (is_last) return above;
    rest.remove_prefix(slash + 1);
  }
}

result<opened_file> folder::open_file(std::string_view below) const {
  HONDANA_TRY(const auto held, root());
  HONDANA_TRY(auto file, open_at(*held, below, file_flags));
  struct stat facts{};
  if (::fstat(file.get(), &facts) != 0) return refused(errno, below);
  if (!S_ISREG(facts.st_mode) || held->own.is_one(facts)) return refused(ENOENT, below);
  return opened_file{std::move(file), disk::stamp_of(facts)};
}

bool folder::may_hold(std::string_view below) const {
  const auto held = root();
  if (!held) return held.error().code != errc::resource_not_found;
  const auto found = open_at(**held, below, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  return found || found.error().code != errc::resource_not_found;
}

result<std::size_t> read_at(int file, std::span<char> into, std::uint64_t offset) {
  const auto count = disk::read_at(file, into.data(), into.size(), offset);
  if (!count) return refused(count.error(), "reading");
  return *count;
}

}  // namespace hondana::skills
