/// Ids of analyses, and the digests under which analyses are cached.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "sources/analyses/cache/analysis.hpp"

namespace hondana::analyses {

// All digits are hexadecimal, in lower case.
inline constexpr std::size_t id_digits = 32;      ///< `time_digits`, then random digits.
inline constexpr std::size_t time_digits = 12;    ///< The first digits of an id, from `encode_time`.
inline constexpr std::size_t secret_digits = 16;  ///< Of `claim_ticket::secret`.

/// Whether the text has the form of an id.
[[nodiscard]] bool is_id(std::string_view text) noexcept;
/// Whether the text has the form of a secret.
[[nodiscard]] bool is_secret(std::string_view text) noexcept;
/// Makes the 20 random digits of an id. Errors: internal: the system has no random numbers.
[[nodiscard]] result<std::string> make_random_digits();
/// Makes a `claim_ticket::secret`. Errors: as `make_random_digits`.
[[nodiscard]] result<std::string> make_secret();
/// Compares two secrets in constant time. A text of another length matches none, not even itself.
[[nodiscard]] bool is_same_secret(std::string_view a, std::string_view b) noexcept;
/// Encodes 2^48 - 1 - `time` as 12 digits, so that later times sort first. `time`: milliseconds since 1970.
[[nodiscard]] std::string encode_time(std::int64_t time);

/// Converts an id to 16 bytes. Empty: not an id.
[[nodiscard]] std::string id_to_bytes(std::string_view id);
/// Converts 16 bytes to an id.
[[nodiscard]] std::string id_from_bytes(std::string_view bytes);

/// SHA-256 digests of a question, as bytes.
struct question_key {
  /// Of prompt, options, models and context: 32 bytes. Questions with the same digest share one computation.
  std::string digest{};
  std::string prompt_digest{};  ///< Of the prompt only: 32 bytes.

  bool operator==(const question_key&) const = default;
};

/// Computes the key of a question.
/// Digests the prompt after `normalize_prompt`, options as JSON with ordered members, models as a set, and the context in the
/// order of URIs. In options, 1 equals 1.0. Moving text from one part to another changes the digest.
[[nodiscard]] question_key make_key(const model_question& question);
/// Returns the prompt in NFKC, trimmed, with each run of white space as one space. Case stays. Malformed bytes become U+FFFD.
[[nodiscard]] std::string normalize_prompt(std::string_view prompt);

/// Returns 64 lower-case hexadecimal digits, as in `wallbounce://by-prompt/{digest}`. `digest`: 32 bytes.
[[nodiscard]] std::string digest_to_hex(std::string_view digest);
/// Returns the 32 bytes of a digest. nullopt: `hex` is not 64 lower-case hexadecimal digits.
[[nodiscard]] std::optional<std::string> digest_from_hex(std::string_view hex);

}  // namespace hondana::analyses
