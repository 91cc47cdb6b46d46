/// Writes messages to a descriptor, one per line, in batches.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/rpc/message_sink.hpp"

namespace hondana::transport::stdio {

/// Writes answers and notifications to one output descriptor, whole and in order. A small message that the peer accepts at once
/// is written by the thread that calls `answer` or `send`. The writer's own thread writes the others, several at once; it waits
/// for the peer, for sources, and for contents that are read in pieces. Threads: any.
class line_writer final : public rpc::response_writer {
 public:
  struct limits {
    std::chrono::milliseconds stall_timeout{60'000};  ///< Writing fails if the peer accepts nothing for this time.
    std::chrono::milliseconds pull_timeout{30'000};   ///< An answer is cut off if its source returns nothing for this time.
    std::size_t max_backlog_messages = 128;           ///< `admit_request` waits while so many messages wait,
    std::size_t max_backlog_bytes = 16u << 20;        ///< or so many bytes.
  };

  /// Does not own `descriptor`. `log` gets the reason when writing fails; may be null.
  line_writer(int descriptor, limits bounds, std::function<void(std::string_view)> log);
  /// Waits until all messages are written or writing has failed.
  ~line_writer() override;

  void answer(rpc::outgoing_response response) override;
  rpc::send_outcome send(std::string message) override;
  void stream(std::shared_ptr<rpc::message_source> source) override;

  /// Call this before each request is passed to the session. Waits until the backlog is below its limits, writing has failed,
  /// or `shorten_timeouts` was called; then counts one more expected `answer`. While it waits, it calls `on_wait` ten times a
  /// second, for example to notice that the peer has closed its end.
  void admit_request(const std::function<void()>& on_wait);
  /// Begins a batch: small messages of the calling thread are collected, and written together at `end_batch`, or earlier if
  /// there are enough. Messages of other threads do not wait.
  void begin_batch();
  /// Writes the collected messages as far as the peer accepts them now; the writer's own thread writes the rest. Never waits
  /// for the peer.
  void end_batch();
  /// Shortens the timeouts, for the end of serving: from now on writing fails if the peer accepts nothing for `stall_timeout`,
  /// and in any case at `deadline`.
  void shorten_timeouts(std::chrono::milliseconds stall_timeout, std::chrono::steady_clock::time_point deadline);
  /// Waits for all expected answers, but not after `answers_deadline`; then until all messages are written. False if writing
  /// has failed, or an answer was cut off.
  [[nodiscard]] bool finish(std::chrono::steady_clock::time_point answers_deadline);
  /// Sets the callback for a failed write, in place of the previous one; null: none. It is called once, on the thread that
  /// notices the failure, or immediately if writing has failed already. It must not block.
  void on_failure(std::function<void()> callback);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::transport::stdio
