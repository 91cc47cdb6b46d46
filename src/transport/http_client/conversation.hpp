/// What all exchanges of one channel share.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "protocol/channel/channel.hpp"
#include "protocol/channel/unsolicited_limit.hpp"
#include "transport/http_client/checked_target.hpp"
#include "transport/http_client/loop.hpp"
#include "transport/http_client/response_head.hpp"
#include "transport/http_client/token_worker.hpp"

namespace hondana::transport::http_client {

/// What is known of the session with a server of an older revision. Threads: the loop's.
struct session_state {
  std::optional<std::string> id{};
  channel::header_fields fields{};  ///< Of each message.
  bool is_open = false;
};

/// Threads: the loop's, but for what says otherwise.
struct conversation {
  conversation(loop& within, checked_target to, channel::listener& hears, const channel::limits& keeps,
               std::function<void(std::string_view)> logs)
      : target(std::move(to)), most(keeps), tokens(within, target.tokens), listener_(hears), log_(std::move(logs)) {}

  /// The lines that say which session a message with these headers belongs to; those that it has itself are left out.
  [[nodiscard]] std::vector<std::string> session_lines(const channel::header_fields& headers = {}) const;

  void received(channel::call_id call, std::string text) {
    if (!is_closed) listener_.received(call, std::move(text));
  }
  void progressed(channel::call_id call) {
    if (!is_closed) listener_.progressed(call);
  }
  void ended(channel::call_id call, channel::ending how) {
    if (!is_closed) listener_.ended(call, std::move(how));
  }
  void interrupted() {
    if (!is_closed) listener_.interrupted();
  }
  void broken(failure why) {
    if (!is_closed) listener_.broken(std::move(why));
  }
  /// Threads: any.
  void log(std::string_view line) const {
    if (log_) log_(line);
  }

  /// Before the attempt after `failures` failed ones: never less than `least`, doubling, with jitter.
  [[nodiscard]] std::chrono::milliseconds pause_after(int failures, std::chrono::milliseconds least);

  const checked_target target;
  const channel::limits most;
  token_worker tokens;
  session_state session{};
  channel::unsolicited_limit unsolicited{};
  std::atomic<std::size_t> queued_bytes{0};  ///< Threads: any.
  std::atomic<bool> is_closed{false};        ///< The listener hears no more. Threads: any.

 private:
  channel::listener& listener_;
  std::function<void(std::string_view)> log_;
  std::minstd_rand random_{std::random_device{}()};
};

/// Until a stream that has ended is asked for again, where the server has not said when.
inline constexpr std::chrono::milliseconds usual_pause{1'000};
/// The least pause, so that a server that says 0 is not asked all the time.
inline constexpr std::chrono::milliseconds least_pause{50};
/// Failed attempts to take a stream up again, one after another.
inline constexpr int max_failed_attempts = 4;

/// What an HTTP answer that is no success, or no answer to a call, means for it.
[[nodiscard]] channel::ending ending_for(const response_head& head, std::string body, const std::string& url, bool had_session);

/// Whether `text` is the answer to `call`; its id is known to be `id`.
[[nodiscard]] bool is_answer(std::string_view text, const std::optional<std::string>& id, channel::call_id call);

}  // namespace hondana::transport::http_client
