/// The names in one folder, in the order of their URIs, and what becomes of each.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>
#include <tl/expected.hpp>

#include "base/ignore/stack.hpp"
#include "sources/files/root.hpp"
#include "sources/files/rules.hpp"

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

}  // namespace hondana::files
