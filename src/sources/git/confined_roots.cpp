/// Resolves absolute paths and links without leaving the served folders.
#include "sources/git/confined_roots.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/opened_folder.hpp"

namespace hondana::git {
namespace {

constexpr int as_handle = O_PATH | O_CLOEXEC;
// O_NONBLOCK: opening a file that has just become a FIFO must not wait for a writer. O_NOCTTY: a terminal must not become our
// controlling terminal.
constexpr int as_quiet_file = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

std::optional<std::string> real_path_of(const std::string& path) {
  struct frees_memory {
    void operator()(char* of) const noexcept { std::free(of); }  // realpath allocates with malloc
  };
  const std::unique_ptr<char, frees_memory> real(::realpath(path.c_str(), nullptr));
  if (!real) return std::nullopt;
  return std::string(real.get());
}

/// The part of a path below a folder; "." for the folder itself, nothing for a path elsewhere.
std::optional<std::string> below(const std::string& folder, const std::string& path) {
  if (path == folder) return ".";
  const auto length = folder == "/" ? 0 : folder.size();
  if (!path.starts_with(folder) || path.size() <= length || path[length] != '/') return std::nullopt;
  const auto first = path.find_first_not_of('/', length);
  return first == std::string::npos ? "." : path.substr(first);
}

bool is_kind(int descriptor, mode_t kind) noexcept {
  struct stat facts{};
  return ::fstat(descriptor, &facts) == 0 && (facts.st_mode & S_IFMT) == kind;
}

}  // namespace

std::string_view text_of(astray why) noexcept {
  switch (why) {
    case astray::missing:
      return "does not exist";
    case astray::outside:
      return "leads out of the served folders";
    case astray::no_file:
      return "is not a regular file";
    case astray::no_folder:
      return "is not a folder";
    case astray::too_large:
      return "is too large";
    case astray::unreadable:
      break;
  }
  return "cannot be read";
}

enclosure::enclosure(const std::vector<std::string>& roots) {
  for (const auto& one : roots) {
    auto real = real_path_of(one);
    if (!real) continue;
    disk::handle folder(::open(real->c_str(), as_handle | O_DIRECTORY | O_NOFOLLOW));
    if (!folder.is_open()) {
      lacks_descriptors_ = lacks_descriptors_ || errno == EMFILE || errno == ENFILE;
      continue;
    }
    std::vector<std::string> spellings{std::move(*real)};
    auto given = one;
    while (given.size() > 1 && given.back() == '/') given.pop_back();
    if (given != spellings.front()) spellings.push_back(std::move(given));
    roots_.push_back({std::move(spellings), std::move(folder)});
  }
}

disk::handle enclosure::open_without_links(const std::string& path, int flags) const {
  for (const auto& one : roots_) {
    const auto rest = below(one.spellings.front(), path);
    if (!rest) continue;
    auto opened = disk::open_without_links(one.folder.get(), *rest, flags);
    if (opened.is_open() || errno == EMFILE || errno == ENFILE) return opened;
  }
  return {};
}

std::optional<astray> enclosure::obstacle_inside(const std::string& path) const {
  for (const auto& one : roots_) {
    for (const auto& spelling : one.spellings) {
      const auto rest = below(spelling, path);
      if (!rest) continue;
      const disk::handle there(
          disk::open_resolved(one.folder.get(), *rest, as_handle, RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS));
      if (there.is_open()) return std::nullopt;
      const bool is_portable = errno == ENOSYS || errno == EPERM;
      if (is_portable && ::faccessat(AT_FDCWD, path.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0) return std::nullopt;
      if (errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG) return astray::missing;
      if (errno == EACCES) return astray::unreadable;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

tl::expected<enclosure::landing, astray> enclosure::follow(const std::string& path) const {
  if (path.find('\0') != std::string::npos) return tl::unexpected(astray::missing);
  if (const auto obstacle = obstacle_inside(path)) return tl::unexpected(*obstacle);
  auto real = real_path_of(path);
  if (!real) return tl::unexpected(astray::outside);
  errno = 0;
  auto at = open_without_links(*real, as_handle);
  if (!at.is_open())
    return tl::unexpected(lacks_descriptors_ || errno == EMFILE || errno == ENFILE ? astray::unreadable : astray::outside);
  return landing{std::move(*real), std::move(at)};
}

tl::expected<std::string, astray> enclosure::folder(const std::string& path) const {
  HONDANA_TRY(auto found, follow(path));
  if (!is_kind(found.at.get(), S_IFDIR)) return tl::unexpected(astray::no_folder);
  return std::move(found.path);
}

tl::expected<std::string, astray> enclosure::file(const std::string& path) const {
  HONDANA_TRY(auto found, follow(path));
  if (!is_kind(found.at.get(), S_IFREG)) return tl::unexpected(astray::no_file);
  return std::move(found.path);
}

tl::expected<std::string, astray> enclosure::read(const std::string& path, std::size_t most) const {
  HONDANA_TRY(const auto real, file(path));
  const auto opened = open_without_links(real, as_quiet_file);
  if (!opened.is_open()) return tl::unexpected(astray::unreadable);
  struct stat facts{};
  if (::fstat(opened.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return tl::unexpected(astray::no_file);
  if (static_cast<std::uint64_t>(facts.st_size) > most) return tl::unexpected(astray::too_large);
  // One byte more than its size, because it may have grown.
  std::string bytes(static_cast<std::size_t>(facts.st_size) + 1, '\0');
  const auto size = disk::read_at(opened.get(), bytes.data(), bytes.size(), 0);
  if (!size) return tl::unexpected(astray::unreadable);
  if (*size > most) return tl::unexpected(astray::too_large);
  bytes.resize(*size);
  return bytes;
}

}  // namespace hondana::git
