/// Implementations of `authenticator`, for `http_options::authenticator`: token files, OAuth access tokens, client
/// certificates, users of a Unix socket, and combinations.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/authenticator.hpp>
#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// Options of `make_token_file_authenticator`.
struct token_file_options {
  std::string file{};  ///< Other users must be able neither to read nor to write it.
  /// Scopes that rejections (401) tell clients to request, besides those that the server's rules require for every request.
  std::vector<std::string> challenge_scopes{};
  std::function<void(std::string_view)> log{};  ///< One line per noteworthy event; may be empty. Threads: any.
};
/// Accepts tokens made by `hondana token`, whose hashes the file stores. Callers are named `token:NAME`. The file is read again
/// when it changes. While it cannot be read, requests are rejected with 503. Invalid lines are ignored and logged.
/// Errors: invalid_argument for a file that is missing, accessible to other users, or too large. The text says what to do.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_token_file_authenticator(token_file_options options);

/// Token introspection: asking the authorization server about each token. Spec: RFC 7662.
struct introspection_options {
  std::string endpoint{};   ///< A URL.
  std::string client_id{};  ///< Id of this server at the authorization server.
  std::string client_secret{};
  bool includes_jwts = false;  ///< Also for JSON Web Tokens, instead of checking their signatures.
  /// Accepts responses without `aud`. Then tokens that the issuer meant for other servers are valid here too.
  bool audience_is_optional = false;
};

/// Options of `make_oauth_authenticator`. URLs are https, or http on this machine.
struct oauth_authenticator_options {
  std::string issuer{};                  ///< The authorization server's issuer identifier, a URL, exactly as in its tokens.
  std::string resource{};                ///< The URL of this server for clients, which tokens must name as audience.
  std::vector<std::string> audiences{};  ///< Additional audiences that are accepted.
  /// The URL of the issuer's JSON Web Key Set. nullopt: taken from the issuer's metadata.
  std::optional<std::string> jwks_uri{};
  std::optional<introspection_options> introspection{};
  std::chrono::seconds clock_skew{30};  ///< Tolerated clock difference, at most ten minutes.
  /// Scopes that rejections (401) tell clients to request, besides those that the server's rules require for every request.
  std::vector<std::string> challenge_scopes{};
  /// All scopes that this server uses, for `protected_resource`. Empty: those of the server's rules.
  std::vector<std::string> supported_scopes{};
  std::string name{};                           ///< Name of this server, for `protected_resource`.
  std::string documentation_url{};              ///< For `protected_resource`.
  std::optional<std::string> ca_file{};         ///< PEM file of certificates to trust instead of the system's.
  std::optional<std::string> proxy{};           ///< URL of a proxy for requests to the authorization server.
  std::function<void(std::string_view)> log{};  ///< One line per noteworthy event; may be empty. Threads: any.
};
/// Accepts access tokens of one authorization server. Callers are named `ISSUER#SUBJECT`, or `ISSUER?client=ID` for a token of
/// a program without a user.
///
/// A valid token is cached until it expires, but at most 60 seconds (30 with introspection), and only while its key is
/// published. A token that is checked by its signature cannot be revoked before it expires. Keys are fetched when first needed.
///
/// Errors: invalid_argument, with the name of the invalid option in `failure::subject`. Spec: basic/authorization, RFC 9068.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_oauth_authenticator(oauth_authenticator_options options);

/// Which name of a certificate identifies the caller: the subject, or a subject alternative name of this type.
enum class certificate_name_kind : std::uint8_t { subject, dns, email, uri };

/// Options of `make_certificate_authenticator`.
struct certificate_options {
  certificate_name_kind name_kind = certificate_name_kind::subject;
  /// Accepted names, spelled as in the certificate ("CN=alice,O=Example", "alice@example.com"), each with the caller's scopes.
  /// Empty: every name is accepted, with `scopes`.
  std::vector<std::pair<std::string, std::vector<std::string>>> allowed_names{};
  std::vector<std::string> scopes{};  ///< Scopes of all callers if `allowed_names` is empty.
};
/// Accepts client certificates that `tls_options::client_ca_file` has validated. Callers are named `CN=alice,O=Example`,
/// `DNS:host`, `email:alice@example.com` or `URI:spiffe://…`. If a certificate has several names of the kind, the first allowed
/// one is used; if it has none, the request is rejected. Errors: invalid_argument for an empty or repeated name, or an invalid
/// scope.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_certificate_authenticator(certificate_options options);

/// Accepts users of a Unix socket. `allowed_users`: user ids, each with the identity of that caller. Errors: invalid_argument
/// for an empty list or identity.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_peer_authenticator(
    std::vector<std::pair<std::uint32_t, std::string>> allowed_users);

/// Combines authenticators. They are called in order until one accepts: `connection_authenticators`, then
/// `token_authenticators`. A request with a token is passed to `token_authenticators` only, if there are any. Rejections and
/// metadata are merged. Errors: invalid_argument for no authenticator at all, or a null one.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_combined_authenticator(
    std::vector<std::shared_ptr<authenticator>> token_authenticators,
    std::vector<std::shared_ptr<authenticator>> connection_authenticators);

}  // namespace hondana::inline v0
