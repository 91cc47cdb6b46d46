/// Finds the secrets of a text by a policy, and chooses the policy by file name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/secrets/matcher.hpp"

namespace hondana::secrets {

/// Which secrets to look for.
enum class masking_policy : std::uint8_t {
  none,      ///< None.
  text,      ///< Secrets with a recognizable form: private keys, tokens, passwords in URLs, headers.
  settings,  ///< Also values whose names say that they are secret: for configuration, environments and logs.
};

/// Sets `spans` to the secrets in a text, sorted and disjoint; adjacent ones are merged.
///
/// The bytes from `context_bytes_before` before an anchor to `context_bytes_after` after it decide about a secret. So a search
/// of a part gives the same result as a search of the whole text. For this, the part needs `margin` more bytes on both sides,
/// unless it ends with the text. Time: linear. Threads: any.
///
/// `min_row`: only secrets that begin in a row of at least this many ASCII characters without NUL count. Returns the number of
/// examined bytes, without the search for anchors. It is at most `max_steps_per_byte` for each byte of the text, and a few more
/// at its ends.
std::size_t find(std::string_view text, masking_policy policy, std::vector<span>& spans, std::size_t min_row = 0);

/// Sorts spans and merges overlapping and adjacent ones.
void merge_spans(std::vector<span>& spans);

/// The number of bytes on each side of a part that `find` needs.
inline constexpr std::size_t margin = context_bytes_before + context_bytes_after;

/// Chooses the policy by the last segment of a path or URI: `settings` for configuration, environments and logs, and copies of
/// them; otherwise `text`.
[[nodiscard]] masking_policy policy_of(std::string_view path) noexcept;

/// Chooses the policy for a URI, without its query and fragment.
[[nodiscard]] masking_policy policy_of_uri(std::string_view uri) noexcept;

}  // namespace hondana::secrets
