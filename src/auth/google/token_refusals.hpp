/// What Google's token endpoint refuses, and what to do about it.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "auth/google/credentials.hpp"
#include "auth/google/scopes.hpp"

namespace hondana::google {

struct token_refusal {
  failure why{};
  std::string error{};      ///< As RFC 6749 names it; empty: it gave none.
  bool is_final = false;    ///< The same credentials are of no use, now and later.
  bool may_pass = false;    ///< The same request may succeed in a moment.
  bool is_of_time = false;  ///< The claims' times are not believed.
};

struct refusal_circumstances {
  const credentials& who;
  std::string from{};    ///< "the file that `credentials` names".
  std::string advice{};  ///< "log in with `hondana login --source team`"; may be empty.
  std::string subject{};
  scopes asked{};
};

/// Of an answer that gives no token. Google's own words go, cleaned and cut, into the private text alone.
/// Spec: RFC 6749 section 5.2; Google, "Using OAuth 2.0", "Refresh token expiration", "JWT error codes".
[[nodiscard]] token_refusal token_refusal_of(int status, std::string_view body, const refusal_circumstances& in);

/// The time of a `Date` field. Nothing for what is none. Spec: RFC 9110 section 5.6.7, IMF-fixdate.
[[nodiscard]] std::optional<std::chrono::sys_seconds> date_of(std::string_view field) noexcept;

}  // namespace hondana::google
