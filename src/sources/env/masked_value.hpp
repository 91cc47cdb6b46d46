/// Masks secrets in values of variables by name, by format and by randomness.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/secrets/matcher.hpp"

namespace hondana::env {

/// The minimum length of a run that `find_random` examines.
inline constexpr std::size_t min_random_bytes = 20;
/// The Shannon entropy, in bits per byte, from which hexadecimal digits look random. 20 random ones have 3.3.
inline constexpr double min_hex_entropy = 2.5;
/// The same for other runs. 20 random letters and digits have 4.0.
inline constexpr double min_base64_entropy = 3.5;

/// Appends to `spans` the runs of letters, digits and `+ / - _` that look random, with up to two `=` after them. Such a run has
/// at least `min_random_bytes` and enough entropy, and is neither a path nor a name. In a path, each part is examined by
/// itself.
///
/// A name consists of words, or of pieces joined by `-` or `_`, as in UUIDs and host names. A piece has fewer than 16
/// characters and either one case or only words; a number may be longer.
///
/// `is_digest`: the value is probably a digest. Then, and after `sha256:` and the like, hexadecimal runs with a digest's length
/// are not appended. Linear time.
void find_random(std::string_view value, bool is_digest, std::vector<secrets::span>& spans);

/// Replaces a whole value, independent of its length.
inline constexpr std::string_view full_mask = "********";

/// The result of `mask_value`.
struct masked_value {
  std::string text;
  std::size_t count = 0;  ///< The number of masked secrets.
};

/// Masks the secrets in the value of a variable.
/// Uses `full_mask` if the name shows that the value is secret (`secrets::classify_name`); an empty value stays empty.
/// Otherwise finds secrets by format (the policy for settings, applied to the value and to `NAME=value`, and
/// `secrets::find_embedded`) and by entropy (`find_random`). Replaces each byte of them except line ends by an asterisk. If
/// this would break valid UTF-8, uses `full_mask`. `known_spans`: parts of `value` that are already known to be secret. Linear
/// time.
[[nodiscard]] masked_value mask_value(std::string_view name, std::string_view value,
                                      std::vector<secrets::span> known_spans = {});

/// Whether the name itself contains a secret, such as a token. It does not matter whether the name marks its value as secret.
[[nodiscard]] bool is_secret_name(std::string_view name);

}  // namespace hondana::env
