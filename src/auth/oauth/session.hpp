/// Gets, refreshes and stores the tokens for one MCP server, and handles its rejections.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include <hondana/authorization.hpp>

#include "auth/oauth/scopes.hpp"
#include "auth/oauth/token_requests.hpp"

namespace hondana::oauth {

/// Implements `oauth_session`: the functions with the same names, `current_tokens` (`current`) and `resource` (`url`).
class session {
 public:
  explicit session(session_context context) : context_(std::move(context)) {}

  [[nodiscard]] std::optional<std::string> token();
  [[nodiscard]] result<void> obtain(const rejected_token& rejection, const std::stop_token& stop);
  [[nodiscard]] result<void> log_in(const std::stop_token& stop);
  [[nodiscard]] result<bool> log_out(bool registrations, const std::stop_token& stop);
  [[nodiscard]] std::optional<token_record> current() const;
  [[nodiscard]] const std::string& url() const noexcept { return context_.url; }

 private:
  /// Where the current tokens come from: from the store, a refresh, or a new request by a user or machine.
  enum class origin : std::uint8_t { store, refresh, login };
  class token_slot;

  // Except for `has_other_token` and `is_expired`, only the thread that holds the `token_slot` may call these functions.

  /// Implements `obtain`, without waiting for other threads.
  result<void> obtain_now(const rejected_token& rejection, const std::stop_token& stop);
  /// Reads the store on the first call.
  result<void> load();
  /// Takes newer tokens from the store, unless they are the rejected ones.
  result<void> reload(const std::optional<std::string>& rejected_token);
  void use_stored(std::optional<token_record> entry);
  /// Whether new tokens can be requested without a refresh token: by a login, or with the credentials of a machine.
  [[nodiscard]] bool can_log_in() const noexcept;
  /// Renews an expired access token without a login. If that is impossible, no token is sent until the server rejects a
  /// request.
  result<void> renew(const std::stop_token& stop);
  /// Handles a request without a valid token: refreshes, or requests new tokens.
  result<void> handle_401(const rejected_token& rejection, const std::stop_token& stop);
  /// Handles a 403 for missing scopes: requests tokens with more scopes.
  result<void> step_up(const bearer_challenge& challenge, const std::stop_token& stop);
  /// Prevents other processes from refreshing the same tokens until the result is destroyed. Null, with a log line, if the
  /// store cannot lock. Errors: timed_out, cancelled.
  result<std::shared_ptr<void>> lock_store(const std::stop_token& stop) const;
  /// Refreshes the current tokens, or takes newer ones from the store. False: they cannot be refreshed; they were removed if
  /// the server rejected them. Errors: those of `lock_store`, of the store, and of a refresh that may succeed later.
  result<bool> refresh_tokens(const authority& authority, const std::stop_token& stop);
  /// Calls `discover` for this server.
  result<authority> find_authority(const std::string& metadata_hint, const std::stop_token& stop);
  /// Gets new tokens by `get_tokens`, and uses them. `must_store`: a failure to store them is an error; otherwise it is logged.
  result<void> request_tokens(const authority& authority, const scope_set& scopes, bool must_store,
                              const std::stop_token& stop);
  /// The latest stored tokens that match client id, issuer and scopes of the settings.
  [[nodiscard]] result<std::optional<token_record>> find_stored() const;
  /// Uses the tokens, and stores them in place of the current ones. Errors: those of the store; the tokens are used even then.
  result<void> adopt(token_record entry, origin source);
  /// Stops using the current tokens, and removes them from the store unless it has newer ones.
  result<void> discard();
  /// Replaces the current tokens in memory.
  void set(std::optional<token_record> entry, origin source);
  /// Whether the current access token can be sent and is not the rejected one.
  [[nodiscard]] bool has_other_token(const std::optional<std::string>& rejected_token) const;
  /// Whether the access token has expired, or will within a tenth of its lifetime, at most 30 s.
  [[nodiscard]] bool is_expired(const token_set& tokens) const;

  const session_context context_;

  mutable std::mutex mutex_{};  // never held during a request or login
  std::condition_variable_any slot_released_{};
  bool is_busy_ = false;    // a thread holds the `token_slot`
  bool is_loaded_ = false;  // the store has been read
  std::optional<token_record> current_{};
  bool is_withheld_ = false;               // the access token is not sent any more, but the refresh token may work
  std::uint64_t attempts_ = 0;             // number of finished calls of `obtain_now`
  std::optional<failure> last_failure_{};  // failure of the last of them, unless its caller cancelled it
  rejected_token last_rejection_{};        // the rejection that it was for

  // Used only by the thread that holds the `token_slot`.
  origin origin_ = origin::store;
  std::string metadata_hint_{};  // URL of the metadata, from a challenge
  std::string issuer_{};         // first issuer that the configured client was used with
};

}  // namespace hondana::oauth
