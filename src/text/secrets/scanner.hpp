/// Finds the secrets of a text by a policy, and chooses the policy by file name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/secrets/matcher.hpp"

namespace hondana::secrets {

/// What is looked for.
enum class policy : std::uint8_t {
  none,      ///< Nothing.
  text,      ///< What gives itself away: private keys, tokens, passwords in URLs, headers.
  settings,  ///< That, and values whose names say that they are secret: for configuration, environments and logs.
};

/// The secrets in a text, in order and apart; those that touch are one.
///
/// Each is decided by the bytes from `reach_behind` before it gave itself away to `reach_ahead` behind, so what is found in a
/// part of a text is what is found in the whole there, as long as the part has `margin` bytes more at either end (or ends with
/// the text). Time: linear; returns how many bytes were looked at, those of the search for anchors aside, which are never more
/// than `most_steps_a_byte` for each byte of the text and a few for its ends. Threads: any.
/// `least_row`: secrets count only if they begin in so many characters of ASCII in a row, none of them NUL.
std::size_t find(std::string_view text, policy how, std::vector<span>& into, std::size_t least_row = 0);

/// Brings spans in order and apart.
void unite(std::vector<span>& all);

inline constexpr std::size_t margin = reach_behind + reach_ahead;

/// By the last segment of a path or a URI: in configuration, environments and logs, and in copies of them, more than elsewhere.
[[nodiscard]] policy policy_of(std::string_view path) noexcept;

/// The same of a URI, whose query and fragment say nothing about that.
[[nodiscard]] policy policy_of_uri(std::string_view uri) noexcept;

}  // namespace hondana::secrets
