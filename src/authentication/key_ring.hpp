/// The published keys of one issuer, kept and renewed.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "authentication/clocks.hpp"
#include "authentication/trouble.hpp"
#include "jose/keys.hpp"
#include "transport/http_calls/small_call.hpp"

namespace hondana::authentication {

/// Never changed once made.
struct published_keys {
  jose::key_set set;
  std::string text;              ///< What the set was read from.
  std::uint64_t generation = 0;  ///< Another one for every other text.
  steady_time fetched{};
};

/// Fetches one at a time, however many ask. Threads: any.
class key_ring {
 public:
  static constexpr std::chrono::minutes least_fresh{5};
  static constexpr std::chrono::minutes usually_fresh{15};  ///< Where the issuer says nothing.
  static constexpr std::chrono::hours longest_fresh{1};
  static constexpr std::chrono::hours longest_kept{24};            ///< While fetching fails.
  static constexpr std::chrono::seconds between_unknown_keys{30};  ///< Fetches because a token names a key that is not there.
  static constexpr std::chrono::seconds after_failure{30};
  static constexpr std::chrono::seconds without_any{5};  ///< After a failure, while there are no keys at all.

  struct settings {
    std::string issuer;
    std::string place;  ///< Of the keys; empty: as the issuer's metadata say.
    transport::http_calls::small_caller call;
    clocks time{};
    std::function<void(std::string_view)> log{};
  };
  enum class wish : std::uint8_t { any, fresher, unknown_key };

  explicit key_ring(settings of) : of_(std::move(of)), trouble_(of_.log) {}

  /// Null: there are none, or they have got too old.
  [[nodiscard]] std::shared_ptr<const published_keys> held() const;
  /// Of what is held; 0: of nothing.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  /// True for one caller when the keys should be fetched again; others go on with what is held.
  [[nodiscard]] bool take_refresh();
  /// Whether `obtain` would look for a key that is not held.
  [[nodiscard]] bool may_look_for_unknown() const;
  [[nodiscard]] bool is_fetching() const;

  /// Fetches if it is time to; then what is held. While another fetches, one caller waits for that if nothing is held, and no
  /// other does. Blocks. Errors: what keeps it from having
  /// keys at all.
  [[nodiscard]] result<std::shared_ptr<const published_keys>> obtain(wish why, std::chrono::steady_clock::time_point deadline);

 private:
  [[nodiscard]] bool is_due(wish why, steady_time now) const;
  [[nodiscard]] std::shared_ptr<const published_keys> held_at(steady_time now) const;
  void end_fetching();
  void take(result<transport::http_calls::small_answer> fetched, steady_time now);
  [[nodiscard]] result<std::string> find_place(std::chrono::steady_clock::time_point deadline) const;
  [[nodiscard]] result<transport::http_calls::small_answer> fetch(std::chrono::steady_clock::time_point deadline);

  const settings of_;
  trouble trouble_;
  std::atomic<std::uint64_t> generation_{0};
  mutable std::mutex mutex_;
  std::condition_variable is_over_;
  bool is_fetching_ = false;
  std::size_t waiting_ = 0;
  std::shared_ptr<const published_keys> keys_;
  std::uint64_t generations_ = 0;
  std::string found_place_;  // by whoever is fetching
  std::optional<steady_time> place_found_;
  steady_time refresh_at_{};
  std::optional<steady_time> promised_;  // by a caller of `take_refresh`
  std::optional<steady_time> looked_for_unknown_;
  std::optional<steady_time> failed_;
  failure why_{errc::source_unavailable, "the keys have not been fetched yet", {}};
};

}  // namespace hondana::authentication
