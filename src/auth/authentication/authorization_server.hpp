/// Requests of a resource server to its authorization server: metadata, published keys and introspection (RFC 7662).
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

/// Logs a failure once, not each time it repeats, and its end. A null log function logs nothing. Threads: any.
class failure_log {
 public:
  explicit failure_log(std::function<void(std::string_view)> log) : log_(std::move(log)) {}

  /// Logs `line` unless the last call of either function reported the same failure.
  void report_failure(const std::string& line) {
    if (exchange(line) != line && log_) log_(line);
  }
  /// Logs `line` if the last call of either function was `report_failure`.
  void report_recovery(std::string_view line) {
    if (!exchange({}).empty() && log_) log_(line);
  }

 private:
  /// Stores the line and returns the previous one; empty: no failure.
  std::string exchange(std::string line) {
    const std::lock_guard lock(mutex_);
    return std::exchange(last_, std::move(line));
  }

  const std::function<void(std::string_view)> log_;
  std::mutex mutex_;
  std::string last_;
};

/// Returns the timeout of a request that must end by `deadline`: at most 10 s, and 1 ms if the deadline has passed.
[[nodiscard]] inline std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point deadline) {
  const auto now = monotonic_clock::now();
  constexpr std::chrono::milliseconds max_timeout{10'000};
  if (deadline - max_timeout >= now) return max_timeout;
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now), std::chrono::milliseconds(1));
}

inline constexpr std::size_t max_introspection_bytes = 64u << 10;

/// Parses an introspection answer: an object with a boolean `active`. Errors: protocol_error. Spec: RFC 7662 section 2.2.
[[nodiscard]] result<value> read_introspection(std::string_view text);

/// Whether an introspection answer can describe a bearer access token: `token_type`, `typ` and `token_use` are absent or say
/// so. False for active refresh tokens, ID tokens, and tokens that need a proof of possession (DPoP).
[[nodiscard]] bool is_access_token(const value& answer);

/// Asks an authorization server about tokens, and logs when this begins to fail or works again. Threads: any, also at once.
class introspection_client {
 public:
  /// `call` sends the HTTP requests. `log` may be null.
  introspection_client(introspection_options options, transport::http_client::small_request_function call,
                       std::function<void(std::string_view)> log)
      : options_(std::move(options)), call_(std::move(call)), failure_log_(std::move(log)) {}

  /// Sends the token and returns the answer, parsed by `read_introspection`; the token may be inactive. Blocks. Errors: those
  /// of the HTTP call; unauthorized if the server rejects our client id or secret; protocol_error for any other answer. No
  /// error text contains the token or the secret.
  [[nodiscard]] result<value> introspect(const std::string& token, std::chrono::steady_clock::time_point deadline);

 private:
  /// Like `introspect`, without logging.
  [[nodiscard]] result<value> send_request(const std::string& token, std::chrono::steady_clock::time_point deadline) const;

  const introspection_options options_;
  const transport::http_client::small_request_function call_;
  failure_log failure_log_;
};

/// Whether `url` is an http or https URL of at most 2048 bytes, without user name and fragment.
[[nodiscard]] bool is_endpoint_url(const std::string& url);
/// Whether `url` is a valid issuer: an endpoint URL without a query. Spec: RFC 8414 section 2.
[[nodiscard]] bool is_issuer(const std::string& url);

inline constexpr std::size_t max_metadata_bytes = 256u << 10;

/// Returns the `jwks_uri` of an authorization server's metadata. Errors: access_denied if `document` is about another issuer;
/// protocol_error if it is malformed or has no `jwks_uri`.
[[nodiscard]] result<std::string> parse_jwks_uri(std::string_view document, const std::string& issuer);

/// The public keys of an issuer, as fetched from its `jwks_uri`. Immutable.
struct published_keys {
  jose::key_set set;
  std::string text;                ///< The JSON that the set was parsed from.
  std::uint64_t generation = 0;    ///< Differs after each fetch of a different `text`; from 1.
  steady_time fetched_at{};        ///< When the latest fetch returned this text.
  std::uint64_t fetch_number = 0;  ///< The `jwks_cache::fetch_count` of the latest fetch that returned this text.
};

/// Caches the public keys (JSON Web Key Set) of one issuer, with at most one fetch at a time. Threads: any.
class jwks_cache {
 public:
  /// Keys are due for a fetch after the `max-age` of their answer, but not before `min_ttl` and not after `max_ttl`.
  static constexpr std::chrono::minutes min_ttl{5};
  static constexpr std::chrono::minutes default_ttl{15};  ///< If the issuer sends no max-age.
  static constexpr std::chrono::hours max_ttl{1};
  /// How long keys stay in use after they are due, and after each failed fetch. It limits the use of withdrawn keys, even on an
  /// idle server.
  static constexpr std::chrono::minutes max_stale{5};
  static constexpr std::chrono::hours max_age{24};  ///< Older keys are not used, even if all fetches fail.
  /// At most so many fetches for unknown keys within `unknown_key_window`.
  static constexpr std::size_t max_unknown_key_fetches = 3;
  static constexpr std::chrono::seconds unknown_key_window{30};
  static constexpr std::chrono::seconds retry_delay{30};       ///< Before `start_refresh` retries a failed fetch.
  static constexpr std::chrono::seconds empty_retry_delay{5};  ///< Before `obtain` retries a failed fetch without cached keys.

  struct settings {
    std::string issuer;
    std::string jwks_uri;                                 ///< URL of the keys; empty: the `jwks_uri` of the issuer's metadata.
    transport::http_client::small_request_function call;  ///< Sends the HTTP requests.
    clocks time{};
    std::function<void(std::string_view)> log{};  ///< May be null.
  };
  /// Why a caller needs a fetch: no keys are cached, or a token is signed by a key that is not cached.
  enum class fetch_reason : std::uint8_t { no_keys, unknown_key };

  explicit jwks_cache(settings options) : settings_(std::move(options)), failure_log_(settings_.log) {}
  /// Stops a fetch in the background and waits for its thread.
  ~jwks_cache() = default;
  jwks_cache(const jwks_cache&) = delete;
  jwks_cache& operator=(const jwks_cache&) = delete;

  /// Returns the cached keys without a fetch. Null: none are cached, or they are too old (`max_stale`, `max_age`).
  [[nodiscard]] std::shared_ptr<const published_keys> cached() const;
  /// The `published_keys::generation` of the last fetched keys, even if they are too old; 0: none were fetched.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  /// Starts to fetch cached keys that are due, on a thread of this cache. The old keys stay in use meanwhile. Does nothing
  /// during a fetch, and within `retry_delay` after a failed one.
  void start_refresh();
  /// Whether `obtain(fetch_reason::unknown_key)` would fetch now.
  [[nodiscard]] bool may_fetch_unknown() const;
  /// Estimates the time until `may_fetch_unknown` is true.
  [[nodiscard]] std::chrono::seconds time_to_next_fetch() const;
  /// The number of fetches that have begun. Keys with a greater `fetch_number` were requested after this call.
  [[nodiscard]] std::uint64_t fetch_count() const noexcept { return fetch_count_; }
  [[nodiscard]] bool is_fetching() const;

  /// Returns the cached keys, after a fetch if `reason` requires and the limits allow one. If that fetch fails, cached keys are
  /// returned nevertheless. During a fetch of another thread, callers get the cached keys at once; without cached keys, one
  /// caller waits for the fetch, and others get an error. Blocks. Errors: the last failure, if no keys are cached.
  [[nodiscard]] result<std::shared_ptr<const published_keys>> obtain(fetch_reason reason,
                                                                     std::chrono::steady_clock::time_point deadline);

 private:
  /// Whether `obtain` must and may fetch.
  [[nodiscard]] bool is_due(fetch_reason reason, steady_time now) const;
  /// Whether `start_refresh` must fetch.
  [[nodiscard]] bool is_stale(steady_time now) const;
  /// Runs on `refresh_thread_`.
  void fetch_in_background(const std::stop_token& stop);
  /// Whether keys younger than `max_age` are cached.
  [[nodiscard]] bool has_keys(steady_time now) const;
  /// Like `cached`. The caller must hold `mutex_`.
  [[nodiscard]] std::shared_ptr<const published_keys> cached_at(steady_time now) const;
  /// Resets `is_fetching_`, and wakes the waiting caller.
  void finish_fetch();
  /// Parses and stores the fetched keys, or stores and logs the failure. The caller must hold `mutex_`.
  void apply(result<transport::http_client::small_response> fetched, steady_time now);
  /// Reads the `jwks_uri` from the issuer's metadata. Errors: access_denied for metadata of another issuer; source_unavailable.
  [[nodiscard]] result<std::string> discover_jwks_uri(std::chrono::steady_clock::time_point deadline,
                                                      const std::stop_token& stop) const;
  /// Requests the keys, and the metadata first if necessary. Only the thread that set `is_fetching_` may call it.
  [[nodiscard]] result<transport::http_client::small_response> fetch(std::chrono::steady_clock::time_point deadline,
                                                                     const std::stop_token& stop);

  const settings settings_;
  failure_log failure_log_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::uint64_t> fetch_count_{0};
  mutable std::mutex mutex_;
  std::condition_variable fetch_finished_;
  bool is_fetching_ = false;
  std::size_t waiters_ = 0;                     // callers that wait for the fetch in `obtain`
  std::shared_ptr<const published_keys> keys_;  // null: none were fetched yet
  std::uint64_t last_generation_ = 0;
  std::string jwks_uri_;                         // from the metadata; used only by the thread that fetches
  std::optional<steady_time> discovered_at_;     // when `jwks_uri_` was read; empty: it must be read again
  steady_time refresh_at_{};                     // when `keys_` are due for a fetch
  std::deque<steady_time> unknown_key_fetches_;  // start times of the last fetches for unknown keys
  std::optional<steady_time> failed_at_;         // end of the last fetch, if it failed
  failure failure_{errc::source_unavailable, "the keys have not been fetched yet", {}};  // of the last failed fetch
  std::jthread refresh_thread_;  // last member: its thread uses the others
};

}  // namespace hondana::authentication
