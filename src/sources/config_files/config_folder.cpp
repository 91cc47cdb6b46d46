/// A confined folder of configuration files, which no link may leave.
#include "sources/config_files/config_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/config_files/file_rules.hpp"

namespace hondana::config_files {

/// Resolves the links in a path to a path without links. The error is an errno: EXDEV for a link that is absolute or leaves the
/// folder at any step; ELOOP for too many links. Links may change afterwards, so the result must be opened without following
/// links.
[[nodiscard]] tl::expected<std::string, int> without_links(int folder, const std::string& below);

namespace {

constexpr std::size_t most_links = 16;
constexpr std::size_t most_names = 256;

/// Prepends the names of a path to the stack of names that are still to be resolved. The last element is the next name.
bool put_before(std::vector<std::string>& rest, std::string_view path) {
  std::vector<std::string_view> names;
  while (!path.empty()) {
    const auto slash = path.find('/');
    if (const auto name = path.substr(0, slash); !name.empty() && name != ".") names.push_back(name);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  }
  for (auto name = names.rbegin(); name != names.rend(); ++name) rest.emplace_back(*name);
  return rest.size() <= most_names;
}

}  // namespace

tl::expected<std::string, int> without_links(int folder, const std::string& below) {
  std::vector<std::string> rest;
  if (!put_before(rest, below)) return tl::unexpected(ENAMETOOLONG);
  std::string done;
  std::size_t links = 0;
  while (!rest.empty()) {
    const auto name = std::move(rest.back());
    rest.pop_back();
    if (name == "..") {
      if (done.empty()) return tl::unexpected(EXDEV);
      const auto slash = done.rfind('/');
      done.resize(slash == std::string::npos ? 0 : slash);
      continue;
    }
    auto next = done.empty() ? name : done + '/' + name;
    const auto at = disk::open_without_links(folder, next, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat facts{};
    if (!at.is_open() || ::fstat(at.get(), &facts) != 0) return tl::unexpected(errno);
    if (!S_ISLNK(facts.st_mode)) {
      done = std::move(next);
      continue;
    }
    if (++links > most_links) return tl::unexpected(ELOOP);
    std::array<char, PATH_MAX> target{};
    const auto length = ::readlinkat(at.get(), "", target.data(), target.size());
    if (length < 0) return tl::unexpected(errno);
    const std::string_view leads(target.data(), static_cast<std::size_t>(length));
    if (leads.starts_with('/')) return tl::unexpected(EXDEV);
    if (!put_before(rest, leads)) return tl::unexpected(ENAMETOOLONG);
  }
  return done;
}

namespace {

constexpr std::size_t deepest = 32;
constexpr std::size_t most_looked_at = 100'000;
constexpr int most_tries = 4;
constexpr int folder_flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
// O_NONBLOCK: the name may meanwhile be a pipe's, and opening must not wait for a writer.
constexpr int file_flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::string words_of(int error) { return std::error_code(error, std::generic_category()).message(); }

/// Opens the folder as a path only (O_PATH). So a source that the sandbox would not let read can still be created, to report
/// what it needs.
disk::handle open_root(const std::string& path) {
  disk::handle at(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.is_open() && ::faccessat(at.get(), ".", R_OK | X_OK, AT_EACCESS) != 0) return {};
  return at;
}

bool is_plain(std::string_view below) {
  if (below.empty() || below.find('\0') != std::string_view::npos) return false;
  for (;;) {
    const auto slash = below.find('/');
    const auto name = below.substr(0, slash);
    if (name.empty() || name == "." || name == "..") return false;
    if (slash == std::string_view::npos) return true;
    below.remove_prefix(slash + 1);
  }
}

/// Calls `entering` with the folder that a path is in.
void tell_of_folder(int root, const std::string& path, const entering_folder& entering) {
  if (!entering) return;
  const std::string above(folder_of(path));
  const auto folder = disk::open_without_links(root, above.empty() ? "." : above, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (folder.is_open()) entering(above, folder.get());
}

/// Whether a folder in the path is a link, or no longer exists.
bool is_below_link(int root, const std::string& below) {
  const std::string above(folder_of(below));
  return !above.empty() && !disk::open_without_links(root, above, O_PATH | O_DIRECTORY | O_CLOEXEC).is_open();
}

/// The state of a walk.
struct walking {
  const call& by;
  const entering_folder& entering;
  const std::function<bool(ground::found)>& take;
  const std::function<void(std::string, std::string)>& refused;
  const disk::own_files& own;
  std::int64_t changed = 0;
  std::size_t looked_at = 0;

  result<void> enter(disk::handle folder, const std::string& prefix, std::size_t depth) {
    const auto names = disk::stream_of(std::move(folder));
    if (!names) return refused_by_system(errno, prefix);
    const int at = ::dirfd(names.get());
    if (entering) entering(prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1)), at);
    for (;;) {
      HONDANA_TRY(still_wanted(by));
      errno = 0;
      const auto* one = ::readdir(names.get());
      if (one == nullptr && errno != 0) return refused_by_system(errno, prefix);
      if (one == nullptr || looked_at > most_looked_at) break;
      const std::string_view name(one->d_name);
      if (name == "." || name == "..") continue;
      HONDANA_TRY(look(at, prefix, one->d_name, depth));
    }
    struct stat facts{};
    if (::fstat(at, &facts) == 0) changed = std::max(changed, disk::stamp_of(facts).changed);
    return {};
  }

  result<void> look(int at, const std::string& prefix, const char* name, std::size_t depth) {
    ground::found one{prefix + name};
    if (++looked_at > most_looked_at) {
      refused(one.path, "this entry and those after it are beyond the first " + std::to_string(most_looked_at) + " names");
      return {};
    }
    struct stat facts{};
    if (::fstatat(at, name, &facts, AT_SYMLINK_NOFOLLOW) != 0) {
      return left_out(one.path, "it cannot be accessed: ");
    }
    one.is_folder = S_ISDIR(facts.st_mode);
    one.is_link = S_ISLNK(facts.st_mode);
    one.is_file = S_ISREG(facts.st_mode);
    one.state = disk::stamp_of(facts);
    if (own.has_name(one.path) || own.is_one(facts)) {
      refused(std::move(one.path), std::string(disk::own_files::reason));
      return {};
    }
    auto path = one.path;
    const bool is_folder = one.is_folder;
    if (!take(std::move(one)) || !is_folder) return {};
    if (depth == deepest) {
      refused(std::move(path), "it is nested deeper than " + std::to_string(deepest) + " folders");
      return {};
    }
    disk::handle inner(::openat(at, name, folder_flags));
    if (inner.is_open()) return enter(std::move(inner), path + '/', depth + 1);
    if (errno == ENOTDIR || errno == ELOOP) return {};  // it was just replaced
    return left_out(std::move(path), "it cannot be opened: ");
  }

  /// Handles a failed system call. Missing permission leaves the entry out; temporary errors end the walk.
  result<void> left_out(std::string path, const char* why) {
    const int error = errno;
    if (error == ENOENT) return {};  // it was just removed
    if (error != EACCES && error != EPERM) return refused_by_system(error, path);
    refused(std::move(path), why + words_of(error));
    return {};
  }
};

}  // namespace

tl::unexpected<failure> refused_by_system(int error, std::string_view name) {
  const std::string what = name.empty() ? std::string("A configuration folder") : '"' + std::string(name) + '"';
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ENXIO:
      return fail(errc::resource_not_found, what + " does not exist in this set.", words_of(error));
    case ELOOP:
    case EXDEV:
      return fail(errc::resource_not_found,
                  what + " is a link that is broken or leads out of its folder. Name its target in the set's paths.",
                  words_of(error));
    case EACCES:
    case EPERM:
      return fail(errc::access_denied, what + " cannot be read: the operating system denied access. Check its permissions.",
                  words_of(error));
    default:
      return fail(errc::source_unavailable, what + " cannot be read: the disk or network behind it fails. Retry later.",
                  words_of(error));
  }
}

ground::ground(std::string path, std::vector<std::string> kept_back, disk::handle root)
    : path_(std::move(path)), kept_back_(std::move(kept_back)) {
  now_ = hold(std::move(root));
}

std::shared_ptr<const ground::place> ground::hold(disk::handle root) const {
  std::error_code problem;
  const auto real = std::filesystem::canonical(path_, problem);
  return std::make_shared<const place>(place{std::move(root), {kept_back_, problem ? path_ : real.string()}});
}

result<std::shared_ptr<const ground>> ground::open(const std::string& path, std::vector<std::string> kept_back) {
  auto root = open_root(path);
  if (root.is_open()) return std::shared_ptr<const ground>(new ground(path, std::move(kept_back), std::move(root)));
  return fail(errc::source_unavailable, "The configuration folder \"" + path + "\" cannot be opened: " + words_of(errno) +
                                            ". Check its path and permissions.");
}

result<std::shared_ptr<const ground::place>> ground::held() const {
  const std::lock_guard lock(mutex_);
  if (disk::is_in_place(now_->at.get(), path_)) return now_;
  auto again = open_root(path_);
  if (!again.is_open()) {
    return fail(errc::source_unavailable,
                "A folder of this configuration set is gone or not accessible. Retry when it is available.",
                path_ + ": " + words_of(errno));
  }
  now_ = hold(std::move(again));
  return now_;
}

result<opened_file> ground::open_file(const std::string& below, const entering_folder& entering) const {
  if (!is_plain(below)) return refused_by_system(ENOENT, below);
  HONDANA_TRY(const auto in, held());
  const int root = in->at.get();
  opened_file made{{}, {}, below, false};
  tell_of_folder(root, below, entering);
  for (int tries = 0;; ++tries) {
    made.file = disk::open_without_links(root, made.real, file_flags);
    if (made.file.is_open()) break;
    if ((errno != ELOOP && errno != ENOTDIR) || tries == most_tries) return refused_by_system(errno, below);
    auto leads = without_links(root, below);
    if (!leads) return refused_by_system(leads.error(), below);
    made.real = std::move(*leads);
    if (made.real.empty()) return refused_by_system(EXDEV, below);
    tell_of_folder(root, made.real, entering);
  }
  struct stat facts{};
  if (::fstat(made.file.get(), &facts) != 0) return refused_by_system(errno, below);
  if (!S_ISREG(facts.st_mode) || in->own.has_name(below) || in->own.has_name(made.real) || in->own.is_one(facts)) {
    return refused_by_system(ENOENT, below);
  }
  made.state = disk::stamp_of(facts);
  made.is_below_link = made.real != below && is_below_link(root, below);
  return made;
}

result<std::int64_t> ground::enter(const entering_folder& entering) const {
  HONDANA_TRY(const auto in, held());
  if (entering) entering({}, in->at.get());
  struct stat facts{};
  if (::fstat(in->at.get(), &facts) != 0) return refused_by_system(errno, {});
  return disk::stamp_of(facts).changed;
}

result<std::int64_t> ground::walk(const call& by, const entering_folder& entering, const std::function<bool(found)>& take,
                                  const std::function<void(std::string, std::string)>& refused) const {
  HONDANA_TRY(const auto in, held());
  // A separate descriptor, since the walk changes its position.
  disk::handle again(::openat(in->at.get(), ".", folder_flags));
  if (!again.is_open()) {
    return fail(errc::source_unavailable, "A folder of this configuration set cannot be read. Retry later.",
                path_ + ": " + words_of(errno));
  }
  walking one{by, entering, take, refused, in->own};
  if (auto done = one.enter(std::move(again), {}, 1); !done) {
    auto why = std::move(done.error());
    // An error for one file is an error of the whole source here.
    if (why.code == errc::resource_not_found || why.code == errc::access_denied) why.code = errc::source_unavailable;
    return tl::unexpected(std::move(why));
  }
  return one.changed;
}

namespace {

constexpr int most_attempts = 3;

/// Reads the current content and state. False if the file changed in between.
result<bool> read_once(const opened_file& from, std::string_view name, file_text& into) {
  struct stat before{};
  struct stat after{};
  if (::fstat(from.file.get(), &before) != 0) return refused_by_system(errno, name);
  into.state = disk::stamp_of(before);
  if (into.state.size > most_file_bytes) {
    return fail(errc::response_too_large,
                '"' + std::string(name) +
                    "\" is larger than 8 MiB, the limit for configuration files. Serve it with a source of type files.");
  }
  into.bytes.assign(into.state.size, '\0');
  const auto count = disk::read_at(from.file.get(), into.bytes.data(), into.bytes.size(), 0);
  if (!count) return refused_by_system(count.error(), name);
  if (::fstat(from.file.get(), &after) != 0) return refused_by_system(errno, name);
  return *count == into.bytes.size() && disk::stamp_of(after) == into.state;
}

}  // namespace

result<file_text> read_text(const opened_file& from, std::string_view name) {
  file_text read;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const auto begun = disk::wall_clock();
    HONDANA_TRY(const auto whole, read_once(from, name, read));
    if (!whole) continue;
    // Compare with the time before the read: the thread may be delayed after it for longer than a clock tick.
    read.is_racy = is_racy(read.state, begun);
    if (!read.is_racy) return read;
    file_text again;
    HONDANA_TRY(const auto same, read_once(from, name, again));
    if (same && again.bytes == read.bytes) return read;
  }
  return fail(errc::content_changed, '"' + std::string(name) + "\" changed while it was being read. Read it again.");
}

}  // namespace hondana::config_files
