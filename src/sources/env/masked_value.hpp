/// Values of variables with secrets masked by name, by format and by randomness.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/secrets/matcher.hpp"

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

/// What stands for the whole of a value whose name says that it is secret, whatever its length.
inline constexpr std::string_view whole_mask = "********";

struct masked_value {
  std::string text;
  std::size_t count = 0;  ///< Secrets that were masked.
};

/// The value of a variable without its secrets. By the name, all of it (`told_by`); an empty one stays empty. Else by format
/// (the policy for settings, over `NAME=value` and the value alone, and `find_inner`) and by entropy (`find_drawn`): asterisks
/// over what was found, so that lengths and line ends stay. UTF-8 stays UTF-8. `known`: parts that are known to be secret
/// already. Linear time.
[[nodiscard]] masked_value mask_value(std::string_view name, std::string_view value, std::vector<secrets::span> known = {});

/// Whether the name of a variable has a secret in it itself.
[[nodiscard]] bool is_secret_name(std::string_view name);

}  // namespace hondana::env
