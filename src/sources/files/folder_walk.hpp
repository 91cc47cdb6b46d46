/// Lists the names in a folder, and walks everything below a root in the order of URIs.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include <hondana/provider.hpp>

#include "base/ignore/gitignore.hpp"
#include "sources/files/root.hpp"
#include "sources/files/serving_rules.hpp"

namespace hondana::files {

/// The names in a folder, packed, in the order of their percent-encoded forms.
class folder_names {
 public:
  /// Reads an open folder, at most `max_names` names and 2 GiB of them. The error is an errno.
  [[nodiscard]] static tl::expected<folder_names, int> read(int folder, std::size_t max_names);
  /// A single name, in the file system's bytes, whether or not it exists.
  [[nodiscard]] static folder_names single(std::string_view name);

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  /// The name at a position, in the file system's bytes.
  [[nodiscard]] std::string at(std::size_t index) const;
  /// Whether the folder has more names than were read.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

 private:
  struct name {
    std::uint32_t offset;
    std::uint16_t size;
  };
  [[nodiscard]] std::string_view encoded(const name& item) const noexcept {
    return std::string_view(text_).substr(item.offset, item.size);
  }

  std::string text_;  // escaped as in URIs
  std::vector<name> names_;
  bool is_cut_ = false;
};

/// The result of examining a name in a folder.
struct examined_entry {
  struct stat attributes{};  ///< Of the name itself, even if it is a link.
  bool is_served = false;
  serving_decision decision;     ///< The decision of the rules. Its views are valid as long as the path and the stack.
  std::string other_reason;      ///< Why it is left out for another reason than a rule; empty otherwise.
  bool is_system_error = false;  ///< It is left out because a disk failed. Then `other_reason` is set.

  /// Why the name is left out.
  [[nodiscard]] std::string reason() const { return other_reason.empty() ? to_text(decision) : other_reason; }
};

/// Decides whether one name in a folder is served. `path`: its path below the root, with `name` as the last segment. `folder`:
/// a handle of the folder, which must be served. `ignored_by`: the stack of that folder.
///
/// A link is served if its target is. A name whose URI would be too long is not. With `context`, names that the caller's access
/// filter hides are left out, and so are links to hidden targets. Lookups of links end when `context` is cancelled or expires.
/// Throws std::system_error when descriptors or memory run out.
[[nodiscard]] examined_entry examine(const served_root& root, int folder, const std::string& path, const char* name,
                                     const ignore::stack& ignored_by, const request_context* context = nullptr);

/// Receives the results of a walk, on the thread that walks. Paths are as in `served_root`.
class walk_listener {
 public:
  walk_listener() = default;
  walk_listener(const walk_listener&) = delete;
  walk_listener& operator=(const walk_listener&) = delete;
  virtual ~walk_listener() = default;

  /// Called for each served entry, for a folder directly before its contents. Returns whether to continue the walk.
  virtual bool on_entry(const served_root& root, std::string_view path, const struct stat& attributes) = 0;
  /// Called when all contents of a folder have been walked. `attributes`: the folder's state after that.
  virtual void on_folder_end(const struct stat& attributes) { (void)attributes; }
  /// Called for each entry that is left out. Its contents are not walked.
  virtual void on_omitted(const served_root& root, std::string_view path, const examined_entry& entry) = 0;
  /// Called for a folder that cannot be listed, an entry that cannot be accessed, and a limit that was reached. The walk
  /// continues.
  virtual void on_problem(const served_root& root, std::string_view path, const std::string& problem) = 0;
  /// Called when a disk fails, so that entries are missing, perhaps temporarily.
  virtual void on_disk_failure() {}
};

/// Limits of a walk. What exceeds them is left out and reported by `walk_listener::on_problem`.
struct walk_limits {
  std::size_t max_depth = 256;        ///< Nested folders, including the root. Each uses a descriptor, if available.
  std::size_t max_names = 5'000'000;  ///< Names per folder.
};

/// Walks one root in the order of URIs, without following links. Returns false when the listener ended the walk. Throws
/// std::system_error when descriptors or memory do not suffice even for one folder at a time; the walk is then incomplete.
bool walk(const served_root& root, const walk_limits& limits, walk_listener& listener);
/// Walks the entry at `path` and everything below it; an empty path is the root. Does nothing if the folder above the entry
/// does not exist, is not served, or is behind a link. Returns and throws as `walk`; also throws when a disk fails on the way
/// to the entry.
bool walk_below(const served_root& root, const std::string& path, const walk_limits& limits, walk_listener& listener);

}  // namespace hondana::files
