/// A list of changed files with their patches, as shown in views of commits, diffs and work trees.
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

/// Compares two trees below the requested path. `old_id`: absent for the empty tree.
/// Errors: of `compare`; source_unavailable for trees that are missing or damaged; failures of ignore files, which are searched
/// for in every folder.
[[nodiscard]] result<std::vector<change>> compare_trees(const view_request& request, const std::optional<git_oid>& old_id,
                                                        const git_oid& new_id);

/// Bytes of patches that are shown at once, unless one path is requested.
inline constexpr std::uint64_t max_patch_bytes = std::uint64_t{256} << 10;

/// A line of a list that says how many files are left out because of their names.
[[nodiscard]] std::string secrets_line(std::size_t count);

/// The part of some changes that the caller may see.
class change_list {
 public:
  /// `rev`: the revision for which access rules are checked. A file is shown if `blob/REV/PATH` may be read.
  change_list(const view_request& request, std::string rev) : request_(request), rev_(std::move(rev)) {}

  /// Counts changed lines and makes patches, as long as there is room and the files are not too large to compare. Omitted
  /// patches are listed, also those of objects that were not fetched. Errors: of `try_patch`.
  [[nodiscard]] result<void> add(const std::vector<change>& changes);

  [[nodiscard]] bool is_empty() const noexcept { return listed_.empty() && secret_count_ == 0; }
  /// Writes a list of files with the number of added and deleted lines, and then one patch. Totals are "at least" that many if
  /// a change was not measured: because it is too large, not fetched, or beyond the first thousand omitted patches. `advice`
  /// says where omitted patches can be read.
  void append_markdown(std::string& text, std::string_view advice) const;
  /// Writes an array of objects.
  void write(json::writer& writer) const;

  /// Number of files that are hidden from every caller. Their names are not shown.
  [[nodiscard]] std::size_t secret_count() const noexcept { return secret_count_; }
  /// Adds metadata about these changes to a response: the number of masked secrets and, if something was not fetched, that the
  /// response may change.
  void describe(rendering& rendered) const;
  /// Number of masked secrets.
  [[nodiscard]] std::size_t masked_count() const noexcept { return masked_count_; }

 private:
  struct listed_change {
    change entry;
    std::string patch;  ///< UTF-8.
    bool is_patch_omitted = false;
    bool is_measured = false;
    bool is_too_large = false;   ///< For a comparison, so the patch is left out.
    bool lacks_content = false;  ///< The patch is left out because an object for it was not fetched.
  };

  /// How a side is treated. Secrets are counted, except one requested by its name, whose count would reveal that it exists.
  enum class side_visibility : std::uint8_t { visible, secret, hidden };

  [[nodiscard]] result<void> add(const change& item);
  [[nodiscard]] result<side_visibility> visibility_of(const diff_side& side, std::uint32_t mode);
  [[nodiscard]] result<void> add_patch(listed_change& listed);
  /// Whether a patch failed only because the repository lacks an object.
  [[nodiscard]] bool is_missing_content(const failure& error, const change& change) const;
  /// The attributes of a file in the work tree.
  [[nodiscard]] result<struct stat> attributes_of(const diff_side& side);
  [[nodiscard]] patch_options make_patch_options(std::uint64_t max_bytes);
  [[nodiscard]] std::uint64_t space_left() const noexcept;

  const view_request& request_;
  const std::string rev_;
  std::optional<work_tree> work_tree_;
  std::vector<listed_change> listed_;
  std::uint64_t patch_bytes_ = 0;
  std::size_t too_long_count_ = 0;  // patches that did not fit
  std::size_t secret_count_ = 0;
  std::size_t masked_count_ = 0;
  bool lacks_content_ = false;
};

}  // namespace hondana::git
