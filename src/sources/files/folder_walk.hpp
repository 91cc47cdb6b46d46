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

/// The names in a folder, packed, sorted as their forms in URIs are.
class folder_names {
 public:
  /// Reads an open folder; takes its position. At most `limit` names are taken; `is_cut` tells. Errors: errno.
  [[nodiscard]] static tl::expected<folder_names, int> read(int folder, std::size_t limit);
  /// One name, in the file system's bytes, whether it is there or not.
  [[nodiscard]] static folder_names of(std::string_view name);

  [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
  /// In the file system's bytes.
  [[nodiscard]] std::string at(std::size_t index) const;
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

 private:
  struct name {
    std::uint32_t at;
    std::uint16_t size;
  };
  [[nodiscard]] std::string_view encoded(const name& one) const noexcept {
    return std::string_view(text_).substr(one.at, one.size);
  }

  std::string text_;  // as in URIs
  std::vector<name> names_;
  bool is_cut_ = false;
};

/// What was found out about a name in a folder.
struct examined {
  struct stat facts{};  ///< Of the name itself, also where it is a link.
  bool is_served = false;
  ruling decision;           ///< Set where a rule left it out; its views live as long as the stack.
  std::string other_reason;  ///< Set where it was left out for another reason.
  bool is_unsure = false;    ///< It was left out since a disk fails, not for what it is.

  [[nodiscard]] std::string reason() const { return other_reason.empty() ? to_text(decision) : other_reason; }
};

/// Looks at one name. `path` is where it is, `name` its last segment, `folder` a handle on its folder, which is served, and
/// `ignored_by` the ignore files down to it.
///
/// A link is served when what it leads to is; a name whose URI would be too long is not. With `by`, what the caller's view
/// does not show is left out, a link to it too, and looking up links ends with the call. Throws std::system_error when
/// descriptors or memory are short.
[[nodiscard]] examined examine(const root& of, int folder, const std::string& path, const char* name,
                               const ignore::stack& ignored_by, const call* by = nullptr);

/// Hears what a walk comes across. Paths are as in `root`.
class walk_listener {
 public:
  walk_listener() = default;
  walk_listener(const walk_listener&) = delete;
  walk_listener& operator=(const walk_listener&) = delete;
  virtual ~walk_listener() = default;

  /// Something served; false ends the walk. A folder comes directly before what is in it, the root itself first.
  virtual bool served(const root& of, std::string_view path, const struct stat& facts) = 0;
  /// All that is in a folder has been gone through; the folder as it is then.
  virtual void leaving(const struct stat& facts) { (void)facts; }
  /// Something left out; what is in it is not gone into.
  virtual void left_out(const root& of, std::string_view path, const examined& why) = 0;
  /// A folder that cannot be listed, or a bound that was met; the walk goes on.
  virtual void trouble(const root& of, std::string_view path, const std::string& what) = 0;
  /// A disk failed, so that something may be missing that will be there again.
  virtual void missed() {}
};

struct walk_bounds {
  std::size_t max_depth = 256;        ///< Folders below the root; each on the way holds a descriptor while there are enough.
  std::size_t max_names = 5'000'000;  ///< Taken from one folder.
};

/// Walks one root. Links are not followed. False when the listener ended it. Throws std::system_error when there are no
/// descriptors or no memory even for one folder at a time: what was walked is then not all.
bool walk(const root& of, const walk_bounds& bounds, walk_listener& listener);
/// Walks what a path names and what is below it; nothing when there is nothing, or when it is not served. Throws as `walk`, and
/// when a disk fails on the way to it.
bool walk_below(const root& of, const std::string& path, const walk_bounds& bounds, walk_listener& listener);

}  // namespace hondana::files
