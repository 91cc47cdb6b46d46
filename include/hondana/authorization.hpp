/// How a client gets tokens from authorization servers: OAuth 2.1, as every revision since 2025-03-26 has it.
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

/// What tokens are kept under. Tokens of one issuer, resource, client or set of scopes are never used for another.
struct token_key {
  std::string issuer{};     ///< Of the authorization server, exactly as it spells it.
  std::string resource{};   ///< The URL of the MCP server, as `oauth_session::resource` spells it.
  std::string client_id{};  ///< Who we are there.
  std::string scope{};      ///< What was asked for: sorted, with one space between; may be empty.
  bool operator==(const token_key&) const = default;
};

struct token_set {
  std::string access_token{};
  std::string refresh_token{};                                           ///< Empty: none was given.
  std::optional<std::chrono::sys_time<std::chrono::seconds>> expires{};  ///< Of the access token; nothing: not said.
  std::chrono::sys_time<std::chrono::seconds> since{};                   ///< When it was given to us.
  std::string scope{};                                                   ///< What was granted, spelled as in the key.
  bool operator==(const token_set&) const = default;
};

struct kept_tokens {
  token_key key{};
  token_set tokens{};
  bool operator==(const kept_tokens&) const = default;
};

/// What we are registered as at one authorization server.
struct client_registration {
  std::string client_id{};
  std::string client_secret{};                                                  ///< Empty: none.
  std::optional<std::chrono::sys_time<std::chrono::seconds>> secret_expires{};  ///< Nothing: never.
  std::string method{};        ///< `token_endpoint_auth_method`: "none", "client_secret_basic", "client_secret_post".
  std::string redirect_uri{};  ///< It was made for; empty: nobody logs in with it any more, its tokens are refreshed.
  std::string key_file{};      ///< A PEM file with the private key of a client that has one; its text is not kept.
  bool by_hand = false;        ///< Somebody has registered it, and told us; otherwise it was registered dynamically.
  bool is_machine = false;     ///< It stands for itself, by client credentials.
  bool operator==(const client_registration&) const = default;
};

/// Keeps tokens and registrations. All of them are secrets. Threads: any, several calls at once; other processes may use the
/// same store. Calls may block. Errors: source_unavailable, whose text names the store.
class token_store {
 public:
  token_store() = default;
  token_store(const token_store&) = delete;
  token_store& operator=(const token_store&) = delete;
  virtual ~token_store() = default;

  /// All that is kept for a resource, in any order.
  [[nodiscard]] virtual result<std::vector<kept_tokens>> find(const std::string& resource) = 0;
  /// Keeps them in the place of what the key had.
  [[nodiscard]] virtual result<void> put(const kept_tokens& what) = 0;
  /// Success when there are none, too.
  [[nodiscard]] virtual result<void> remove(const token_key& key) = 0;

  /// Keeps others out who ask for the same, in every process that uses this store, until what it gives is destroyed. Somebody
  /// who refreshes holds it from looking until the new tokens are put: refresh tokens are mostly good for one use. Does not
  /// hinder the other calls. Errors: timed_out when others hold it for longer than `most`; cancelled.
  [[nodiscard]] virtual result<std::shared_ptr<void>> lock(const std::string& resource, std::chrono::milliseconds most,
                                                           const std::stop_token& stop) = 0;

  /// All registrations at an issuer, the latest last: tokens of each may be in use.
  [[nodiscard]] virtual result<std::vector<client_registration>> registrations(const std::string& issuer) = 0;
  /// Keeps it in the place of what the same client id had there.
  [[nodiscard]] virtual result<void> put_registration(const std::string& issuer, const client_registration& what) = 0;
  /// Success when there is none, too.
  [[nodiscard]] virtual result<void> remove_registration(const std::string& issuer, const std::string& client_id) = 0;
};

/// One that forgets everything with the process.
[[nodiscard]] std::shared_ptr<token_store> make_token_store_in_memory();

/// Brings the user to the authorization server and back. Threads: one call at a time.
class login_page {
 public:
  login_page() = default;
  login_page(const login_page&) = delete;
  login_page& operator=(const login_page&) = delete;
  virtual ~login_page() = default;

  /// Where the user shall be sent back to: https, or http on this machine. From now on somebody listens there, until `visit`
  /// has returned or `begin` is called again. `before`: what we are registered with already, which is to be used again if it
  /// can be; empty: nothing. Errors: source_unavailable.
  [[nodiscard]] virtual result<std::string> begin(const std::string& before) = 0;
  /// Shows the user `url`, which is https, or http on this machine, and holds no shell's words: it must not be given to one.
  /// Gives the whole URL that the user was sent back to; whether it is the right one is checked by the caller. Errors:
  /// timed_out, cancelled, source_unavailable.
  [[nodiscard]] virtual result<std::string> visit(const std::string& url, const std::stop_token& stop) = 0;
};

enum class oauth_grant {
  authorization_code,  ///< Somebody logs in.
  client_credentials,  ///< We are a machine that has a secret or key of its own.
};

struct oauth_settings {
  oauth_grant grant = oauth_grant::authorization_code;

  /// Who we are, if we were registered by hand; empty: by `metadata_url` or, failing that, by dynamic registration.
  std::string client_id{};
  std::string client_secret{};
  std::string private_key{};  ///< A PEM text, not encrypted: RSA from 2048 bits, P-256 or Ed25519. Instead of the secret.
  std::string key_id{};       ///< Its `kid`, if it has one.
  /// The authorization server that `client_id` is of. Any other is refused. Empty: the one that the MCP server names first,
  /// which is no choice where there is a `client_secret`, unless `any_issuer`.
  std::string issuer{};
  bool any_issuer = false;  ///< The MCP server is trusted to name who gets the secret.
  /// The https URL of our Client ID Metadata Document, for authorization servers that support them.
  std::string metadata_url{};
  std::string client_name = "hondana";  ///< For people, in dynamic registration.

  /// Asked for besides what the MCP server asks for.
  std::vector<std::string> scopes{};

  std::shared_ptr<token_store> store{};  ///< Null: one in memory.
  std::shared_ptr<login_page> login{};   ///< Null: nobody can log in; tokens at hand are used and refreshed.
  std::vector<std::string> hosts{};      ///< Authorization servers that may be on private networks, besides the MCP server.
  std::string authorities{};             ///< A PEM file of certificates to trust instead of the system's.
  std::string certificate{};             ///< A PEM file, shown in TLS to the MCP server's own origin and to nobody else.
  std::string certificate_key{};         ///< A PEM file with its key; empty: it is in the same file.
  /// A URL; empty: for https: what https_proxy and no_proxy say; "none": no proxy.
  std::string proxy{};
  std::chrono::milliseconds call_time{10'000};  ///< For each request to an authorization server.

  /// Said when there is neither token nor `login`, after what is missing: "log in with `…`".
  std::string advice = "log in first";
  /// Hears what is done, never a secret: which issuer, which scopes. Threads: any; it must not call the session.
  std::function<void(std::string_view line)> log{};
};

/// The tokens of one MCP server. Threads: any, also several clients with one session: one of them obtains, and the others take
/// what it has got.
class oauth_session final : public token_source {
 public:
  /// Of the MCP server at `url`. Nothing is sent yet. Errors: invalid_argument for a URL, key or settings that cannot be.
  [[nodiscard]] static result<std::shared_ptr<oauth_session>> of(const std::string& url, oauth_settings settings);
  ~oauth_session() override;

  /// Before the first `obtain` it gives nothing, so that the store is asked there, where it may block; when that has nothing
  /// either, the empty token is given.
  [[nodiscard]] std::optional<std::string> token() override;
  [[nodiscard]] result<void> obtain(const refused_token& why, const std::stop_token& stop) override;

  /// Gets new tokens now, whatever is at hand. Errors: as `obtain`.
  [[nodiscard]] result<void> log_in(const std::stop_token& stop);
  /// Forgets all tokens of this resource, and tells the authorization server if it can be told (RFC 7009); they are forgotten
  /// in any case. False: there were none. `registrations`: those at its issuers, too. Errors: those of the store; that the
  /// authorization server could not be told is only logged.
  [[nodiscard]] result<bool> log_out(bool registrations, const std::stop_token& stop);

  /// What tokens are kept under: the URL of the MCP server with scheme and host in lower case, and no fragment.
  [[nodiscard]] const std::string& resource() const noexcept;
  /// What is used now, without secrets in it: both tokens are empty. Nothing: none is.
  [[nodiscard]] std::optional<kept_tokens> current() const;

 private:
  struct inner;
  explicit oauth_session(std::unique_ptr<inner> of) noexcept;
  std::unique_ptr<inner> inner_;
};

}  // namespace hondana::inline v0
