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

/// The names in a folder, packed, in the order of their forms in URIs.
class folder_names {
 public:
  /// Reads an open folder. Takes at most `max_names` names; `is_cut` says whether there were more. The error is an errno.
  [[nodiscard]] static tl::expected<folder_names, int> read(int folder, std::size_t max_names);
  /// A single name, in the file system's bytes, whether or not it exists.
  [[nodiscard]] static folder_names single(std::string_view name);

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  /// In the file system's bytes.
  [[nodiscard]] std::string at(std::size_t index) const;
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
  serving_decision decision;     ///< Set if a rule left it out. Its views are valid as long as the stack.
  std::string other_reason;      ///< Set if it was left out for another reason.
  bool is_system_error = false;  ///< It was left out because a disk failed, not because of a rule.

  [[nodiscard]] std::string reason() const { return other_reason.empty() ? to_text(decision) : other_reason; }
};

/// Examines one name. `path`: its path below the root, with `name` as the last segment. `folder`: a handle of its folder, which
/// is served. `ignored_by`: the ignore files down to that folder.
///
/// A link is served if its target is. A name whose URI would be too long is not. With `context`, names that the caller's access
/// filter hides are left out, and so are links to them; link lookups end with the call. Throws std::system_error when
/// descriptors or memory run out.
[[nodiscard]] examined_entry examine(const served_root& root, int folder, const std::string& path, const char* name,
                                     const ignore::stack& ignored_by, const request_context* context = nullptr);

/// Receives the results of a walk. Paths are as in `served_root`.
class walk_listener {
 public:
  walk_listener() = default;
  walk_listener(const walk_listener&) = delete;
  walk_listener& operator=(const walk_listener&) = delete;
  virtual ~walk_listener() = default;

  /// A served entry; returning false ends the walk. A folder comes directly before its contents, the root first.
  virtual bool on_entry(const served_root& root, std::string_view path, const struct stat& attributes) = 0;
  /// All contents of a folder have been walked. `attributes` is the folder's state after that.
  virtual void on_folder_end(const struct stat& attributes) { (void)attributes; }
  /// An entry that is left out. Its contents are not walked.
  virtual void on_omitted(const served_root& root, std::string_view path, const examined_entry& entry) = 0;
  /// A folder that cannot be listed, or a limit that was reached. The walk continues.
  virtual void on_problem(const served_root& root, std::string_view path, const std::string& problem) = 0;
  /// A disk failed, so entries may be missing temporarily.
  virtual void on_disk_failure() {}
};

struct walk_limits {
  std::size_t max_depth = 256;        ///< Levels below the root. Each holds a descriptor while enough are available.
  std::size_t max_names = 5'000'000;  ///< Per folder.
};

/// Walks one root, without following links. False when the listener ended the walk. Throws std::system_error when descriptors
/// or memory do not suffice even for one folder at a time; the walk is then incomplete.
bool walk(const served_root& root, const walk_limits& limits, walk_listener& listener);
/// Walks the entry at a path, and everything below it. Does nothing if the entry does not exist or is not served. Throws as
/// `walk`, and also when a disk fails on the way to it.
bool walk_below(const served_root& root, const std::string& path, const walk_limits& limits, walk_listener& listener);

}  // namespace hondana::files
