/// Comparing names and inodes.
#include "os/disk/own_files.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hondana::disk {

own_files::own_files(std::vector<std::string> paths, std::string_view root) : paths_(std::move(paths)) {
  const std::string above = root.ends_with('/') ? std::string(root) : std::string(root) + '/';
  for (const auto& one : paths_) {
    if (one.size() <= above.size() || !one.starts_with(above)) continue;
    const auto below = one.substr(above.size());
    const auto name = below.rfind('/') + 1;  // 0 where there is none
    below_.push_back({below.substr(0, name), below.substr(name)});
  }
}

bool own_files::has_name(std::string_view below) const noexcept {
  // .NAME.swp and .#NAME, #NAME#; NAME.1, NAME-20261122, NAME~ and NAME_old.
  constexpr std::array<std::string_view, 4> fronts{"", ".", "#", ".#"};
  constexpr std::string_view behind = ".-~_#";
  return std::any_of(below_.begin(), below_.end(), [&](const named& one) {
    if (!below.starts_with(one.folder)) return false;
    const auto rest = below.substr(one.folder.size());
    const auto name = rest.substr(0, rest.find('/'));
    return std::any_of(fronts.begin(), fronts.end(), [&](std::string_view front) {
      if (!name.starts_with(front) || !name.substr(front.size()).starts_with(one.name)) return false;
      const auto more = name.substr(front.size() + one.name.size());
      return more.empty() || behind.find(more.front()) != std::string_view::npos;
    });
  });
}

bool own_files::is_one(const struct stat& facts) const noexcept {
  if (facts.st_nlink < 2 || !S_ISREG(facts.st_mode)) return false;
  return std::any_of(paths_.begin(), paths_.end(), [&facts](const std::string& one) {
    struct stat own{};
    return ::stat(one.c_str(), &own) == 0 && own.st_dev == facts.st_dev && own.st_ino == facts.st_ino;
  });
}

}  // namespace hondana::disk
