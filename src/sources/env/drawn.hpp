/// Parts of values that a machine has drawn.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "text/secrets/near.hpp"

namespace hondana::env {

/// What is shorter is not taken for drawn, since it could be anything.
inline constexpr std::size_t least_drawn = 20;
/// Shannon's measure over the bytes of a run, in bits a byte: of hexadecimal digits, and of base64. Twenty drawn digits
/// have 3.3 and twenty letters and digits 4.0; names that people make are told apart by their words, and not by this.
inline constexpr double least_bits_of_hex = 2.5;
inline constexpr double least_bits_of_base64 = 3.5;

/// Appends runs of letters, digits and `+ / - _ =` that are at least so long, measure at least so much, and are neither a path
/// nor words with numbers as names and versions have them. UUIDs and names of hosts are such words: pieces of fewer than 16
/// characters with `-` or `_` between them, each of them of one case, a number or a word. `is_digest`: the digits of digests
/// are none. So are they behind `sha256:` and the like. Linear time.
void find_drawn(std::string_view value, bool is_digest, std::vector<secrets::span>& into);

}  // namespace hondana::env
