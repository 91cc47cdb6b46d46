/// Classifies the output lines of a child process: answers, other messages, and lines that are not JSON-RPC.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"
#include "protocol/channel/message_reader.hpp"

namespace hondana::transport::child {

/// Calls whose answers are expected. Threads: any.
class pending_calls {
 public:
  /// `is_long_lived`: no answer is expected soon.
  void add(channel::call_id call, channel::content_sink content, bool is_long_lived = false);
  /// Marks a call as abandoned. Its answer will arrive nevertheless and is discarded.
  void abandon(channel::call_id call);
  /// Whether a caller waits for this call.
  [[nodiscard]] bool is_awaited(channel::call_id call) const;
  /// The answer has arrived. Returns the same as `is_awaited` before the call.
  bool mark_answered(channel::call_id call);
  [[nodiscard]] channel::content_sink sink_of(channel::call_id call) const;
  /// The pending call, if there is exactly one.
  [[nodiscard]] std::optional<channel::call_id> single_call() const;
  /// The calls that are not abandoned.
  [[nodiscard]] std::vector<channel::call_id> awaited_calls() const;
  /// The newest call without an answer; 0: none.
  [[nodiscard]] channel::call_id newest() const;
  /// Whether a caller waits for a call that is not newer than `newest`.
  [[nodiscard]] bool has_awaited_up_to(channel::call_id newest) const;
  /// The same, counting only calls that are answered soon.
  [[nodiscard]] bool has_awaited_short_up_to(channel::call_id newest) const;
  /// Whether any call has a sink for its content.
  [[nodiscard]] bool has_sink() const;
  void clear();

 private:
  struct pending_call {
    channel::content_sink content;
    bool is_abandoned = false;
    bool is_long_lived = false;
  };
  mutable std::mutex mutex_;
  std::map<channel::call_id, pending_call> calls_;
};

/// Parses the output of the program, and reports messages to the listener. Threads: one at a time.
class output_parser {
 public:
  using clock = monotonic_clock;

  /// `log` may be empty.
  output_parser(channel::channel_listener& listener, pending_calls& calls, const channel::limits& limits,
                const std::function<void(std::string_view)>& log);

  /// Parses the next bytes of the program's output. A failure ends the run: too many lines are not messages.
  result<void> feed(std::string_view bytes);
  /// When to stop the program, because it does not finish an answer to a cancelled or failed call: 3 s, or 256 MiB, after that.
  /// Until another caller waits, each MiB of a valid answer extends this by 3 s. Empty: no reason to stop it.
  [[nodiscard]] std::optional<clock::time_point> stop_deadline();
  /// How long reading from the program must pause, see `unsolicited_rate_limit`.
  [[nodiscard]] std::chrono::milliseconds read_delay() const { return rate_limit_.delay(); }
  /// Handles the end of a run: discards a partial line, and logs the number of lines that were not messages, except the first.
  void finish_run();

 private:
  [[nodiscard]] channel::content_sink sink_for(const std::string& id);
  [[nodiscard]] std::optional<channel::content_sink> fallback_sink();
  void report_progress();
  result<void> end_line();
  result<void> accept_message(const result<std::string>& message);
  /// The call that the current line answers, as far as it is known; empty for a line with a method.
  [[nodiscard]] std::optional<channel::call_id> call_of_line() const;
  result<void> reject(const failure& error);
  /// Marks a call as answered, or its answer as unusable. False if no caller waits for it.
  bool complete_call(channel::call_id call);
  [[nodiscard]] bool is_unwanted() const;
  void begin_line();
  /// Counts the new bytes of the line, and `extra`, as unsolicited.
  void count_bytes(std::size_t extra);

  channel::channel_listener& listener_;
  pending_calls& calls_;
  const std::function<void(std::string_view)>& log_;
  channel::routing_reader intake_;
  std::optional<channel::call_id> guessed_call_;  // the call whose sink gets content before the id is known
  bool has_guessed_ = false;                      // content went to that sink
  std::string line_start_;                        // beginning of the line, for error messages
  bool is_empty_ = true;
  std::size_t line_bytes_ = 0;
  std::size_t counted_bytes_ = 0;                // bytes of the line that were counted in `rate_limit_`
  bool is_rejected_ = false;                     // the line is malformed or too long
  bool was_awaited_ = false;                     // the line has the answer to a pending call
  std::optional<channel::call_id> newest_call_;  // the newest call when the first part of the line had been read
  std::optional<clock::time_point> unwanted_since_;
  std::size_t bytes_when_unwanted_ = 0;  // bytes of the line when it became unwanted
  std::size_t progress_bytes_ = 0;       // bytes of the line at `unwanted_since_`
  bool blocks_other_call_ = false;       // another call waited while the line was unwanted
  std::size_t invalid_lines_ = 0;
  channel::unsolicited_rate_limit rate_limit_;
};

}  // namespace hondana::transport::child
