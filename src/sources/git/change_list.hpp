/// A list of changed files with their patches, as views of commits, diffs and work trees show it.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/json/writer.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/work_tree.hpp"

namespace hondana::git {

/// From one tree to another (nothing: the empty one), about the path that is asked for. Errors: of `compare`;
/// source_unavailable for trees that are missing or damaged; the trouble of ignore files, which are looked for in every folder.
[[nodiscard]] result<std::vector<change>> compare_trees(const asking& what, const std::optional<git_oid>& from,
                                                        const git_oid& to);

/// So much of patches people are shown at once, unless they ask for one path.
inline constexpr std::uint64_t most_patch_bytes = std::uint64_t{256} << 10;

/// A line of a list that says how many files are left out for their names.
[[nodiscard]] std::string secrets_line(std::size_t count);

/// What the caller may see of some changes.
class change_list {
 public:
  /// `rev` is that by which the caller's view is asked about files: they are shown where `blob/REV/PATH` may be read.
  change_list(const asking& what, std::string rev) : what_(what), rev_(std::move(rev)) {}

  /// Measures them and makes their patches, as long as there is room and they are not too large to compare: what is left out is
  /// named, also for objects that were not fetched. Errors: of `try_patch`.
  [[nodiscard]] result<void> add(const std::vector<change>& all);

  [[nodiscard]] bool is_empty() const noexcept { return shown_.empty() && secrets_ == 0; }
  /// A list of files with what came and went, and then one patch; the totals are "at least" so much where something was not
  /// measured: too large, not fetched, or behind the first thousand whose patches are left out. `advice` says where what is
  /// left out is found.
  void append_markdown(std::string& to, std::string_view advice) const;
  /// An array of objects.
  void write(json::writer& to) const;

  /// Files that are left out, since they are shown to nobody: their names are not told.
  [[nodiscard]] std::size_t secrets() const noexcept { return secrets_; }
  /// Writes into an answer that was made of them what it has to say about itself: how many secrets were masked, and, where
  /// something was not fetched, that it will not always be so.
  void describe(rendering& made) const;
  /// Secrets that were masked.
  [[nodiscard]] std::size_t masked() const noexcept { return masked_; }

 private:
  struct shown {
    change of;
    std::string patch;  ///< UTF-8.
    bool is_left_out = false;
    bool is_measured = false;
    bool is_too_large = false;  ///< To be compared; the patch is left out for that.
    bool is_lacking = false;    ///< The patch is left out, since what it would be made from was not fetched.
  };

  /// What is a secret is counted, unless somebody asks by its name whether it is there.
  enum class sight : std::uint8_t { shown, secret, hidden };

  [[nodiscard]] result<void> add(const change& one);
  [[nodiscard]] result<sight> sight_of(const side& of, std::uint32_t mode);
  [[nodiscard]] result<void> add_patch(shown& into);
  /// Whether a patch failed only for an object that the repository does not have.
  [[nodiscard]] bool is_for_lack(const failure& why, const change& of) const;
  /// Of what stands in the work tree.
  [[nodiscard]] result<struct stat> facts_of(const side& of);
  [[nodiscard]] patch_options how(std::uint64_t most);
  [[nodiscard]] std::uint64_t room() const noexcept;

  const asking& what_;
  const std::string rev_;
  std::optional<work_tree> files_;
  std::vector<shown> shown_;
  std::uint64_t patch_bytes_ = 0;
  std::size_t too_long_ = 0;  // patches that did not fit
  std::size_t secrets_ = 0;
  std::size_t masked_ = 0;
  bool lacks_content_ = false;
};

}  // namespace hondana::git
