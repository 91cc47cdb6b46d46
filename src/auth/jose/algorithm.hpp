/// The ways of signing that are taken, and no others.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hondana::jose {

/// Spec: RFC 7518 section 3.1, RFC 8037 section 3.1. Neither "none" nor any that shares a secret is among them.
enum class algorithm : std::uint8_t { rs256, es256, eddsa };

/// "RS256", "ES256", "EdDSA".
[[nodiscard]] constexpr std::string_view name_of(algorithm one) noexcept {
  switch (one) {
    case algorithm::rs256:
      return "RS256";
    case algorithm::es256:
      return "ES256";
    case algorithm::eddsa:
      break;
  }
  return "EdDSA";
}

[[nodiscard]] constexpr std::optional<algorithm> algorithm_named(std::string_view name) noexcept {
  for (const auto one : {algorithm::rs256, algorithm::es256, algorithm::eddsa}) {
    if (name_of(one) == name) return one;
  }
  return {};
}

}  // namespace hondana::jose
