/// Looks at kinds of files without opening them.
#include "sources/git/reference_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <string_view>
#include <utility>

#include "os/disk/folder_stream.hpp"
#include "sources/git/quotation.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t deepest_reference = 64;
constexpr std::string_view list_name = "packed-refs";

/// Also when there is nothing. Folders are refused by libgit2 itself, at once.
bool is_harmless(int folder, const char* name) noexcept {
  struct stat facts{};
  return ::fstatat(folder, name, &facts, 0) != 0 || S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode);
}

tl::unexpected<failure> unlistable(std::string_view name, std::string_view why) {
  return fail(errc::source_unavailable, "the references cannot be listed: " + in_quotes(name) + ' ' + std::string(why) +
                                            ". Run `git fsck` in the repository.");
}

/// `name` is that of the folder, below the git folder.
result<void> check_below(disk::handle folder, const std::string& name, std::size_t depth) {
  if (depth > deepest_reference) return unlistable(name, "is nested too deeply");
  const auto list = disk::stream_of(std::move(folder));
  if (!list) return unlistable(name, "cannot be listed");
  const int descriptor = ::dirfd(list.get());
  while (const dirent* const one = ::readdir(list.get())) {
    const std::string_view called = one->d_name;
    if (called == "." || called == ".." || one->d_type == DT_REG) continue;
    const auto inner_name = name + '/' + one->d_name;
    if (!is_harmless(descriptor, one->d_name)) return unlistable(inner_name, "is not a regular file");
    disk::handle inner(::openat(descriptor, one->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!inner.is_open() && (errno == EMFILE || errno == ENFILE)) return unlistable(inner_name, "cannot be listed");
    if (!inner.is_open()) continue;  // a link, or it has gone
    HONDANA_TRY(check_below(std::move(inner), inner_name, depth + 1));
  }
  return {};
}

std::array<std::string, 2> folders_of_references(git_repository* in) {
  return {git_repository_commondir(in), git_repository_path(in)};
}

}  // namespace

bool may_look_up(git_repository* in, const std::string& name) {
  const auto folders = folders_of_references(in);
  for (std::size_t i = 0; i < (folders[0] == folders[1] ? 1U : 2U); ++i)
    if (!is_harmless(AT_FDCWD, (folders[i] + name).c_str())) return false;
  return is_harmless(AT_FDCWD, (folders[0] + std::string(list_name)).c_str());
}

result<void> check_references(git_repository* in, std::string folder) {
  while (folder.ends_with('/')) folder.pop_back();
  const auto folders = folders_of_references(in);
  if (!is_harmless(AT_FDCWD, (folders[0] + std::string(list_name)).c_str()))
    return unlistable(list_name, "is not a regular file");
  for (std::size_t i = 0; i < (folders[0] == folders[1] ? 1U : 2U); ++i) {
    // What becomes of a folder that is itself a link is for the screening to say.
    disk::handle top(::open((folders[i] + folder).c_str(), O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC));
    if (!top.is_open() && (errno == EMFILE || errno == ENFILE)) return unlistable(folder, "cannot be listed");
    if (!top.is_open()) continue;
    HONDANA_TRY(check_below(std::move(top), folder, 0));
  }
  return {};
}

}  // namespace hondana::git
