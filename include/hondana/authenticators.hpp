/// Ready authenticators for `http_options::authenticator`: token files, OAuth access tokens, client certificates, users of a
/// Unix socket, and combinations of these.
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

/// Tokens made by `hondana token`. The file stores their hashes, and is read again when it changes.
struct token_file_options {
  std::string file{};  ///< Other users must be able neither to read nor to write it.
  /// For challenges, in addition to the scopes that the server's rules require for every request.
  std::vector<std::string> challenge_scopes{};
  std::function<void(std::string_view)> log{};  ///< One line per noteworthy event; may be empty. Threads: any.
};
/// Callers are named `token:NAME`. Errors: invalid_argument for a file that is missing, readable by others, or too large. The
/// text says what to do.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_token_file_authenticator(token_file_options options);

/// Token introspection at an authorization server. Spec: RFC 7662.
struct introspection_options {
  std::string endpoint{};  ///< A URL. Empty: no introspection.
  std::string client_id{};
  std::string client_secret{};
  bool includes_jwts = false;  ///< Also for JSON Web Tokens, instead of checking their signatures.
  /// Accepts responses without `aud`. Then every token of the issuer is valid here, also those meant for other servers.
  bool audience_is_optional = false;
};

/// Access tokens of one authorization server. Spec: basic/authorization, RFC 9068.
struct oauth_authenticator_options {
  std::string issuer{};                  ///< Issuer identifier, a URL, spelled exactly as in its metadata and tokens.
  std::string resource{};                ///< The URL of this server for clients, which tokens must name as audience.
  std::vector<std::string> audiences{};  ///< Additional audiences that are accepted.
  std::string jwks_uri{};                ///< The URL of its JSON Web Key Set. Empty: taken from its metadata.
  introspection_options introspection{};
  std::chrono::seconds clock_skew{30};  ///< Tolerated clock difference, at most ten minutes.
  /// For challenges, in addition to the scopes that the server's rules require for every request.
  std::vector<std::string> challenge_scopes{};
  /// All scopes that this server uses, for its metadata. Empty: those of the server's rules.
  std::vector<std::string> supported_scopes{};
  std::string name{};               ///< Name of this server, for its metadata.
  std::string documentation_url{};  ///< A URL, for its metadata.
  std::string ca_file{};            ///< PEM file of certificates to trust instead of the system's.
  std::string proxy{};              ///< Proxy for requests to the authorization server. Empty: none.
  std::function<void(std::string_view)> log{};
};
/// Callers are named `ISSUER#SUBJECT`, or `ISSUER?client=ID` for a token of a program without a user.
///
/// A valid token is cached until it expires, but at most 60 seconds (30 with introspection), and only while its key is
/// published. A token that is checked by its signature cannot be revoked before it expires. Keys are fetched when first needed.
///
/// Errors: invalid_argument, naming the member.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_oauth_authenticator(oauth_authenticator_options options);

/// The part of a certificate that names the caller.
enum class certificate_name_kind : std::uint8_t { subject, dns, email, uri };

/// Which client certificates are accepted.
struct certificate_options {
  certificate_name_kind name_kind = certificate_name_kind::subject;
  /// Accepted names, spelled as in the certificate ("CN=alice,O=Example", "alice@example.com"), with scopes. Empty: every
  /// certificate signed by the configured authorities, with `scopes`.
  std::vector<std::pair<std::string, std::vector<std::string>>> allowed_names{};
  std::vector<std::string> scopes{};
};
/// Callers are named `CN=alice,O=Example`, `DNS:host`, `email:alice@example.com` or `URI:spiffe://…`. If a certificate has
/// several names of the kind, the first allowed one is used. Errors: invalid_argument for an empty or repeated name, and for an
/// invalid scope.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_certificate_authenticator(certificate_options options);

/// Accepts users of a Unix socket by user id; each id has the caller's identity. Errors: invalid_argument for an empty list or
/// identity.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_peer_authenticator(
    std::vector<std::pair<std::uint32_t, std::string>> allowed_users);

/// Combines authenticators. For a request with a token, only `token_authenticators` decide if there are any; otherwise all do,
/// `connection_authenticators` first. They are called in order until one accepts. Challenges and metadata are merged. Errors:
/// invalid_argument for no authenticator at all, or a null one.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_combined_authenticator(
    std::vector<std::shared_ptr<authenticator>> token_authenticators,
    std::vector<std::shared_ptr<authenticator>> connection_authenticators);

}  // namespace hondana::inline v0
