/// Tokens of well-known providers, by their prefixes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "text/secrets/anchor_search.hpp"
#include "text/secrets/matcher.hpp"

namespace hondana::secrets {

/// The additional check that a token needs beyond its prefix and length.
enum class token_check : std::uint8_t {
  none,             ///< None: nothing else begins like this.
  not_placeholder,  ///< It must not be a placeholder in documentation.
  random,           ///< It must look random.
};

/// A token pattern: a prefix, followed by bytes of one set, which are masked.
struct token_pattern {
  anchor_pattern anchor;  ///< Four bytes of the prefix, or of what may follow it.
  std::size_t offset;     ///< Bytes of the prefix before the anchor.
  std::string_view prefix;
  byte_set set;
  std::size_t min_length;
  std::size_t max_length;  ///< 0: any length.
  token_check check;
  std::string_view provider;  ///< The provider, for people.
};

/// Returns all patterns, for matching and for the documentation.
[[nodiscard]] std::span<const token_pattern> token_patterns() noexcept;

/// Returns the range to mask if there is a token of `pattern` at the anchor, as a `matcher` does.
[[nodiscard]] std::optional<span> match_token(const token_pattern& pattern, const match_context& context);

/// A pattern that needs more than a prefix and a length.
struct special_pattern {
  anchor_pattern anchor;
  matcher match;                 ///< Null if `find` is set.
  std::string_view description;  ///< The secrets that it finds, for people.
  finder find = nullptr;         ///< For patterns with several secrets, instead of `match`.
};
[[nodiscard]] std::span<const special_pattern> special_patterns() noexcept;

/// Whether the last six of the 36 characters in a GitHub or npm token are the CRC-32 of the first 30, in base 62.
[[nodiscard]] bool has_check_digits(std::string_view body) noexcept;

}  // namespace hondana::secrets
