/// The tokens of one MCP server: which one is sent, and what is done when it is rejected.
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

/// See `oauth_session`.
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
  /// How the tokens at hand were come by.
  enum class origin : std::uint8_t { store, refresh, login };
  class turn;

  // All below is called by whoever has the turn.
  result<void> obtain_now(const refused_token& why, const std::stop_token& stop);
  result<void> load();
  /// Takes what the store has got since, if that is not what was refused.
  result<void> look_again(const std::string& refused);
  void take(std::optional<kept_tokens> found);
  /// Whether new tokens can be had by more than a refresh.
  [[nodiscard]] bool can_ask() const noexcept;
  result<void> renew(const std::stop_token& stop);
  result<void> after_401(const refused_token& why, const std::stop_token& stop);
  result<void> step_up(const bearer_challenge& wanted, const std::stop_token& stop);
  /// Keeps other processes from refreshing the same tokens until it is destroyed. Null, and logged: the store has no such lock.
  /// Errors: timed_out, cancelled.
  result<std::shared_ptr<void>> alone(const std::stop_token& stop) const;
  /// True: there are new ones. False: they are of no use any more and are forgotten.
  result<bool> refreshed(const authority& at, const std::stop_token& stop);
  result<authority> find_authority(const std::string& hint, const std::stop_token& stop);
  /// New tokens. `must_keep`: that the store cannot keep them is an error; otherwise it is logged, since they serve all the
  /// same.
  result<void> get(const authority& at, const scope_set& scopes, bool must_keep, const std::stop_token& stop);
  /// The tokens that a store has of us, if it has any.
  [[nodiscard]] result<std::optional<kept_tokens>> stored() const;
  /// Keeps them in memory in any case. Errors: those of the store.
  result<void> adopt(kept_tokens what, origin by);
  result<void> forget();
  void set(std::optional<kept_tokens> what, origin by);
  /// Whether the token that would be sent now is another than the one that was refused.
  [[nodiscard]] bool has_other_than(const std::string& refused) const;
  [[nodiscard]] bool is_expired(const token_set& of) const;

  const means with_;

  mutable std::mutex mutex_{};  // never held while somebody is asked
  std::condition_variable_any turns_{};
  bool is_taken_ = false;
  bool is_loaded_ = false;
  std::optional<kept_tokens> kept_{};
  bool is_spent_ = false;            // the access token is not sent any more, the refresh token may serve
  std::uint64_t attempts_ = 0;       // that have ended
  std::optional<failure> failed_{};  // the last of them, not by its caller's wish
  refused_token failed_for_{};       // what was to be mended then

  // Of whoever has the turn.
  origin origin_ = origin::store;
  std::string hint_{};    // where the server said its metadata is
  std::string issuer_{};  // that the configured client was used with first
};

}  // namespace hondana::oauth
