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

inline constexpr std::size_t digits_of_id = 32;
inline constexpr std::size_t digits_of_time = 12;
inline constexpr std::size_t digits_of_secret = 16;

[[nodiscard]] bool is_id(std::string_view text) noexcept;
[[nodiscard]] bool is_secret(std::string_view text) noexcept;
/// The 20 digits behind the time. Errors: internal: the system has no random numbers.
[[nodiscard]] result<std::string> random_digits();
/// What only the holder of a claim knows, 16 digits. Errors: as `random_digits`.
[[nodiscard]] result<std::string> secret_digits();
/// Whether both are the same secret; what is none never is. How long it takes says nothing of either.
[[nodiscard]] bool is_same_secret(std::string_view a, std::string_view b) noexcept;
/// The 12 digits of a time, milliseconds since 1970.
[[nodiscard]] std::string digits_of(std::int64_t time);

/// 16 bytes of 32 digits; empty: these are none. And back.
[[nodiscard]] std::string raw_id(std::string_view id);
[[nodiscard]] std::string id_of_raw(std::string_view raw);

/// SHA-256 of what was asked, as bytes.
struct key {
  std::string all{};     ///< Of prompt, options, models and context: 32 bytes. Equal: one computation serves both.
  std::string prompt{};  ///< Of the prompt alone: 32 bytes.

  bool operator==(const key&) const = default;
};

/// The prompt in NFKC, white space at its ends left out and each run of it elsewhere one space; case stays. The options as
/// canonical JSON (RFC 8785's order of members; 1 and 1.0 are one), the models as a set, the context by URI. Nothing of it can
/// be moved from one part to another without changing the digest.
[[nodiscard]] key key_of(const question& what);
/// The form of the prompt that is digested. Malformed bytes become U+FFFD.
[[nodiscard]] std::string normalised(std::string_view prompt);

/// 64 lower-case hexadecimal digits, as in `wallbounce://by-prompt/{digest}`, and back; nothing: that is none.
[[nodiscard]] std::string spelled(std::string_view digest);
[[nodiscard]] std::optional<std::string> digest_spelled(std::string_view hex);

}  // namespace hondana::analyses
