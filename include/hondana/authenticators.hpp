/// The authenticators of this library, for `http_options::authenticator`: tokens kept in a file, tokens of an authorization
/// server, client certificates, processes behind a Unix socket, and several of these together.
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

/// Tokens that `hondana token` makes: their hashes stand in a file, which is read again when it has changed.
struct token_file_options {
  std::string file{};                           ///< Which others may neither read nor write.
  std::vector<std::string> scopes{};            ///< For challenges, besides those that the server's rules ask of every request.
  std::function<void(std::string_view)> log{};  ///< One line a noteworthy event; may be empty. Threads: any.
};
/// Callers are `token:NAME`. Errors: invalid_argument for a file that is missing, that others can read or that is too large;
/// the text says what to do.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_token_file_authenticator(token_file_options options);

/// Whom to ask about a token. Spec: RFC 7662.
struct introspection_options {
  std::string endpoint{};  ///< A URL; empty: nobody is asked.
  std::string client_id{};
  std::string client_secret{};
  bool is_for_all = false;  ///< Ask about JSON Web Tokens too, instead of checking them by the issuer's keys.
  /// Take answers without `aud`, although every token of the issuer is then good here, those for other servers too.
  bool audience_is_optional = false;
};

/// Access tokens of one authorization server. Spec: basic/authorization, RFC 9068.
struct oauth_options {
  std::string issuer{};                  ///< Its identifier, a URL, exactly as its metadata and tokens spell it.
  std::string resource{};                ///< The URL of this server for clients, which tokens are for.
  std::vector<std::string> audiences{};  ///< More that tokens may be for.
  std::string keys{};                    ///< The URL of its JSON Web Key Set; empty: as its metadata say.
  introspection_options introspection{};
  std::chrono::seconds skew{30};          ///< How far clocks may be apart, at most ten minutes.
  std::vector<std::string> scopes{};      ///< For challenges, besides those that the server's rules ask of every request.
  std::vector<std::string> all_scopes{};  ///< All that are of use here, for the metadata; empty: those of the server's rules.
  std::string name{};                     ///< Of this server, for the metadata.
  std::string documentation{};            ///< A URL, likewise.
  std::string authorities{};              ///< A PEM file of certificates to trust instead of the system's.
  std::string proxy{};                    ///< To reach the authorization server by; empty: none.
  std::function<void(std::string_view)> log{};
};
/// Callers are `ISSUER#SUBJECT`, or `ISSUER?client=ID` for a token of a program that stands for nobody. A token that was found
/// good is remembered until it expires, for 60 seconds at most, 30 by introspection, and no longer than its key is published:
/// one that is checked by its signature cannot be revoked earlier. Keys are fetched when they are first needed.
/// Errors: invalid_argument, naming the member.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_oauth_authenticator(oauth_options options);

/// Which part of a certificate names a caller.
enum class certificate_name : std::uint8_t { subject, dns, email, uri };

struct certificate_options {
  certificate_name by = certificate_name::subject;
  /// Who may ask, spelled as the certificate does ("CN=alice,O=Example", "alice@example.com"), with scopes. Empty: everybody
  /// whose certificate the configured authorities have signed, with `scopes`.
  std::vector<std::pair<std::string, std::vector<std::string>>> allowed{};
  std::vector<std::string> scopes{};
};
/// Callers are `CN=alice,O=Example`, `DNS:host`, `email:alice@example.com` or `URI:spiffe://…`. Of several names of the kind
/// the first that is allowed counts. Errors: invalid_argument.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_certificate_authenticator(certificate_options options);

/// User ids, with the identity of each. Errors: invalid_argument for none.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_process_authenticator(
    std::vector<std::pair<std::uint32_t, std::string>> allowed);

/// Several ways side by side. A request with a token is judged by `by_token` alone where that has any, each asked in order
/// until one takes it; a request without one by `by_connection`. Challenges and metadata are merged. Errors: invalid_argument
/// when there is none at all, or a null one.
[[nodiscard]] result<std::shared_ptr<authenticator>> make_any_authenticator(
    std::vector<std::shared_ptr<authenticator>> by_token, std::vector<std::shared_ptr<authenticator>> by_connection);

}  // namespace hondana::inline v0
