/// Signatures of ECDSA in both of their forms.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::jose {

/// Bytes of each of the two numbers of a signature by ES256.
inline constexpr std::size_t es256_half = 32;

/// From two numbers one behind the other, as tokens have it (RFC 7518 section 3.4), to the DER of OpenSSL. Nothing for another
/// length.
[[nodiscard]] std::optional<std::string> der_of(std::string_view pair);
/// And back.
[[nodiscard]] std::optional<std::string> pair_of(std::string_view der);

}  // namespace hondana::jose
