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
class trouble {
 public:
  explicit trouble(std::function<void(std::string_view)> log) : log_(std::move(log)) {}

  /// Logs `line` unless the last call logged the same failure.
  void fails(const std::string& line) {
    if (exchange(line) != line && log_) log_(line);
  }
  /// Logs `line` if the last call was a failure.
  void works(std::string_view line) {
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
  constexpr std::chrono::milliseconds most{10'000};
  if (deadline - most >= now) return most;
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now), std::chrono::milliseconds(1));
}

inline constexpr std::size_t most_introspection_bytes = 64u << 10;

/// Parses an introspection answer, an object with `active`. Errors: broken_protocol. Spec: RFC 7662 section 2.2.
[[nodiscard]] result<value> read_introspection(std::string_view text);

/// Whether the answer describes a bearer access token (`token_type`, `typ`, `token_use`). Refresh and ID tokens of the same
/// server are active, too. A token bound to a proof (DPoP) is not a bearer token.
[[nodiscard]] bool is_access_token(const value& answer);

/// Asks an authorization server about tokens. Threads: any, several calls at once.
class introspection {
 public:
  introspection(introspection_options of, transport::http_client::small_caller call, std::function<void(std::string_view)> log)
      : of_(std::move(of)), call_(std::move(call)), trouble_(std::move(log)) {}

  /// Like `read_introspection`. Blocks. Errors: those of the HTTP call; unauthorized if the server rejects our client id;
  /// broken_protocol. No text contains the token or the secret.
  [[nodiscard]] result<value> ask(const std::string& token, std::chrono::steady_clock::time_point deadline);

 private:
  [[nodiscard]] result<value> answer_to(const std::string& token, std::chrono::steady_clock::time_point deadline) const;

  const introspection_options of_;
  const transport::http_client::small_caller call_;
  trouble trouble_;
};

/// Whether it is an http or https URL with a host, and without user name and fragment.
[[nodiscard]] bool is_address(const std::string& url);
/// Whether it is a valid issuer: such a URL without a query. Spec: RFC 8414 section 2.
[[nodiscard]] bool is_issuer(const std::string& url);

inline constexpr std::size_t most_metadata_bytes = 256u << 10;

/// Returns the `jwks_uri` of a metadata document. Errors: access_denied if it is about another issuer; broken_protocol if it is
/// malformed or has no `jwks_uri`.
[[nodiscard]] result<std::string> keys_place_in(std::string_view document, const std::string& issuer);

/// The keys of an issuer, as fetched. Immutable.
struct published_keys {
  jose::key_set set;
  std::string text;              ///< The JSON that the set was parsed from.
  std::uint64_t generation = 0;  ///< Changes whenever `text` changes.
  steady_time fetched{};
  std::uint64_t look = 0;  ///< Number of the fetch that returned them, see `key_ring::looks`.
};

/// Caches the published keys of an issuer, with at most one fetch at a time. Threads: any.
class key_ring {
 public:
  static constexpr std::chrono::minutes least_fresh{5};
  static constexpr std::chrono::minutes usually_fresh{15};  ///< If the issuer sends no max-age.
  static constexpr std::chrono::hours longest_fresh{1};
  /// How long keys stay in use after they are due for a fetch, or after a failed fetch. It limits the use of withdrawn keys,
  /// even on an idle server.
  static constexpr std::chrono::minutes longest_stale{5};
  static constexpr std::chrono::hours longest_kept{24};  ///< Limit while all fetches fail.
  /// Limit of fetches for unknown key ids: `most_unknown_keys` in `of_unknown_keys`. Keys may be rotated twice in a row.
  static constexpr std::size_t most_unknown_keys = 3;
  static constexpr std::chrono::seconds of_unknown_keys{30};
  static constexpr std::chrono::seconds after_failure{30};
  static constexpr std::chrono::seconds without_any{5};  ///< Pause after a failure while no keys are cached.

  struct settings {
    std::string issuer;
    std::string place;  ///< URL of the keys; empty: the `jwks_uri` of the issuer's metadata.
    transport::http_client::small_caller call;
    clocks time{};
    std::function<void(std::string_view)> log{};
  };
  enum class wish : std::uint8_t { any, unknown_key };

  explicit key_ring(settings of) : of_(std::move(of)), trouble_(of_.log) {}
  /// Stops a fetch in the background and waits for its thread.
  ~key_ring() = default;
  key_ring(const key_ring&) = delete;
  key_ring& operator=(const key_ring&) = delete;

  /// The cached keys. Null: none are cached, or they are too old to use without a fetch.
  [[nodiscard]] std::shared_ptr<const published_keys> held() const;
  /// The generation of the cached keys; 0: none.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  /// Starts to fetch cached keys that are due, on a thread of its own. The old keys stay in use meanwhile.
  void renew();
  /// Whether `obtain` would fetch now because of an unknown key id.
  [[nodiscard]] bool may_look_for_unknown() const;
  /// Estimated time until `may_look_for_unknown` is true.
  [[nodiscard]] std::chrono::seconds until_next_look() const;
  /// Number of fetches that have begun. Keys with a greater `look` were fetched after this call.
  [[nodiscard]] std::uint64_t looks() const noexcept { return looks_; }
  [[nodiscard]] bool is_fetching() const;

  /// Fetches the keys if they are due, and returns the cached ones. During a fetch of another caller, one caller waits if no
  /// keys are cached; the others return at once. Blocks. Errors: why no keys are available.
  [[nodiscard]] result<std::shared_ptr<const published_keys>> obtain(wish why, std::chrono::steady_clock::time_point deadline);

 private:
  [[nodiscard]] bool is_due(wish why, steady_time now) const;
  [[nodiscard]] bool is_stale(steady_time now) const;
  void fetch_behind(const std::stop_token& stop);
  [[nodiscard]] bool has_any(steady_time now) const;
  [[nodiscard]] std::shared_ptr<const published_keys> held_at(steady_time now) const;
  void end_fetching();
  void take(result<transport::http_client::small_answer> fetched, steady_time now);
  [[nodiscard]] result<std::string> find_place(std::chrono::steady_clock::time_point deadline,
                                               const std::stop_token& stop) const;
  [[nodiscard]] result<transport::http_client::small_answer> fetch(std::chrono::steady_clock::time_point deadline,
                                                                   const std::stop_token& stop);

  const settings of_;
  trouble trouble_;
  std::atomic<std::uint64_t> generation_{0};
  std::atomic<std::uint64_t> looks_{0};
  mutable std::mutex mutex_;
  std::condition_variable is_over_;
  bool is_fetching_ = false;
  std::size_t waiting_ = 0;
  std::shared_ptr<const published_keys> keys_;
  std::uint64_t generations_ = 0;
  std::string found_place_;  // used only by the thread that fetches
  std::optional<steady_time> place_found_;
  steady_time refresh_at_{};
  std::deque<steady_time> looked_for_unknown_;  // the most recent times
  std::optional<steady_time> failed_;
  failure why_{errc::source_unavailable, "the keys have not been fetched yet", {}};
  std::jthread renewing_;  // last member: its thread uses the others
};

}  // namespace hondana::authentication
