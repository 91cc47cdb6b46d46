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
enum class doubt : std::uint8_t {
  none,      ///< None: nothing else begins like this.
  stand_in,  ///< It must not be a placeholder in documentation.
  drawn,     ///< It must look random.
};

/// A token pattern: a prefix, followed by bytes of one set, which are masked.
struct token_shape {
  anchor where;        ///< Four bytes of the prefix, or of what may follow it.
  std::size_t offset;  ///< Position of the anchor in the prefix.
  std::string_view front;
  kind of;
  std::size_t least;
  std::size_t most;  ///< 0: any length.
  doubt how_sure;
  std::string_view what;  ///< The provider, for people.
};

/// The table, for matching and for the documentation.
[[nodiscard]] std::span<const token_shape> token_shapes() noexcept;

/// The range that `shape` masks around `near`.
[[nodiscard]] std::optional<span> match(const token_shape& shape, const place& near);

/// Patterns that need more than a prefix and a length.
struct special_shape {
  anchor where;
  matcher match;
  std::string_view what;
  finder find = nullptr;  ///< For patterns with several secrets, instead of `match`.
};
[[nodiscard]] std::span<const special_shape> special_shapes() noexcept;

/// Whether the last six of the 36 characters in a GitHub or npm token are the CRC-32 of the first 30, in base 62.
[[nodiscard]] bool has_check_digits(std::string_view body) noexcept;

}  // namespace hondana::secrets
