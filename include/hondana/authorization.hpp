/// OAuth 2.1 for clients: gets tokens from authorization servers, as all protocol revisions since 2025-03-26 specify.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/token_source.hpp>

namespace hondana::inline v0 {

/// The key under which tokens are stored. Tokens are used only for their own issuer, resource and client.
struct token_key {
  std::string issuer{};     ///< The authorization server's issuer identifier, spelled exactly as in its metadata.
  std::string resource{};   ///< The URL of the MCP server, as `oauth_session::resource` returns it.
  std::string client_id{};  ///< Our client id at the issuer.
  std::string scope{};      ///< The requested scopes, sorted and separated by one space; may be empty.
  bool operator==(const token_key&) const = default;
};

/// The tokens from one token response.
struct token_set {
  std::string access_token{};
  std::optional<std::string> refresh_token{};
  std::optional<std::chrono::sys_time<std::chrono::seconds>> expires_at{};  ///< Expiry of the access token. nullopt: unknown.
  std::chrono::sys_time<std::chrono::seconds> issued_at{};
  std::string scope{};  ///< The granted scopes, spelled as in `token_key::scope`.
  bool operator==(const token_set&) const = default;
};

/// Stored tokens with their key.
struct token_record {
  token_key key{};
  token_set tokens{};
  bool operator==(const token_record&) const = default;
};

/// Our registration at one authorization server.
struct client_registration {
  std::string client_id{};
  std::optional<std::string> client_secret{};
  std::optional<std::chrono::sys_time<std::chrono::seconds>> secret_expires_at{};  ///< nullopt: never.
  /// `token_endpoint_auth_method`: "none", "client_secret_basic", "client_secret_post". nullopt: by the server's metadata.
  std::optional<std::string> auth_method{};
  /// The registered redirect URI. nullopt: the registration is used only to refresh tokens, not for new log-ins.
  std::optional<std::string> redirect_uri{};
  std::optional<std::string> key_file{};  ///< A PEM file with the client's private key, which is not stored itself.
  bool is_manual = false;                 ///< The user registered the client and configured it. False: registered dynamically.
  bool is_machine = false;                ///< The client uses `oauth_grant::client_credentials`.
  bool operator==(const client_registration&) const = default;
};

/// Stores tokens and registrations, all of which are secrets. Threads: any, several calls at once. Calls may block. Errors of
/// all calls: source_unavailable; the text names the store.
class token_store {
 public:
  token_store() = default;
  token_store(const token_store&) = delete;
  token_store& operator=(const token_store&) = delete;
  virtual ~token_store() = default;

  /// Returns all tokens stored for a resource, in any order.
  [[nodiscard]] virtual result<std::vector<token_record>> find(const std::string& resource) = 0;
  /// Stores tokens, replacing those with the same key.
  [[nodiscard]] virtual result<void> put(const token_record& record) = 0;
  /// Removes the tokens with this key, if there are any.
  [[nodiscard]] virtual result<void> remove(const token_key& key) = 0;

  /// Locks a resource for all users of this store, also in other processes, until the returned object is destroyed. A session
  /// holds the lock during a refresh, because most refresh tokens can be used once. It excludes other calls of `lock` only.
  /// Errors: also timed_out after `timeout`; cancelled.
  [[nodiscard]] virtual result<std::shared_ptr<void>> lock(const std::string& resource, std::chrono::milliseconds timeout,
                                                           const std::stop_token& stop) = 0;

  /// Returns all registrations at an issuer, the latest last. Stored tokens may belong to any of them.
  [[nodiscard]] virtual result<std::vector<client_registration>> registrations(const std::string& issuer) = 0;
  /// Stores a registration, replacing that of the same client id.
  [[nodiscard]] virtual result<void> put_registration(const std::string& issuer, const client_registration& registration) = 0;
  /// Removes the registration of this client id, if there is one.
  [[nodiscard]] virtual result<void> remove_registration(const std::string& issuer, const std::string& client_id) = 0;
};

/// Makes a store in memory.
[[nodiscard]] std::shared_ptr<token_store> make_memory_token_store();

/// Sends the user to the authorization server, and receives the redirect. Threads: any; a session makes one call at a time.
class login_handler {
 public:
  login_handler() = default;
  login_handler(const login_handler&) = delete;
  login_handler& operator=(const login_handler&) = delete;
  virtual ~login_handler() = default;

  /// Starts to listen for the redirect. Returns the redirect URI: https, or http on this machine. Listening ends when `visit`
  /// returns or `listen` is called again. `registered_uri`: the redirect URI that is already registered, to be used again if
  /// possible; nullopt: none. Errors: source_unavailable.
  [[nodiscard]] virtual result<std::string> listen(const std::optional<std::string>& registered_uri) = 0;
  /// Opens `url` for the user, waits for the redirect, and returns its whole URL, which the caller validates. `url` is https,
  /// or http on this machine. It is not quoted for a shell: do not pass it to one. Errors: timed_out, cancelled,
  /// source_unavailable.
  [[nodiscard]] virtual result<std::string> visit(const std::string& url, const std::stop_token& stop) = 0;
};

/// How tokens are obtained.
enum class oauth_grant {
  authorization_code,  ///< A user logs in.
  client_credentials,  ///< A program authenticates with its own secret or key.
};

/// Options of an OAuth session.
struct oauth_client_options {
  oauth_grant grant = oauth_grant::authorization_code;

  /// Our client id, if the client was registered manually. nullopt: `metadata_url`, or else dynamic registration.
  std::optional<std::string> client_id{};
  std::optional<std::string> client_secret{};
  /// PEM text of an unencrypted key, instead of the secret: RSA from 2048 bits, P-256 or Ed25519.
  std::optional<std::string> private_key{};
  std::optional<std::string> key_id{};  ///< The key's `kid`.
  /// The issuer identifier of the only authorization server to use. nullopt: that of the stored tokens, or the first one that
  /// the MCP server names. With `client_secret` it is required, unless `trusts_any_issuer`.
  std::optional<std::string> issuer{};
  bool trusts_any_issuer = false;  ///< Trusts the MCP server to choose which authorization server gets the secret.
  /// The https URL of our Client ID Metadata Document, for authorization servers that support them.
  std::optional<std::string> metadata_url{};
  std::string client_name = "hondana";  ///< Name that dynamic registration sends, for users.

  /// Scopes to request in addition to those that the MCP server names.
  std::vector<std::string> scopes{};

  std::shared_ptr<token_store> store{};    ///< Null: in memory.
  std::shared_ptr<login_handler> login{};  ///< Null: no interactive log-in. Stored tokens are used and refreshed.
  /// Host names of authorization servers that may have private addresses, besides the hosts of the MCP server and of `issuer`.
  std::vector<std::string> private_hosts{};
  std::optional<std::string> ca_file{};  ///< PEM file of certificates to trust instead of the system's.
  /// PEM file of a client certificate, which only the MCP server's own origin gets.
  std::optional<std::string> certificate_file{};
  std::optional<std::string> key_file{};  ///< PEM file of the certificate's key. nullopt: in `certificate_file`.
  /// URL of a proxy. nullopt: for https:, the variables https_proxy and no_proxy decide. "none": no proxy.
  std::optional<std::string> proxy{};
  std::chrono::milliseconds request_timeout{10'000};  ///< For each request to an authorization server.

  /// What to do if a log-in is necessary but `login` is null; appended to the error: "log in with `…`".
  std::string login_advice = "log in first";
  /// Receives log lines, such as issuer and scopes; never secrets. Threads: any. Must not call the session.
  std::function<void(std::string_view line)> log{};
};

/// The tokens of one MCP server. Several clients can share it: one call gets a token, and the others wait for it. Threads: any.
class oauth_session final : public token_source {
 public:
  /// Makes a session for the MCP server at `url`; sends nothing. Errors: invalid_argument for an invalid URL, key or option.
  [[nodiscard]] static result<std::shared_ptr<oauth_session>> create(const std::string& url, oauth_client_options options);
  ~oauth_session() override;

  /// As `token_source::token`. nullopt before the first `obtain`, which reads the store, and when the token has expired. Empty
  /// if there is no usable token.
  [[nodiscard]] std::optional<std::string> token() override;
  [[nodiscard]] result<void> obtain(const rejected_token& rejection, const std::stop_token& stop) override;

  /// Gets new tokens, even if there are valid ones. Errors: as `obtain`; those of the store; unsupported if the MCP server does
  /// not require authentication.
  [[nodiscard]] result<void> log_in(const std::stop_token& stop);
  /// Deletes all tokens of this resource, and revokes them at the authorization server if possible (RFC 7009). They are deleted
  /// even if the revocation fails, which is only logged. `registrations`: also deletes all stored registrations, of any
  /// resource, at the issuers of these tokens. Returns false if there were no tokens. Errors: those of the store; cancelled.
  [[nodiscard]] result<bool> log_out(bool registrations, const std::stop_token& stop);

  /// The URL of the MCP server, with scheme and host in lower case and no fragment, as in `token_key::resource`.
  [[nodiscard]] const std::string& resource() const noexcept;
  /// The current tokens, with `access_token` left empty and without `refresh_token`. nullopt: none.
  [[nodiscard]] std::optional<token_record> current_tokens() const;

 private:
  struct inner;
  explicit oauth_session(std::unique_ptr<inner> impl) noexcept;
  std::unique_ptr<inner> inner_;
};

}  // namespace hondana::inline v0
