/// Access tokens of Google, obtained when they are needed and cached until they expire.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "auth/google/credentials.hpp"

namespace hondana::google {

/// Gives tokens. Threads: any.
class tokens {
 public:
  using clock = monotonic_clock;

  tokens() = default;
  tokens(const tokens&) = delete;
  tokens& operator=(const tokens&) = delete;
  virtual ~tokens() = default;

  /// One that is good for a while yet. Blocks while one is got; many threads wait for one request. Errors: unauthorized (no
  /// credentials, revoked, deleted, no delegation; the text says what to do), access_denied (a file that others can read),
  /// invalid_argument (malformed credentials), source_unavailable, too_many_requests, timed_out, cancelled, broken_protocol.
  [[nodiscard]] virtual result<std::string> token(const std::stop_token& stop, clock::time_point until) = 0;
  /// A server has refused this one (401): it is not given again.
  virtual void refused(std::string_view token) = 0;
  /// Whom files are shared with: the service account's address, or the one that it stands in for; of a person, what the file
  /// says. Empty: not known (yet).
  [[nodiscard]] virtual std::string account() = 0;
  [[nodiscard]] virtual const scopes& asked() const noexcept = 0;
};

struct token_settings {
  credential_places in{};
  scopes asked{scope::drive_readonly};
  /// Of a service account: the person of its domain that it stands in for (domain-wide delegation). Empty: itself.
  std::string subject{};
  std::string proxy{};                     ///< As `endpoint::settings::proxy`.
  std::string authorities{};               ///< As `endpoint::settings::authorities`.
  std::chrono::milliseconds time{15'000};  ///< Of one request to the token endpoint.
  /// Hears what is worth a line, never a secret: that a clock is wrong, that credentials were replaced. Threads: any.
  std::function<void(std::string_view line)> log{};
  /// The time of day; null: the system's. Only the claims of a service account are made with it.
  std::function<std::chrono::system_clock::time_point()> now{};
};

/// Reads the credentials when the first token is wanted, and again when their file has changed or they were refused: a log-in
/// is taken up without a restart. A token is got anew a minute before its end, by a clock that nobody sets. When the server
/// says that the claims' times are wrong, its `Date` is taken as the right time from then on, which is logged. What is refused
/// for good is not asked for again for half a minute, unless the file changes.
///
/// Errors: invalid_argument for a subject that is no address, or settings of requests.
[[nodiscard]] result<std::shared_ptr<tokens>> make_tokens(token_settings from);

/// What such tokens would be asked for with now. Errors: those of `find_credentials`; invalid_argument for a subject that
/// nobody there can stand in for.
[[nodiscard]] result<found_credentials> credentials_for(const token_settings& from);

/// Paths that such tokens read, for `needs::folders`; and `host:port` that they ask, as far as it is known now.
[[nodiscard]] std::vector<std::string> files_of(const token_settings& from);
[[nodiscard]] std::vector<std::string> places_of(const token_settings& from);

}  // namespace hondana::google
