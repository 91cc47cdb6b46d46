/// The tokens of one MCP server: which one is sent, and the steps after a rejection.
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

/// Implements `oauth_session`.
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
  /// Where the current tokens come from.
  enum class origin : std::uint8_t { store, refresh, login };
  class token_slot;

  // The following functions are called only by the thread that holds the `token_slot`.
  result<void> obtain_now(const rejected_token& rejection, const std::stop_token& stop);
  result<void> load();
  /// Takes newer tokens from the store, unless they are the rejected ones.
  result<void> reload(const std::string& rejected_token);
  void use_stored(std::optional<token_record> entry);
  /// Whether new tokens can be obtained by more than a refresh.
  [[nodiscard]] bool can_log_in() const noexcept;
  result<void> renew(const std::stop_token& stop);
  result<void> handle_401(const rejected_token& rejection, const std::stop_token& stop);
  result<void> step_up(const bearer_challenge& challenge, const std::stop_token& stop);
  /// Prevents other processes from refreshing the same tokens until the result is destroyed. Null, with a log line, if the
  /// store cannot lock. Errors: timed_out, cancelled.
  result<std::shared_ptr<void>> lock_store(const std::stop_token& stop) const;
  /// True: there are new tokens. False: the tokens are invalid and were removed.
  result<bool> refresh_tokens(const authority& authority, const std::stop_token& stop);
  result<authority> find_authority(const std::string& metadata_hint, const std::stop_token& stop);
  /// Gets new tokens. `must_store`: a store that cannot store them is an error; otherwise this is logged, and the tokens are
  /// used.
  result<void> request_tokens(const authority& authority, const scope_set& scopes, bool must_store,
                              const std::stop_token& stop);
  /// The stored tokens that match the settings, if any.
  [[nodiscard]] result<std::optional<token_record>> find_stored() const;
  /// Uses the tokens and stores them. Errors: those of the store; the tokens are used even then.
  result<void> adopt(token_record entry, origin source);
  result<void> discard();
  void set(std::optional<token_record> entry, origin source);
  /// Whether the current token is valid and not the rejected one.
  [[nodiscard]] bool has_other_token(const std::string& rejected_token) const;
  [[nodiscard]] bool is_expired(const token_set& tokens) const;

  const session_context context_;

  mutable std::mutex mutex_{};  // never held during a request or login
  std::condition_variable_any slot_released_{};
  bool is_busy_ = false;
  bool is_loaded_ = false;
  std::optional<token_record> current_{};
  bool is_withheld_ = false;               // the access token is not sent any more, but the refresh token may work
  std::uint64_t attempts_ = 0;             // number of finished attempts
  std::optional<failure> last_failure_{};  // failure of the last attempt, unless its caller cancelled it
  rejected_token last_rejection_{};        // the rejection that the last attempt was for

  // Used only by the thread that holds the `token_slot`.
  origin origin_ = origin::store;
  std::string metadata_hint_{};  // URL of the metadata, from a challenge
  std::string issuer_{};         // first issuer that the configured client was used with
};

}  // namespace hondana::oauth
