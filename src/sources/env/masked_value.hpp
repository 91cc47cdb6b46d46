/// Masks secrets in values of variables by name, by format and by randomness.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/secrets/matcher.hpp"

namespace hondana::env {

/// Shorter texts are never considered random.
inline constexpr std::size_t min_random_bytes = 20;
/// Shannon entropy of a run, in bits per byte, from which it counts as random: for hexadecimal digits, and for base64. 20
/// random hexadecimal digits have 3.3, 20 random letters and digits 4.0. Names made by people are excluded by their words, not
/// by this limit.
inline constexpr double min_hex_entropy = 2.5;
inline constexpr double min_base64_entropy = 3.5;

/// Appends runs of letters, digits and `+ / - _ =` that look random: long enough, with enough entropy, and neither a path nor a
/// name.
/// A name consists of pieces of fewer than 16 characters, joined by `-` or `_`. Each piece has one case, or is a number or a
/// word, as in UUIDs and host names. `is_digest`: hexadecimal runs of a digest's length are not secret, nor are they after
/// `sha256:` and the like. Linear time.
void find_random(std::string_view value, bool is_digest, std::vector<secrets::span>& spans);

/// Replaces the whole value of a variable whose name marks it as secret, independent of its length.
inline constexpr std::string_view full_mask = "********";

struct masked_value {
  std::string text;
  std::size_t count = 0;  ///< Secrets that were masked.
};

/// Masks the secrets in a value.
/// If the name marks it as secret (`secrets::classify_name`), masks all of it; an empty value stays empty. Otherwise finds
/// secrets by format (the policy for settings, applied to `NAME=value` and to the value, and `find_embedded`) and by entropy
/// (`find_random`). Replaces them by asterisks of the same length, and retains line ends. UTF-8 stays UTF-8. `known_spans`:
/// parts that are already known to be secret. Linear time.
[[nodiscard]] masked_value mask_value(std::string_view name, std::string_view value,
                                      std::vector<secrets::span> known_spans = {});

/// Whether the name of a variable contains a secret.
[[nodiscard]] bool is_secret_name(std::string_view name);

}  // namespace hondana::env
