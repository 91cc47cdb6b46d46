/// Google access tokens, requested when needed and cached until they expire.
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

/// Returns access tokens. Threads: any.
class access_token_source {
 public:
  using clock = monotonic_clock;

  access_token_source() = default;
  access_token_source(const access_token_source&) = delete;
  access_token_source& operator=(const access_token_source&) = delete;
  virtual ~access_token_source() = default;

  /// Returns a token that has not expired. Requests one if necessary, which blocks; concurrent callers share one request.
  /// Errors: unauthorized if the credentials are missing, revoked or deleted, or if there is no delegation; the text says what
  /// to do. access_denied for a file that others can read; invalid_argument for malformed credentials; source_unavailable (also
  /// for too many requests), timed_out, cancelled, protocol_error.
  [[nodiscard]] virtual result<std::string> token(const std::stop_token& stop, clock::time_point deadline) = 0;
  /// Call this when a server has rejected a token (401), so that it is not returned again.
  virtual void invalidate(std::string_view token) = 0;
  /// The e-mail address that files must be shared with: of the service account, of the user that it impersonates, or of the
  /// user in the credentials. Empty: not known; it may be known after the first call of `token`.
  [[nodiscard]] virtual std::string account() = 0;
  [[nodiscard]] virtual const scopes& requested_scopes() const noexcept = 0;
};

struct token_settings {
  credential_locations locations{};
  scopes requested_scopes{scope::drive_readonly};
  /// For a service account: the user that it impersonates (domain-wide delegation). Empty: the service account itself.
  std::string subject{};
  std::string proxy{};                        ///< See `endpoint::settings::proxy`.
  std::string ca_file{};                      ///< See `endpoint::settings::ca_file`.
  std::chrono::milliseconds timeout{15'000};  ///< Timeout of one request to the token endpoint.
  /// Receives log lines without secrets, for example when the clock is wrong or credentials were replaced. Threads: any.
  std::function<void(std::string_view line)> log{};
  /// The wall clock; null: that of the system. Used only for the claims of a service account.
  std::function<std::chrono::system_clock::time_point()> now{};
};

/// Makes a token source. It reads the credentials for the first token, and again when their file changes, so that a new login
/// needs no restart. Tokens are renewed 60 s before they expire, or when a fifth of a shorter lifetime remains. If the server
/// rejects the times in the claims, the source logs a line and uses the time of the server's `Date` from then on. After a final
/// rejection the source sends no request for 30 s, unless the file changes.
///
/// Errors: invalid_argument if no scope is requested, if the subject is not an e-mail address, or for invalid connection
/// settings.
[[nodiscard]] result<std::shared_ptr<access_token_source>> make_access_token_source(token_settings settings);

/// Returns the credentials that a token source with these settings would use now. Errors: those of `find_credentials`;
/// invalid_argument if a subject is set but the credentials are not of a service account.
[[nodiscard]] result<found_credentials> credentials_for(const token_settings& settings);

/// The files that a token source with these settings may read, including `ca_file`. For `system_requirements::folders`.
[[nodiscard]] std::vector<std::string> credential_files(const token_settings& settings);
/// The token endpoints that a token source with these settings contacts, as `host:port`, as far as they are known now.
[[nodiscard]] std::vector<std::string> token_addresses(const token_settings& settings);

}  // namespace hondana::google
