/// Asks for tokens, by log-in, machine credentials or refresh, and reads the token endpoint's answers.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

#include "auth/jose/keys.hpp"
#include "auth/oauth/client_identity.hpp"
#include "auth/oauth/metadata.hpp"
#include "auth/oauth/scopes.hpp"

namespace hondana::oauth {

struct token_refusal {
  std::string error{};  ///< As RFC 6749 names it, "invalid_grant"; empty when that is not why.
  failure why{};
  /// Whether what was sent is of no use any more, now or later.
  [[nodiscard]] bool is_final() const noexcept {
    return error == "invalid_grant" || error == "invalid_client" || error == "unauthorized_client";
  }
};

/// The longest access or refresh token that is taken, in bytes.
inline constexpr std::size_t longest_token = 16u << 10;
/// The longest life that is believed.
inline constexpr auto longest_life = std::chrono::hours(24 * 366);

/// Tokens that were asked for with `asked`. Errors: unauthorized when the server refuses, with what it says;
/// source_unavailable when it cannot answer now; broken_protocol. None repeats anything of a token.
/// Spec: RFC 6749 sections 5.1 and 5.2.
[[nodiscard]] tl::expected<token_set, token_refusal> read_tokens(const small_answer& answer, const scope_set& asked,
                                                                 const std::string& issuer, seconds_since_epoch now);

/// What an answer that is a refusal says, fit to be shown. Empty: nothing. Spec: RFC 6749 section 5.2, RFC 7009 section 2.2.1.
[[nodiscard]] std::string reason_in(const small_answer& answer);

/// What all flows of one session work with.
struct means {
  std::string url{};          ///< Of the MCP server: `canonical_resource`.
  oauth_settings settings{};  ///< Its store is there.
  std::optional<jose::signing_key> key{};
  caller_of_http http{};
  std::function<seconds_since_epoch()> now{};

  void log(const std::string& line) const {
    if (settings.log) settings.log(line);
  }
};

using obtained = tl::expected<kept_tokens, token_refusal>;

/// New tokens with these scopes, from the user or for a machine. Nothing is kept but a registration. Errors: unauthorized;
/// unsupported; those of the login page, the store and HTTP. Threads: blocks.
[[nodiscard]] obtained get_tokens(const means& with, const authority& at, const scope_set& scopes, const std::stop_token& stop);

/// The same tokens, renewed. Errors: as above; a `token_refusal` that `is_final` when they are of no use any more.
/// Spec: RFC 6749 section 6.
[[nodiscard]] obtained refresh(const means& with, const authority& at, const kept_tokens& what, const std::stop_token& stop);

/// Tells the authorization server that they are not wanted any more. False: it cannot be told. Spec: RFC 7009.
[[nodiscard]] result<bool> revoke(const means& with, const kept_tokens& what, const std::stop_token& stop);

}  // namespace hondana::oauth
