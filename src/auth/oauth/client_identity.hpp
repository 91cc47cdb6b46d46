/// How a client identifies itself to an authorization server: authentication and registration.
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

/// A client and its credentials.
struct client_identity {
  std::string client_id{};
  std::string secret{};                    ///< Empty: none.
  std::optional<jose::signing_key> key{};  ///< Instead of a secret.
  std::string key_id{};                    ///< The `kid` of `key`; empty: none.
  std::string method{};                    ///< `client_registration::auth_method`; empty: not specified.
};

/// Chooses the authentication method for the token endpoint: "none", "client_secret_basic", "client_secret_post" or
/// "private_key_jwt". Prefers `client_identity::method`. Errors: unsupported if the server accepts none that the client can
/// use, or not the algorithm of its key. Spec: RFC 8414 section 2.
[[nodiscard]] result<std::string> choose_method(const client_identity& client, const server_metadata& server);

/// Makes a POST of `form` to an endpoint of the server, authenticated as `client`. Errors: those of `choose_method`; internal.
/// Spec: RFC 6749 section 2.3.1, RFC 7523 section 2.2.
[[nodiscard]] result<small_request> authenticated_request(const std::string& endpoint, fields form,
                                                          const client_identity& client, const server_metadata& server,
                                                          seconds_since_epoch now);

/// Chooses the authentication method to request in a dynamic registration; "none" (a public client) if the server allows it.
/// Errors: unsupported.
[[nodiscard]] result<std::string> registration_method(const server_metadata& server);

/// Returns the JSON body of a dynamic registration for logins that redirect to `redirect_uri`. Errors: those of
/// `registration_method`. Spec: RFC 7591 section 3.1, basic/authorization/client-registration#dynamic-client-registration.
[[nodiscard]] result<std::string> registration_request(const std::string& client_name, const std::string& redirect_uri,
                                                       const server_metadata& server);

/// Parses the answer to a dynamic registration with `redirect_uri` at `issuer`. Errors: unauthorized with the server's reason
/// for any unsuccessful status; protocol_error for a malformed answer. Spec: RFC 7591 section 3.2.
[[nodiscard]] result<client_registration> read_registration(const small_response& response, const std::string& redirect_uri,
                                                            const std::string& issuer);

}  // namespace hondana::oauth
