/// Random texts, their digests, and comparison that tells nothing by its time.
#pragma once

#include <hondana/error.hpp>
#include <string>
#include <string_view>

namespace hondana::oauth {

/// 256 random bits in 43 characters of base64url. Errors: internal when the system has none.
[[nodiscard]] result<std::string> random_text();

/// The challenge of a verifier by S256: base64url of its SHA-256. Spec: RFC 7636 section 4.2.
[[nodiscard]] std::string code_challenge(std::string_view verifier);

[[nodiscard]] bool equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

}  // namespace hondana::oauth
