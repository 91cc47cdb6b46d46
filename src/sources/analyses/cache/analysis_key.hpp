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

inline constexpr std::size_t id_digits = 32;
inline constexpr std::size_t time_digits = 12;
inline constexpr std::size_t secret_digits = 16;

[[nodiscard]] bool is_id(std::string_view text) noexcept;
[[nodiscard]] bool is_secret(std::string_view text) noexcept;
/// The 20 random digits of an id, after those of the time. Errors: internal: the system has no random numbers.
[[nodiscard]] result<std::string> make_random_digits();
/// The secret of a claim, 16 digits. Errors: as `make_random_digits`.
[[nodiscard]] result<std::string> make_secret();
/// Compares two secrets in constant time. An invalid secret never matches.
[[nodiscard]] bool is_same_secret(std::string_view a, std::string_view b) noexcept;
/// The 12 digits of an id for a time in milliseconds since 1970.
[[nodiscard]] std::string encode_time(std::int64_t time);

/// Converts 32 digits to 16 bytes (empty if invalid), and back.
[[nodiscard]] std::string id_to_bytes(std::string_view id);
[[nodiscard]] std::string id_from_bytes(std::string_view bytes);

/// SHA-256 digests of a question, as bytes.
struct question_key {
  /// Of prompt, options, models and context: 32 bytes. Questions with the same digest share one computation.
  std::string digest{};
  std::string prompt_digest{};  ///< Of the prompt only: 32 bytes.

  bool operator==(const question_key&) const = default;
};

/// Computes the key of a question.
/// The prompt is normalised to NFKC and trimmed, and each run of white space becomes one space; case counts. Options are
/// canonical JSON (members ordered as in RFC 8785; 1 and 1.0 are equal), models a set, the context is ordered by URI. Moving
/// text from one part to another changes the digest.
[[nodiscard]] question_key make_key(const model_question& question);
/// The prompt in the form that is digested. Malformed bytes become U+FFFD.
[[nodiscard]] std::string normalize_prompt(std::string_view prompt);

/// 64 lower-case hexadecimal digits, as in `wallbounce://by-prompt/{digest}`, and back; empty if invalid.
[[nodiscard]] std::string digest_to_hex(std::string_view digest);
[[nodiscard]] std::optional<std::string> digest_from_hex(std::string_view hex);

}  // namespace hondana::analyses
