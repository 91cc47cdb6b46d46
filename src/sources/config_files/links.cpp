/// Name by name.
#include "sources/config_files/links.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <string_view>
#include <vector>

#include "os/disk/resolve.hpp"

namespace hondana::config_files {
namespace {

constexpr std::size_t most_links = 16;
constexpr std::size_t most_names = 256;

/// Puts the names of a path before those that are still to be followed, which are kept with the next at the end.
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

}  // namespace hondana::config_files
