/// The value that a setting is given, in the ways of many formats.
#pragma once

#include <cstddef>
#include <optional>

#include "text/secrets/near.hpp"

namespace hondana::secrets {

inline constexpr std::size_t longest_name = 64;
inline constexpr std::size_t longest_value = looked_at_most;

/// A value, as far as it is looked at.
struct assigned {
  span value;              ///< Empty where only `properties` may be secret.
  bool is_known = false;   ///< It is no secret, whatever it looks like.
  bool is_framed = false;  ///< It is a template or a call, which may have blanks in it.
  span properties{};       ///< YAML tags and anchors in front of the value.
};

/// The value of the name from `begin` to `at`: behind `=`, `:`, `=>`, the blank of a command, in tags, or of a member called
/// `value`. Where `is_whole_line`, a name that begins its line has all of it up to a blank.
[[nodiscard]] std::optional<assigned> value_behind(const place& near, std::size_t begin, std::size_t at, bool is_whole_line);

}  // namespace hondana::secrets
