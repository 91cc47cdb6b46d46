/// The ways to tokens: somebody logs in, a machine proves who it is, and tokens at hand are refreshed.
#pragma once

#include <functional>
#include <hondana/authorization.hpp>
#include <hondana/error.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "auth/jose/signing_key.hpp"
#include "auth/oauth/discovery.hpp"
#include "auth/oauth/identity.hpp"
#include "auth/oauth/token_answer.hpp"

namespace hondana::oauth {

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
