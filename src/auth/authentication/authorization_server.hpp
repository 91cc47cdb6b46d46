/// The authorization server of a resource server: its metadata, published keys and introspection (RFC 7662).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/authenticators.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "auth/authentication/clocks.hpp"
#include "auth/jose/keys.hpp"
#include "transport/http_client/small_request.hpp"

namespace hondana::authentication {

/// Logs a failure once, not each time it repeats, and logs its end. Threads: any.
class failure_log {
 public:
  explicit failure_log(std::function<void(std::string_view)> log) : log_(std::move(log)) {}

  /// Logs `line` unless the last call logged the same failure.
  void report_failure(const std::string& line) {
    if (exchange(line) != line && log_) log_(line);
  }
  /// Logs `line` if the last call was a failure.
  void report_recovery(std::string_view line) {
    if (!exchange({}).empty() && log_) log_(line);
  }

 private:
  std::string exchange(std::string line) {
    const std::lock_guard lock(mutex_);
    return std::exchange(last_, std::move(line));
  }

  const std::function<void(std::string_view)> log_;
  std::mutex mutex_;
  std::string last_;
};

/// The time until the deadline: at most 10 s, at least 1 ms. A deadline in the past thus ends in an ordinary timeout.
[[nodiscard]] inline std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point deadline) {
  const auto now = monotonic_clock::now();
  constexpr std::chrono::milliseconds max_timeout{10'000};
  if (deadline - max_timeout >= now) return max_timeout;
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now), std::chrono::milliseconds(1));
}

inline constexpr std::size_t max_introspection_bytes = 64u << 10;

/// Parses an introspection answer, an object with `active`. Errors: protocol_error. Spec: RFC 7662 section 2.2.
[[nodiscard]] result<value> read_introspection(std::string_view text);

/// Whether the answer describes a bearer access token (`token_type`, `typ`, `token_use`). Refresh and ID tokens of the same
/// server are active, too. A token bound to a proof (DPoP) is not a bearer token.
[[nodiscard]] bool is_access_token(const value& answer);

/// Asks an authorization server about tokens. Threads: any, several calls at once.
class introspection_client {
 public:
  introspection_client(introspection_options options, transport::http_client::small_request_function call,
                       std::function<void(std::string_view)> log)
      : options_(std::move(options)), call_(std::move(call)), failure_log_(std::move(log)) {}

  /// Like `read_introspection`. Blocks. Errors: those of the HTTP call; unauthorized if the server rejects our client id;
  /// protocol_error. No text contains the token or the secret.
  [[nodiscard]] result<value> introspect(const std::string& token, std::chrono::steady_clock::time_point deadline);

 private:
  [[nodiscard]] result<value> send_request(const std::string& token, std::chrono::steady_clock::time_point deadline) const;

  const introspection_options options_;
  const transport::http_client::small_request_function call_;
  failure_log failure_log_;
};

/// Whether it is an http or https URL with a host, and without user name and fragment.
[[nodiscard]] bool is_endpoint_url(const std::string& url);
/// Whether it is a valid issuer: such a URL without a query. Spec: RFC 8414 section 2.
[[nodiscard]] bool is_issuer(const std::string& url);

inline constexpr std::size_t max_metadata_bytes = 256u << 10;

/// Returns the `jwks_uri` of a metadata document. Errors: access_denied if it is about another issuer; protocol_error if it is
/// malformed or has no `jwks_uri`.
[[nodiscard]] result<std::string> parse_jwks_uri(std::string_view document, const std::string& issuer);

/// The keys of an issuer, as fetched. Immutable.
struct published_keys {
  jose::key_set set;
  std::string text;              ///< The JSON that the set was parsed from.
  std::uint64_t generation = 0;  ///< Changes whenever `text` changes.
  steady_time fetched_at{};
  std::uint64_t fetch_number = 0;  ///< Number of the fetch that returned them, see `jwks_cache::fetch_count`.
};

/// Caches the published keys of an issuer, with at most one fetch at a time. Threads: any.
class jwks_cache {
 public:
  static constexpr std::chrono::minutes min_ttl{5};
  static constexpr std::chrono::minutes default_ttl{15};  ///< If the issuer sends no max-age.
  static constexpr std::chrono::hours max_ttl{1};
  /// How long keys stay in use after they are due for a fetch, or after a failed fetch. It limits the use of withdrawn keys,
  /// even on an idle server.
  static constexpr std::chrono::minutes max_stale{5};
  static constexpr std::chrono::hours max_age{24};  ///< Limit while all fetches fail.
  /// Limit of fetches for unknown key ids: `max_unknown_key_fetches` in `unknown_key_window`. Keys may be rotated twice in a
  /// row.
  static constexpr std::size_t max_unknown_key_fetches = 3;
  static constexpr std::chrono::seconds unknown_key_window{30};
  static constexpr std::chrono::seconds retry_delay{30};
  static constexpr std::chrono::seconds empty_retry_delay{5};  ///< Pause after a failure while no keys are cached.

  struct settings {
    std::string issuer;
    std::string jwks_uri;  ///< URL of the keys; empty: the `jwks_uri` of the issuer's metadata.
    transport::http_client::small_request_function call;
    clocks time{};
    std::function<void(std::string_view)> log{};
  };
  enum class fetch_reason : std::uint8_t { no_keys, unknown_key };

  explicit jwks_cache(settings options) : settings_(std::move(options)), failure_log_(settings_.log) {}
  /// Stops a fetch in the background and waits for its thread.
  ~jwks_cache() = default;
  jwks_cache(const jwks_cache&) = delete;
  jwks_cache& operator=(const jwks_cache&) = delete;

  /// The cached keys. Null: none are cached, or they are too old to use without a fetch.
  [[nodiscard]] std::shared_ptr<const published_keys> cached() const;
  /// The generation of the cached keys; 0: none.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  /// Starts to fetch cached keys that are due, on a thread of its own. The old keys stay in use meanwhile.
  void start_refresh();
  /// Whether `obtain` would fetch now because of an unknown key id.
  [[nodiscard]] bool may_fetch_unknown() const;
  /// Estimated time until `may_fetch_unknown` is true.
  [[nodiscard]] std::chrono::seconds time_to_next_fetch() const;
  /// Number of fetches that have begun. Keys with a greater `fetch_number` were fetched after this call.
  [[nodiscard]] std::uint64_t fetch_count() const noexcept { return fetch_count_; }
  [[nodiscard]] bool is_fetching() const;

  /// Fetches the keys if they are due, and returns the cached ones. During a fetch of another caller, one caller waits if no
  /// keys are cached; the others return at once. Blocks. Errors: why no keys are available.
  [[nodiscard]] result<std::shared_ptr<const published_keys>> obtain(fetch_reason reason,
                                                                     std::chrono::steady_clock::time_point deadline);

 private:
  [[nodiscard]] bool is_due(fetch_reason reason, steady_time now) const;
  [[nodiscard]] bool is_stale(steady_time now) const;
  void fetch_in_background(const std::stop_token& stop);
  [[nodiscard]] bool has_keys(steady_time now) const;
  [[nodiscard]] std::shared_ptr<const published_keys> cached_at(steady_time now) const;
  void finish_fetch();
  void apply(result<transport::http_client::small_response> fetched, steady_time now);
  [[nodiscard]] result<std::string> discover_jwks_uri(std::chrono::steady_clock::time_point deadline,
                                                      const std::stop_token& stop) const;
  [[nodiscard]] result<transport::http_client::small_response> fetch(std::chrono::steady_clock::time_point deadline,
                                                                     const std::stop_token& stop);

  const settings settings_;
  failure_log failure_log_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::uint64_t> fetch_count_{0};
  mutable std::mutex mutex_;
  std::condition_variable fetch_finished_;
  bool is_fetching_ = false;
  std::size_t waiters_ = 0;
  std::shared_ptr<const published_keys> keys_;
  std::uint64_t last_generation_ = 0;
  std::string jwks_uri_;  // used only by the thread that fetches
  std::optional<steady_time> discovered_at_;
  steady_time refresh_at_{};
  std::deque<steady_time> unknown_key_fetches_;  // the most recent times
  std::optional<steady_time> failed_at_;
  failure failure_{errc::source_unavailable, "the keys have not been fetched yet", {}};
  std::jthread refresh_thread_;  // last member: its thread uses the others
};

}  // namespace hondana::authentication
