/// A folder that is opened once. Files below it are found and opened in a way that never leaves it.
#include "sources/files/confined_dir.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "os/disk/descriptor_limit.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"

namespace hondana::files {
namespace {

constexpr int handle_only = O_PATH | O_NOFOLLOW | O_CLOEXEC;
// O_NONBLOCK: opening a file that has just become a FIFO must not wait for a writer. O_NOCTTY: a terminal must not become our
// controlling terminal.
constexpr int for_reading = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

constexpr std::uint64_t without_links = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;

/// Whether the kernel has `openat2`. It is tried, because containers may answer EPERM for system calls that they do not know.
bool kernel_can(int folder) noexcept {
  const disk::handle probe(disk::open_resolved(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC, without_links));
  return probe.is_open();
}

bool is_same(const struct stat& a, const struct stat& b) noexcept { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

}  // namespace

bool is_plain_path(std::string_view path) noexcept {
  if (path.empty()) return true;
  if (path.find('\0') != std::string_view::npos) return false;
  for (std::size_t begin = 0;;) {
    const auto end = std::min(path.find('/', begin), path.size());
    const auto name = path.substr(begin, end - begin);
    if (name.empty() || name == "." || name == "..") return false;
    if (end == path.size()) return true;
    begin = end + 1;
  }
}

not_found obstacle_of(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
    case ENAMETOOLONG:
    case EILSEQ:
      return {obstacle::missing, error};
    case EXDEV:
      return {obstacle::outside, error};
    case ELOOP:
      return {obstacle::loop, error};
    case EACCES:
    case EPERM:
      return {obstacle::forbidden, error};
    default:
      return {obstacle::trouble, error};
  }
}

beneath::beneath(disk::handle folder, std::vector<std::string> spellings, bool portable)
    : folder_(std::move(folder)), spellings_(std::move(spellings)), portable_(portable || !kernel_can(folder_.get())) {
  struct stat facts{};
  if (::fstat(folder_.get(), &facts) == 0) device_ = facts.st_dev;
}

bool beneath::is_kernel_data(int descriptor, const struct stat& facts) const noexcept {
  return facts.st_dev != device_ && disk::on_kernel_file_system(descriptor);
}

tl::expected<located, not_found> beneath::locate(std::string_view path) const {
  if (!is_plain_path(path)) return tl::unexpected(not_found{});
  if (portable_) return locate_by_steps(path);
  bool has_links = false;
  auto found = locate_by_kernel(path, has_links);
  if (has_links) return locate_by_steps(path);
  return found;
}

tl::expected<located, not_found> beneath::locate_by_kernel(std::string_view path, bool& has_links) const {
  located found;
  found.path = path;
  const int descriptor =
      disk::open_resolved(folder_.get(), path.empty() ? std::string(".") : found.path, handle_only, without_links);
  if (descriptor < 0) {
    has_links = errno == ELOOP;
    return tl::unexpected(obstacle_of(errno));
  }
  found.at = disk::handle(descriptor);
  if (::fstat(descriptor, &found.facts) != 0) return tl::unexpected(obstacle_of(errno));
  has_links = S_ISLNK(found.facts.st_mode);
  if (is_kernel_data(descriptor, found.facts)) return tl::unexpected(not_found{obstacle::kernel_data, 0});
  return found;
}

tl::expected<disk::handle, not_found> beneath::open_file(const located& what) const {
  if (!S_ISREG(what.facts.st_mode)) return tl::unexpected(not_found{});
  int descriptor = -1;
  if (!portable_) {
    // Through the handle that is held, so that no other file can take this one's place.
    const std::string own = "/proc/self/fd/" + std::to_string(what.at.get());
    descriptor = ::open(own.c_str(), for_reading);
    // Without /proc, or if the process may not inspect itself, the file is opened by name.
    if (descriptor < 0 && errno != ENOENT && errno != EACCES) return tl::unexpected(obstacle_of(errno));
  }
  if (descriptor < 0) {
    const auto slash = what.path.rfind('/');
    const std::string name = what.path.substr(slash == std::string::npos ? 0 : slash + 1);
    HONDANA_TRY(auto holder, locate_by_steps(slash == std::string::npos ? std::string_view()
                                                                        : std::string_view(what.path).substr(0, slash)));
    struct stat now{};
    if (::fstatat(holder.at.get(), name.c_str(), &now, AT_SYMLINK_NOFOLLOW) != 0) return tl::unexpected(obstacle_of(errno));
    if (!S_ISREG(now.st_mode)) return tl::unexpected(not_found{});
    descriptor = ::openat(holder.at.get(), name.c_str(), for_reading | O_NOFOLLOW);
    if (descriptor < 0) return tl::unexpected(obstacle_of(errno));
  }
  disk::handle opened(descriptor);
  struct stat facts{};
  if (::fstat(opened.get(), &facts) != 0) return tl::unexpected(obstacle_of(errno));
  if (!S_ISREG(facts.st_mode) || !is_same(facts, what.facts)) return tl::unexpected(not_found{});
  return opened;
}

tl::expected<disk::handle, not_found> beneath::open_folder(const located& what) const {
  if (!S_ISDIR(what.facts.st_mode)) return tl::unexpected(not_found{obstacle::missing, ENOTDIR});
  const int descriptor = ::openat(what.at.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return tl::unexpected(obstacle_of(errno));
  return disk::handle(descriptor);
}

namespace {

constexpr int link_limit = 40;               // same as in the kernel
constexpr std::size_t pending_limit = 8192;  // unresolved segments, which links can multiply
constexpr std::size_t depth_limit = 256;     // each level holds a descriptor

/// Pushes the segments of `path` so that the first is popped first.
void push_segments(std::vector<std::string>& pending, std::string_view path) {
  while (!path.empty()) {
    const auto slash = path.rfind('/');
    const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
    if (!name.empty() && name != ".") pending.emplace_back(name);
    path = slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  }
}

/// One folder or file of the path that is being resolved.
struct step {
  disk::handle at;
  struct stat facts{};
  std::string name;
};

std::string path_of(const std::vector<step>& way, std::string_view last = {}) {
  std::string path;
  for (const auto& one : way) (path += path.empty() ? "" : "/") += one.name;
  if (!last.empty()) (path += path.empty() ? "" : "/") += last;
  return path;
}

tl::expected<std::string, not_found> target_of(int link) {
  std::array<char, PATH_MAX> text;
  const auto size = ::readlinkat(link, "", text.data(), text.size());
  if (size < 0) return tl::unexpected(obstacle_of(errno));
  if (size == 0 || static_cast<std::size_t>(size) == text.size()) return tl::unexpected(not_found{});
  return std::string(text.data(), static_cast<std::size_t>(size));
}

/// The rest of an absolute link target below the folder, if the target begins with one of `spellings`; null otherwise.
const char* below(const std::vector<std::string>& spellings, const std::string& target) {
  for (const auto& spelling : spellings) {
    if (spelling == "/") return target.c_str() + 1;
    if (target.compare(0, spelling.size(), spelling) != 0) continue;
    if (target.size() == spelling.size() || target[spelling.size()] == '/') return target.c_str() + spelling.size();
  }
  return nullptr;
}

}  // namespace

tl::expected<located, not_found> beneath::locate_by_steps(std::string_view path) const {
  if (path.size() >= PATH_MAX) return tl::unexpected(not_found{obstacle::missing, ENAMETOOLONG});
  located found;
  std::vector<step> way;
  std::vector<std::string> pending;
  push_segments(pending, path);
  while (!pending.empty()) {
    const std::string name = std::move(pending.back());
    pending.pop_back();
    if (!way.empty() && !S_ISDIR(way.back().facts.st_mode)) return tl::unexpected(not_found{obstacle::missing, ENOTDIR});
    if (name == "..") {
      if (way.empty()) return tl::unexpected(not_found{obstacle::outside, 0});
      way.pop_back();
      continue;
    }
    const int folder = way.empty() ? folder_.get() : way.back().at.get();
    step next{disk::handle(::openat(folder, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC)), {}, name};
    if (!next.at.is_open() || ::fstat(next.at.get(), &next.facts) != 0) return tl::unexpected(obstacle_of(errno));
    if (is_kernel_data(next.at.get(), next.facts)) return tl::unexpected(not_found{obstacle::kernel_data, 0});
    if (!S_ISLNK(next.facts.st_mode)) {
      way.push_back(std::move(next));
      if (way.size() > depth_limit) return tl::unexpected(not_found{obstacle::missing, ENAMETOOLONG});
      continue;
    }
    found.links.push_back(path_of(way, name));
    if (found.links.size() > link_limit) return tl::unexpected(not_found{obstacle::loop, ELOOP});
    found.spellings.push_back(found.links.back());
    for (auto rest = pending.rbegin(); rest != pending.rend(); ++rest) (found.spellings.back() += '/') += *rest;
    if (found.spellings.back().size() >= PATH_MAX) return tl::unexpected(not_found{obstacle::missing, ENAMETOOLONG});
    HONDANA_TRY(const auto target, target_of(next.at.get()));
    std::string_view rest = target;
    if (rest.front() == '/') {
      const char* inside = below(spellings_, target);
      if (inside == nullptr) return tl::unexpected(not_found{obstacle::outside, 0});
      rest = inside;
      way.clear();
    }
    push_segments(pending, rest);
    if (pending.size() > pending_limit) return tl::unexpected(not_found{obstacle::loop, ELOOP});
  }
  if (way.empty()) {
    found.at = disk::handle(::openat(folder_.get(), ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!found.at.is_open() || ::fstat(found.at.get(), &found.facts) != 0) return tl::unexpected(obstacle_of(errno));
    return found;
  }
  found.path = path_of(way);
  found.at = std::move(way.back().at);
  found.facts = way.back().facts;
  return found;
}

namespace {

/// Opens the path name by name, so that no link in it is followed.
disk::handle open_without_links(std::string_view path) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  disk::handle at(::open("/", flags));
  while (at.is_open() && path.size() > 1) {
    path.remove_prefix(1);
    const auto end = std::min(path.find('/'), path.size());
    at = disk::handle(::openat(at.get(), std::string(path.substr(0, end)).c_str(), flags));
    path.remove_prefix(end);
  }
  return at;
}

/// Whether the folder can be opened. A mode alone does not show that, for instance in a sandbox.
bool can_be_opened(int folder) { return disk::handle(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)).is_open(); }

}  // namespace

bool is_servable(int folder) noexcept {
  if (::faccessat(folder, ".", R_OK | X_OK, AT_EACCESS) != 0) return false;
  errno = 0;
  return !disk::on_kernel_file_system(folder);
}

top::top(std::string path, disk::handle folder, std::vector<std::string> spellings, bool portable)
    : path_(std::move(path)),
      spellings_(std::move(spellings)),
      portable_(portable),
      now_(std::make_shared<const beneath>(std::move(folder), spellings_, portable_)) {}

std::shared_ptr<const beneath> top::now() const {
  const std::lock_guard lock(mutex_);
  return now_;
}

top::news top::found(news what) { return last_.exchange(what) == what ? news::none : what; }

top::news top::look_again() {
  if (!is_gone() && disk::is_in_place(now()->descriptor(), path_)) return news::none;
  const std::lock_guard looking(looking_);
  if (disk::is_in_place(now()->descriptor(), path_)) return found(news::back);
  auto folder = open_without_links(path_);
  if (!folder.is_open() && disk::is_shortage(errno)) return news::none;
  if (!folder.is_open() || !is_servable(folder.get())) return found(news::gone);
  if (!can_be_opened(folder.get())) return disk::is_shortage(errno) ? news::none : found(news::barred);
  auto other = std::make_shared<const beneath>(std::move(folder), spellings_, portable_);
  {
    const std::lock_guard lock(mutex_);
    now_.swap(other);
  }
  last_ = news::back;
  return news::back;
}

}  // namespace hondana::files
