/// Tokens of well-known providers, by their prefixes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "text/secrets/anchor_search.hpp"
#include "text/secrets/matcher.hpp"

namespace hondana::secrets {

/// How sure a token is, beyond its front and its length.
enum class doubt : std::uint8_t {
  none,      ///< Nothing else begins like this.
  stand_in,  ///< It may be a placeholder in documentation.
  drawn,     ///< It must look as if a machine had drawn it.
};

/// One shape: a front, and so many bytes of a kind behind it, which are masked.
struct token_shape {
  anchor where;        ///< Four bytes of the front, or of what may follow it.
  std::size_t offset;  ///< Of the anchor in the front.
  std::string_view front;
  kind of;
  std::size_t least;
  std::size_t most;  ///< 0: any length.
  doubt how_sure;
  std::string_view what;  ///< For people: whose it is.
};

/// The table, for matching and for the documentation.
[[nodiscard]] std::span<const token_shape> token_shapes() noexcept;

/// What `shape` masks around `near`.
[[nodiscard]] std::optional<span> match(const token_shape& shape, const place& near);

/// Shapes that need more than a front and a length.
struct special_shape {
  anchor where;
  matcher match;
  std::string_view what;
  finder find = nullptr;  ///< Of shapes with several secrets, instead of `match`.
};
[[nodiscard]] std::span<const special_shape> special_shapes() noexcept;

/// Whether the last six characters of a GitHub or npm token's 36 are the CRC-32 of the 30 before, in base 62.
[[nodiscard]] bool has_check_digits(std::string_view body) noexcept;

}  // namespace hondana::secrets
