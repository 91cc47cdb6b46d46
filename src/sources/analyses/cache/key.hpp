/// Under what an analysis is found again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sources/analyses/cache/analysis.hpp"

namespace hondana::analyses {

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
