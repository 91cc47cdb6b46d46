/// Resolution segment by segment, with links followed by hand: the portable way, and the only one across links.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/files/beneath.hpp"

namespace hondana::files {

namespace {

constexpr int link_limit = 40;               // as the kernel's own
constexpr std::size_t pending_limit = 8192;  // segments still to go; links can multiply them
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

/// One folder or file on the way.
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

/// What is left of an absolute link's target below the folder it names, if it names one of `spellings`.
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

}  // namespace hondana::files
