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
  explicit session(means with) : with_(std::move(with)) {}

  [[nodiscard]] std::optional<std::string> token();
  [[nodiscard]] result<void> obtain(const refused_token& why, const std::stop_token& stop);
  [[nodiscard]] result<void> log_in(const std::stop_token& stop);
  [[nodiscard]] result<bool> log_out(bool registrations, const std::stop_token& stop);
  [[nodiscard]] std::optional<kept_tokens> current() const;
  [[nodiscard]] const std::string& url() const noexcept { return with_.url; }

 private:
  /// Where the current tokens come from.
  enum class origin : std::uint8_t { store, refresh, login };
  class turn;

  // The following functions are called only by the thread that holds the `turn`.
  result<void> obtain_now(const refused_token& why, const std::stop_token& stop);
  result<void> load();
  /// Takes newer tokens from the store, unless they are the rejected ones.
  result<void> look_again(const std::string& refused);
  void take(std::optional<kept_tokens> found);
  /// Whether new tokens can be obtained by more than a refresh.
  [[nodiscard]] bool can_ask() const noexcept;
  result<void> renew(const std::stop_token& stop);
  result<void> after_401(const refused_token& why, const std::stop_token& stop);
  result<void> step_up(const bearer_challenge& wanted, const std::stop_token& stop);
  /// Prevents other processes from refreshing the same tokens until the result is destroyed. Null, with a log line, if the
  /// store cannot lock. Errors: timed_out, cancelled.
  result<std::shared_ptr<void>> alone(const std::stop_token& stop) const;
  /// True: there are new tokens. False: the tokens are invalid and were removed.
  result<bool> refreshed(const authority& at, const std::stop_token& stop);
  result<authority> find_authority(const std::string& hint, const std::stop_token& stop);
  /// Gets new tokens. `must_keep`: a store that cannot store them is an error; otherwise this is logged, and the tokens are
  /// used.
  result<void> get(const authority& at, const scope_set& scopes, bool must_keep, const std::stop_token& stop);
  /// The stored tokens that match the settings, if any.
  [[nodiscard]] result<std::optional<kept_tokens>> stored() const;
  /// Uses the tokens and stores them. Errors: those of the store; the tokens are used even then.
  result<void> adopt(kept_tokens what, origin by);
  result<void> forget();
  void set(std::optional<kept_tokens> what, origin by);
  /// Whether the current token is valid and not the rejected one.
  [[nodiscard]] bool has_other_than(const std::string& refused) const;
  [[nodiscard]] bool is_expired(const token_set& of) const;

  const means with_;

  mutable std::mutex mutex_{};  // never held during a request or login
  std::condition_variable_any turns_{};
  bool is_taken_ = false;
  bool is_loaded_ = false;
  std::optional<kept_tokens> kept_{};
  bool is_spent_ = false;            // the access token is not sent any more, but the refresh token may work
  std::uint64_t attempts_ = 0;       // number of finished attempts
  std::optional<failure> failed_{};  // failure of the last attempt, unless its caller cancelled it
  refused_token failed_for_{};       // the rejection that the last attempt was for

  // Used only by the thread that holds the `turn`.
  origin origin_ = origin::store;
  std::string hint_{};    // URL of the metadata, from a challenge
  std::string issuer_{};  // first issuer that the configured client was used with
};

}  // namespace hondana::oauth
