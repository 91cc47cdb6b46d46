/// Stamps of what screening rests on.
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "os/disk/stamp.hpp"
#include "sources/git/surveyed.hpp"

namespace hondana::git {
namespace {

constexpr std::int64_t a_minute = 60'000'000'000;

class stamping {
 public:
  explicit stamping(std::int64_t since) noexcept : since_(since) {}

  void add(const std::string& path) {
    struct stat facts{};
    if (::lstat(path.c_str(), &facts) != 0) {
      add_words<1>({0});
      return;
    }
    const auto state = disk::stamp_of(facts);
    add_words<4>({state.device, state.inode, facts.st_mode, facts.st_uid});
    // Folders change with every object that is added; what counts is that they are the same ones.
    if (S_ISDIR(facts.st_mode)) return;
    // Far in the future are times of a server whose clock is fast; they tell changes apart all the same.
    is_racy_ = is_racy_ || (disk::is_racy(state, since_) && state.changed < since_ + a_minute);
    add_words<3>({state.size, static_cast<std::uint64_t>(state.modified), static_cast<std::uint64_t>(state.changed)});
  }

  [[nodiscard]] std::string take() { return is_racy_ ? std::string() : std::move(bytes_); }

 private:
  template <std::size_t N>
  void add_words(const std::array<std::uint64_t, N>& words) {
    bytes_.append(reinterpret_cast<const char*>(words.data()), sizeof words);
  }

  const std::int64_t since_;
  std::string bytes_;
  bool is_racy_ = false;
};

}  // namespace

std::string stamp_of(const place& at, std::int64_t since) {
  stamping all(since);
  const auto dot_git = at.work_tree + "/.git";
  if (!at.work_tree.empty()) {
    all.add(at.work_tree);
    all.add(dot_git);
  }
  if (dot_git != at.git_folder) all.add(at.git_folder);
  all.add(at.git_folder + "/config.worktree");
  all.add(at.common_folder + "/config");
  all.add(at.common_folder + "/refs");
  if (at.git_folder != at.common_folder) {
    all.add(at.git_folder + "/commondir");
    all.add(at.common_folder);
  }
  for (const auto& one : at.object_folders) {
    all.add(one);
    all.add(one + "/pack");
    all.add(one + "/info/alternates");
  }
  return all.take();
}

std::string stamp_of(const place& at) { return stamp_of(at, std::numeric_limits<std::int64_t>::max()); }

}  // namespace hondana::git
