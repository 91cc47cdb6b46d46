/// Finding the top of a work tree, and reading what it says about a folder below.
#include "sources/files/work_tree.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "os/disk/handle.hpp"
#include "os/disk/read_at.hpp"

namespace hondana::files {
namespace {

constexpr std::size_t text_limit = (1 << 20) + 1;  // one byte more than is compiled, so that the compiler says what it left out

disk::handle open_quietly(const std::string& path) {
  return disk::handle(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

std::string joined(const std::string& folder, std::string_view name) {
  std::string path = folder;
  if (!path.ends_with('/')) path += '/';
  return path += name;
}

/// The list of an ignore file; null where there is none, or a link.
ignore::list_pointer list_at(const std::string& path, std::string source) {
  struct stat facts{};
  const auto unusable = [&source](std::string why) {
    return std::make_shared<const ignore::pattern_list>(ignore::pattern_list::unusable(std::move(source), std::move(why)));
  };
  if (::lstat(path.c_str(), &facts) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    return unusable(std::string("it cannot be accessed: ") + std::strerror(errno));
  }
  if (S_ISLNK(facts.st_mode)) return nullptr;
  if (!S_ISREG(facts.st_mode)) return unusable("it is not a regular file");
  const auto file = open_quietly(path);
  if (!file.is_open()) return unusable(std::string("it cannot be read: ") + std::strerror(errno));
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return unusable("it is not a regular file");
  return compile_ignore_file(file.get(), std::move(source));
}

/// The first line of a small file, such as `.git` and `commondir`; empty when there is none.
std::string line_of(const std::string& path) {
  const auto file = open_quietly(path);
  struct stat facts{};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {};
  std::array<char, 4096> text;
  const auto size = disk::read_at(file.get(), text.data(), text.size(), 0);
  if (!size) return {};
  const std::string_view seen(text.data(), *size);
  return std::string(seen.substr(0, seen.find_first_of(std::string_view("\r\n\0", 3))));
}

/// The git directory of a work tree whose top is `folder`, and whether it is the folder `.git` right there.
struct git_directory {
  std::string path;
  bool is_inside = false;
};

std::optional<git_directory> git_directory_of(const std::string& folder) {
  git_directory found{joined(folder, ".git")};
  struct stat facts{};
  if (::lstat(found.path.c_str(), &facts) != 0) return std::nullopt;
  found.is_inside = S_ISDIR(facts.st_mode);
  if (S_ISREG(facts.st_mode)) {
    constexpr std::string_view label = "gitdir: ";
    const auto line = line_of(found.path);
    if (!line.starts_with(label) || line.size() == label.size()) return std::nullopt;
    const auto named = line.substr(label.size());
    found.path = named.front() == '/' ? named : joined(folder, named);
  }
  if (::lstat(joined(found.path, "HEAD").c_str(), &facts) != 0) return std::nullopt;
  // A linked work tree shares its `info` with the repository it belongs to.
  if (const auto shared = line_of(joined(found.path, "commondir")); !shared.empty()) {
    found.path = shared.front() == '/' ? shared : joined(found.path, shared);
  }
  return found;
}

std::string parent_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace

ignore::list_pointer compile_ignore_file(int file, std::string source) {
  const auto text = std::make_unique_for_overwrite<char[]>(text_limit);
  const auto size = disk::read_at(file, text.get(), text_limit, 0);
  auto list = size ? ignore::pattern_list::parse(std::string_view(text.get(), *size), std::move(source))
                   : ignore::pattern_list::unusable(std::move(source),
                                                    std::string("it cannot be read: ") + std::strerror(size.error()));
  return std::make_shared<const ignore::pattern_list>(std::move(list));
}

surroundings surroundings_of(const std::string& root) {
  surroundings found;
  std::string top = root;
  std::string up;  // from the root to `top`, as in the names of ignore files
  auto git = git_directory_of(top);
  while (!git && top != "/") {
    top = parent_of(top);
    up += "../";
    git = git_directory_of(top);
  }
  if (!git) return found;
  const bool is_top = top == root;
  // The root's own git directory is looked at anew for every decision.
  if (is_top && git->is_inside) return found;
  auto exclude =
      list_at(joined(git->path, "info/exclude"), up + (git->is_inside ? ".git/info/exclude" : "info/exclude of .git"));
  if (is_top) {
    found.exclude = std::move(exclude);
    return found;
  }
  std::string inner = root.substr(top == "/" ? 1 : top.size() + 1);
  if (exclude) found.outer.push_back({inner, std::move(exclude)});
  for (std::string folder = top;;) {
    if (auto list = list_at(joined(folder, ".gitignore"), up + ".gitignore")) found.outer.push_back({inner, std::move(list)});
    const auto slash = inner.find('/');
    if (slash == std::string::npos) return found;
    folder = joined(folder, inner.substr(0, slash));
    inner.erase(0, slash + 1);
    up.resize(up.size() - 3);
  }
}

}  // namespace hondana::files
