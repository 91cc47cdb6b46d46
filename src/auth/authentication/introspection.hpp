/// Asking the authorization server about a token.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include <hondana/authenticators.hpp>
#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "auth/authentication/trouble.hpp"
#include "transport/http_client/small_call.hpp"

namespace hondana::authentication {

inline constexpr std::size_t most_introspection_bytes = 64u << 10;

/// What the server says of a token, an object with `active`. Errors: broken_protocol for what is no such answer. Spec: RFC 7662
/// section 2.2.
[[nodiscard]] result<value> read_introspection(std::string_view text);

/// Whether the answer names no kind (`token_type`, `typ`, `token_use`) but an access token's: a refresh or id token of the same
/// server is active, too. One bound to a proof (DPoP) is no bearer's.
[[nodiscard]] bool is_access_token(const value& answer);

/// Threads: any, several calls at once.
class introspection {
 public:
  introspection(introspection_options of, transport::http_client::small_caller call, std::function<void(std::string_view)> log)
      : of_(std::move(of)), call_(std::move(call)), trouble_(std::move(log)) {}

  /// As `read_introspection`. Blocks. Errors: those of the call, and broken_protocol; none repeats the token or the secret.
  [[nodiscard]] result<value> ask(const std::string& token, std::chrono::steady_clock::time_point deadline);

 private:
  [[nodiscard]] result<value> answer_to(const std::string& token, std::chrono::steady_clock::time_point deadline) const;

  const introspection_options of_;
  const transport::http_client::small_caller call_;
  trouble trouble_;
};

}  // namespace hondana::authentication
