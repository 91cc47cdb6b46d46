/// Writes messages to a descriptor, one a line, many at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/rpc/message_sink.hpp"

namespace hondana::transport::stdio {

/// An outlet over one output descriptor. Messages are written whole and in the order they came; while more are waiting they
/// are written together. What the peer takes at once is written by whoever has it, small answers that come while requests are
/// being handed in together by whoever hands them in; a thread of its own waits for the peer, for sources and for contents that
/// are pulled. Threads: any.
class line_writer final : public rpc::outlet {
 public:
  struct limits {
    std::chrono::milliseconds stall{60'000};  ///< A peer that takes nothing for so long is given up.
    std::chrono::milliseconds pull{30'000};   ///< A source that delivers nothing for so long cuts its answer off.
    std::size_t backlog_messages = 128;       ///< More waiting messages than this stop the reading of requests;
    std::size_t backlog_bytes = 16u << 20;    ///< so do messages that hold more bytes than this.
  };

  line_writer(int descriptor, limits within, std::function<void(std::string_view)> log);
  /// Waits until what is queued is written or writing has failed.
  ~line_writer() override;

  void answer(rpc::delivery what) override;
  rpc::sending send(std::string message) override;
  void follow(std::shared_ptr<rpc::message_source> from) override;

  /// Waits until the backlog is below its limits, writing has failed, or the end is near, and announces that one more `answer`
  /// will come. While it waits `look` is called ten times a second, for what only shows outside, such as the end of input
  /// behind messages that cannot be taken yet.
  void admit(const std::function<void()>& look);
  /// Several requests are about to be handed in by this thread: the small messages it hands in are kept until `end_batch`, or
  /// until there are enough of them, and written together. What others hand in meanwhile does not wait.
  void begin_batch();
  /// Writes what is kept, as far as the peer takes it at once; the rest goes out as all else does. Never waits for the peer.
  void end_batch();
  /// The end is near: from now on a peer that takes nothing for `stall` is given up, and everything is at `end`.
  void hurry(std::chrono::milliseconds stall, std::chrono::steady_clock::time_point end);
  /// Waits until every expected answer has come, at most until `answers_until`, and what came is written, as long as the peer
  /// takes bytes. False when writing failed, stalled or an answer was cut off.
  [[nodiscard]] bool finish(std::chrono::steady_clock::time_point answers_until);
  /// `hear` is called once when writing has failed, by whoever finds out, at once when it has failed already. It takes a note
  /// and returns. Replaces the one before; empty: none.
  void on_failure(std::function<void()> hear);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::transport::stdio
