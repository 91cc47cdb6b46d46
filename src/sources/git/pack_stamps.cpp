/// Inodes of what libgit2 may have mapped.
#include "sources/git/pack_stamps.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

namespace hondana::git {
namespace {

constexpr std::size_t most_stamps = 1000;

void add_stamp(pack_stamps& to, const std::string& objects, const std::string& name) {
  struct stat facts{};
  if (::lstat((objects + '/' + name).c_str(), &facts) == 0) to.emplace(name, disk::stamp_of(facts));
}

}  // namespace

std::optional<pack_stamps> stamps_of_packs(const std::string& objects) {
  pack_stamps all;
  add_stamp(all, objects, "info/commit-graph");
  std::error_code problem;
  std::filesystem::directory_iterator list(objects + "/pack", problem);
  while (!problem && list != std::filesystem::directory_iterator() && all.size() < most_stamps) {
    add_stamp(all, objects, "pack/" + list->path().filename().string());
    list.increment(problem);
  }
  if (problem && problem != std::errc::no_such_file_or_directory) return std::nullopt;
  return all;
}

bool have_changed(const pack_stamps& before, const pack_stamps& now) {
  return std::any_of(now.begin(), now.end(), [&before](const auto& one) {
    const auto known = before.find(one.first);
    return known == before.end() || known->second != one.second;
  });
}

}  // namespace hondana::git
