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

/// Writes answers and notifications to one output descriptor, whole and in order. Waiting messages are written together. If the
/// peer accepts a message at once, the thread that has it writes it. Small answers in a batch are written together by the
/// thread of the batch. A thread of its own waits for the peer, for sources, and for contents that are read in pieces. Threads:
/// any.
class line_writer final : public rpc::response_writer {
 public:
  struct limits {
    std::chrono::milliseconds stall_timeout{60'000};  ///< A peer that accepts nothing for this time is given up.
    std::chrono::milliseconds pull_timeout{30'000};   ///< An answer is cut off if its source returns nothing for this time.
    std::size_t max_backlog_messages = 128;           ///< No more requests are read while more messages than this wait,
    std::size_t max_backlog_bytes = 16u << 20;        ///< or messages with more bytes than this.
  };

  line_writer(int descriptor, limits bounds, std::function<void(std::string_view)> log);
  /// Waits until the queue is written or writing has failed.
  ~line_writer() override;

  void answer(rpc::outgoing_response response) override;
  rpc::send_outcome send(std::string message) override;
  void stream(std::shared_ptr<rpc::message_source> source) override;

  /// Waits until the backlog is below its limits, writing has failed, or `shorten_timeouts` was called; then expects one more
  /// `answer`. During the wait it calls `on_wait` ten times a second, to notice events such as the end of input behind unread
  /// messages.
  void admit_request(const std::function<void()>& on_wait);
  /// Begins a batch: small messages of this thread are collected until `end_batch`, or until there are enough of them, and
  /// written together. Messages of other threads do not wait.
  void begin_batch();
  /// Writes the collected messages as far as the peer accepts them now; the writer thread writes the rest. Never waits for the
  /// peer.
  void end_batch();
  /// Called at the end: from now on a peer that accepts nothing for `stall_timeout` is given up, and any peer at `deadline`.
  void shorten_timeouts(std::chrono::milliseconds stall_timeout, std::chrono::steady_clock::time_point deadline);
  /// Waits for all expected answers, at most until `answers_deadline`, and until they are written, as long as the peer accepts
  /// bytes. False if writing failed or stalled, or an answer was cut off.
  [[nodiscard]] bool finish(std::chrono::steady_clock::time_point answers_deadline);
  /// Sets the callback for a failed write. It is called once, on the thread that notices the failure, or immediately if writing
  /// has failed already. It must not block. Replaces the previous one; empty: none.
  void on_failure(std::function<void()> callback);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::transport::stdio
