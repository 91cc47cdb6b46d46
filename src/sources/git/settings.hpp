/// What a git configuration file says, read by hand: nothing is included, nothing is looked up elsewhere.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace hondana::git {

struct setting {
  std::string name;  ///< "core.bare", "remote.origin.url": section and key in lower case, the subsection as written.
  std::optional<std::string> value;  ///< Nothing where the key stands alone, which means "true".
  std::size_t line = 0;

  bool operator==(const setting&) const = default;
};

/// Where reading ended, and why; for sentences: "line 7: " + why.
struct misread {
  std::size_t line = 0;
  std::string why;
};

/// All settings of a file in its order, by the syntax of git-config(1), as git 2.39 reads it. What git would refuse is refused;
/// so are NUL bytes, and more settings than any repository needs. Cost: linear.
[[nodiscard]] tl::expected<std::vector<setting>, misread> read_settings(std::string_view bytes);

/// As git reads a truth value: words, numbers, a key alone. Nothing: it is none.
[[nodiscard]] std::optional<bool> truth_of(const setting& one);

}  // namespace hondana::git
