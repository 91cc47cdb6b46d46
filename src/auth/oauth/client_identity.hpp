/// How a client identifies itself at an authorization server: authentication and registration.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

#include "auth/jose/keys.hpp"
#include "auth/oauth/form.hpp"
#include "auth/oauth/metadata.hpp"

namespace hondana::oauth {

using seconds_since_epoch = std::chrono::sys_time<std::chrono::seconds>;

struct client_identity {
  std::string client_id{};
  std::string secret{};                    ///< Empty: none.
  std::optional<jose::signing_key> key{};  ///< Instead of a secret.
  std::string key_id{};
  std::string method{};  ///< That registration has settled; empty: none did.
};

/// How to authenticate at the token endpoint: "none", "client_secret_basic", "client_secret_post", "private_key_jwt". Errors:
/// unsupported, which says what the server takes, when nothing we have is among it. Spec: RFC 8414 section 2.
[[nodiscard]] result<std::string> method_for(const client_identity& who, const server_metadata& at);

/// A POST of `what` to one of the server's endpoints, with the identity's proof. Errors: those of `method_for`; internal.
/// Spec: RFC 6749 section 2.3.1, RFC 7523 section 2.2.
[[nodiscard]] result<small_request> authenticated(const std::string& endpoint, fields what, const client_identity& who,
                                                  const server_metadata& at, seconds_since_epoch now);

/// The method that dynamic registration asks for: of a public client where the server takes any.
[[nodiscard]] result<std::string> method_to_register(const server_metadata& at);

/// A dynamic registration for logins that lead back to `redirect_uri`. Spec: RFC 7591 section 3.1,
/// basic/authorization/client-registration#dynamic-client-registration.
[[nodiscard]] result<std::string> registration_request(const std::string& client_name, const std::string& redirect_uri,
                                                       const server_metadata& at);

/// Errors: unauthorized when the server refuses, with what it says; broken_protocol. Spec: RFC 7591 section 3.2.
[[nodiscard]] result<client_registration> read_registration(const small_answer& answer, const std::string& redirect_uri,
                                                            const std::string& issuer);

}  // namespace hondana::oauth
