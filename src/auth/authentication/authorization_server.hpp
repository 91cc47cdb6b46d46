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

/// Threads: any.
class trouble {
 public:
  explicit trouble(std::function<void(std::string_view)> log) : log_(std::move(log)) {}

  void fails(const std::string& line) {
    if (exchange(line) != line && log_) log_(line);
  }
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

/// At most ten seconds, and at least a moment, so that a deadline that is over is a timeout like any other.
[[nodiscard]] inline std::chrono::milliseconds time_left(std::chrono::steady_clock::time_point deadline) {
  const auto now = monotonic_clock::now();
  constexpr std::chrono::milliseconds most{10'000};
  if (deadline - most >= now) return most;
  return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - now), std::chrono::milliseconds(1));
}

inline constexpr std::size_t most_introspection_bytes = 64u << 10;

/// What the server says of a token, an object with `active`. Errors: broken_protocol for what is no such answer. Spec: RFC 7662
/// section 2.2.
[[nodiscard]] result<value> read_introspection(std::string_view text);

/// Whether the answer names no kind (`token_type`, `typ`, `token_use`) but an access token's: a refresh or id token of the same
/// server is active, too. One bound to a proof (DPoP) is no bearer's.
[[nodiscard]] bool is_access_token(const value& answer);

/// Threads: any, several calls at once.
class introspection {
 public:
  introspection(introspection_options of, transport::http_client::small_caller call, std::function<void(std::string_view)> log)
      : of_(std::move(of)), call_(std::move(call)), trouble_(std::move(log)) {}

  /// As `read_introspection`. Blocks. Errors: those of the call, and broken_protocol; none repeats the token or the secret.
  [[nodiscard]] result<value> ask(const std::string& token, std::chrono::steady_clock::time_point deadline);

 private:
  [[nodiscard]] result<value> answer_to(const std::string& token, std::chrono::steady_clock::time_point deadline) const;

  const introspection_options of_;
  const transport::http_client::small_caller call_;
  trouble trouble_;
};

/// Whether it is an http or https URL with a host and without user name and fragment.
[[nodiscard]] bool is_address(const std::string& url);
/// Whether it may be an issuer: such a URL without a query. Spec: RFC 8414
/// section 2.
[[nodiscard]] bool is_issuer(const std::string& url);

inline constexpr std::size_t most_metadata_bytes = 256u << 10;

/// The `jwks_uri` of a metadata document. Errors: access_denied when it is about another issuer; broken_protocol for what is
/// no such document or has no URL of keys.
[[nodiscard]] result<std::string> keys_place_in(std::string_view document, const std::string& issuer);

/// Never changed once made.
struct published_keys {
  jose::key_set set;
  std::string text;              ///< What the set was read from.
  std::uint64_t generation = 0;  ///< Another one for every other text.
  steady_time fetched{};
  std::uint64_t look = 0;  ///< The how manieth fetch has brought them.
};

/// Fetches one at a time, however many ask. Threads: any.
class key_ring {
 public:
  static constexpr std::chrono::minutes least_fresh{5};
  static constexpr std::chrono::minutes usually_fresh{15};  ///< Where the issuer says nothing.
  static constexpr std::chrono::hours longest_fresh{1};
  /// In use after they were to be fetched again, or after that has failed: however idle a server is, and so long as somebody
  /// asks it, keys that were withdrawn check nothing for longer.
  static constexpr std::chrono::minutes longest_stale{5};
  static constexpr std::chrono::hours longest_kept{24};  ///< While fetching fails again and again.
  /// Fetches because tokens name keys that are not there: so many in so long. Keys may be rotated twice in a row.
  static constexpr std::size_t most_unknown_keys = 3;
  static constexpr std::chrono::seconds of_unknown_keys{30};
  static constexpr std::chrono::seconds after_failure{30};
  static constexpr std::chrono::seconds without_any{5};  ///< After a failure, while there are no keys at all.

  struct settings {
    std::string issuer;
    std::string place;  ///< Of the keys; empty: as the issuer's metadata say.
    transport::http_client::small_caller call;
    clocks time{};
    std::function<void(std::string_view)> log{};
  };
  enum class wish : std::uint8_t { any, unknown_key };

  explicit key_ring(settings of) : of_(std::move(of)), trouble_(of_.log) {}
  /// Gives up what is being fetched behind it.
  ~key_ring() = default;
  key_ring(const key_ring&) = delete;
  key_ring& operator=(const key_ring&) = delete;

  /// Null: there are none, or they have got too old to be gone by without looking again.
  [[nodiscard]] std::shared_ptr<const published_keys> held() const;
  /// Of what is held; 0: of nothing.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  /// Begins to fetch keys that are held and due, on a thread of its own; everybody goes on with those until others are here.
  void renew();
  /// Whether `obtain` would look for a key that is not held.
  [[nodiscard]] bool may_look_for_unknown() const;
  /// Until that is so, as far as is known.
  [[nodiscard]] std::chrono::seconds until_next_look() const;
  /// How many fetches have begun. Keys of a later `look` are newer than whoever asks this now.
  [[nodiscard]] std::uint64_t looks() const noexcept { return looks_; }
  [[nodiscard]] bool is_fetching() const;

  /// Fetches if it is time to; then what is held. While another fetches, one caller waits for that if nothing is held, and no
  /// other does. Blocks. Errors: what keeps it from having
  /// keys at all.
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
  std::string found_place_;  // by whoever is fetching
  std::optional<steady_time> place_found_;
  steady_time refresh_at_{};
  std::deque<steady_time> looked_for_unknown_;  // the last times
  std::optional<steady_time> failed_;
  failure why_{errc::source_unavailable, "the keys have not been fetched yet", {}};
  std::jthread renewing_;  // last: it uses the others to its end
};

}  // namespace hondana::authentication
