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

/// Compares two trees below the requested path, and loads the ignore files of all folders with changes. `old_id`: nullopt
/// stands for an empty tree. Errors: those of `compare`; source_unavailable for trees that are missing or damaged;
/// `ignored_paths::error`.
[[nodiscard]] result<std::vector<change>> compare_trees(const view_request& request, const std::optional<git_oid>& old_id,
                                                        const git_oid& new_id);

/// Maximum bytes of all patches in a Markdown view, unless a path is requested.
inline constexpr std::uint64_t max_patch_bytes = std::uint64_t{256} << 10;

/// The line of a Markdown list that says how many files are hidden from every caller.
[[nodiscard]] std::string secrets_line(std::size_t count);

/// Collects the changes that the caller may see, with their patches.
class change_list {
 public:
  /// `rev`: a file is shown if the caller may read `blob/REV/PATH`. `request` must outlive this object.
  change_list(const view_request& request, std::string rev) : request_(request), rev_(std::move(rev)) {}

  /// Adds the changes of visible files. Makes their patches and counts changed lines, as long as the patches fit and the files
  /// are not too large to compare. Other changes are listed without a patch, including those whose objects were not fetched.
  /// Errors: those of `try_patch`, except for missing objects.
  [[nodiscard]] result<void> add(const std::vector<change>& changes);

  /// Whether there is nothing to report, not even a secret file.
  [[nodiscard]] bool is_empty() const noexcept { return listed_.empty() && secret_count_ == 0; }
  /// Writes the list of files with the numbers of added and deleted lines, and then all patches as one. The totals say "at
  /// least" if some lines were not counted: of changes that are too large, not fetched, or beyond the first thousand.
  /// `advice`: says where omitted patches can be read.
  void append_markdown(std::string& text, std::string_view advice) const;
  /// Writes a JSON array with an object for each change.
  void write(json::writer& writer) const;

  /// Number of changed files that are hidden from every caller. Their names are not shown.
  [[nodiscard]] std::size_t secret_count() const noexcept { return secret_count_; }
  /// Adds the number of masked secrets to the metadata of the response. If objects were not fetched, marks the response as
  /// incomplete, and makes a digest of its text the version.
  void describe(rendering& rendered) const;
  /// Number of secrets that were masked in the compared files.
  [[nodiscard]] std::size_t masked_count() const noexcept { return masked_count_; }

 private:
  struct listed_change {
    change entry;
    std::string patch;              ///< UTF-8.
    bool is_patch_omitted = false;  ///< The patch did not fit, or the files are too large.
    bool is_measured = false;       ///< The lines were counted.
    bool is_too_large = false;      ///< The files are too large to be compared.
    bool lacks_content = false;     ///< There is no patch, because an object was not fetched.
  };

  enum class side_visibility : std::uint8_t {
    visible,
    secret,  ///< Hidden from every caller. Counted.
    hidden   ///< Hidden from this caller; or a secret that was requested by its name, whose count would reveal that it exists.
  };

  [[nodiscard]] result<void> add(const change& item);
  /// `mode`: that of `side`, or of the other side if `side` does not exist.
  [[nodiscard]] result<side_visibility> visibility_of(const diff_side& side, std::uint32_t mode);
  [[nodiscard]] result<void> add_patch(listed_change& listed);
  /// Whether the error is due to an object that the repository lacks.
  [[nodiscard]] bool is_missing_content(const failure& error, const change& change) const;
  /// Reads the attributes of a file in the work tree.
  [[nodiscard]] result<struct stat> attributes_of(const diff_side& side);
  [[nodiscard]] patch_options make_patch_options(std::uint64_t max_bytes);
  /// Bytes that further patches may have.
  [[nodiscard]] std::uint64_t space_left() const noexcept;

  const view_request& request_;
  const std::string rev_;
  std::optional<work_tree> work_tree_;
  std::vector<listed_change> listed_;
  std::uint64_t patch_bytes_ = 0;
  std::size_t too_long_count_ = 0;  // number of patches that were made but did not fit
  std::size_t secret_count_ = 0;
  std::size_t masked_count_ = 0;
  bool lacks_content_ = false;
};

}  // namespace hondana::git
