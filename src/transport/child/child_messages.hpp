/// Parses the output of a child process: answers to calls, other messages, and lines that are not messages.
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

/// The calls that the program has not answered yet, including abandoned ones, for which no caller waits. Threads: any.
class pending_calls {
 public:
  /// `content`: the sink for the answer's content; may be empty. `is_long_lived`: no answer is expected soon.
  void add(channel::call_id call, channel::content_sink content, bool is_long_lived = false);
  /// Marks a call as abandoned, so that its answer is discarded when it arrives.
  void abandon(channel::call_id call);
  /// Whether the call is pending and not abandoned.
  [[nodiscard]] bool is_awaited(channel::call_id call) const;
  /// Removes a call, because its answer has arrived. Returns whether it was awaited.
  bool mark_answered(channel::call_id call);
  /// The sink for the answer's content. Empty: there is none, or the call is not pending. For an abandoned call it discards.
  [[nodiscard]] channel::content_sink sink_of(channel::call_id call) const;
  /// The only pending call; empty if there are none or several.
  [[nodiscard]] std::optional<channel::call_id> single_call() const;
  /// The calls that are not abandoned.
  [[nodiscard]] std::vector<channel::call_id> awaited_calls() const;
  /// The newest pending call; 0: none.
  [[nodiscard]] channel::call_id newest() const;
  /// Whether `newest`, or an older call, is awaited.
  [[nodiscard]] bool has_awaited_up_to(channel::call_id newest) const;
  /// Like `has_awaited_up_to`, without long-lived calls.
  [[nodiscard]] bool has_awaited_short_up_to(channel::call_id newest) const;
  /// Whether a call that is not abandoned has a sink.
  [[nodiscard]] bool has_sink() const;
  /// Forgets all calls.
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

  /// `listener`, `calls` and `log` must outlive the parser. `log` may be a null function.
  output_parser(channel::channel_listener& listener, pending_calls& calls, const channel::limits& limits,
                const std::function<void(std::string_view)>& log);

  /// Parses the next bytes of the program's output. Errors: protocol_error if too many lines are not messages; the caller must
  /// then stop the program.
  result<void> feed(std::string_view bytes);
  /// Returns when to stop the program because it does not finish a line that no caller wants, such as the answer to a cancelled
  /// call: 3 s after the line became unwanted, or at once if 256 MiB more have arrived. While no other caller waits, each MiB
  /// of valid JSON restarts the 3 s. Empty: do not stop it. Call this after each `feed`, because it starts the 3 s.
  [[nodiscard]] std::optional<clock::time_point> stop_deadline();
  /// How long reading from the program must pause, see `unsolicited_rate_limit`.
  [[nodiscard]] std::chrono::milliseconds read_delay() const { return rate_limit_.delay(); }
  /// Handles the end of a run: discards a partial line, and logs the number of lines that were not messages, except the first.
  void finish_run();

 private:
  /// See `routing_reader::sink_selector`.
  [[nodiscard]] channel::content_sink sink_for(const std::string& id);
  /// See `routing_reader::late_sink_selector`.
  [[nodiscard]] std::optional<channel::content_sink> fallback_sink();
  /// Calls `on_progress` for the calls that the current line may answer.
  void report_progress();
  result<void> end_line();
  result<void> accept_message(const result<std::string>& message);
  /// The call that the current line answers, as far as it is known; empty for a line with a method.
  [[nodiscard]] std::optional<channel::call_id> call_of_line() const;
  /// Handles an unusable line: ends the call that it answers, or logs. Errors: protocol_error after too many such lines.
  result<void> reject(const failure& error);
  /// Removes a call, because its answer has arrived or is unusable. Returns whether it was awaited.
  bool complete_call(channel::call_id call);
  /// Whether the current line is invalid, or is an answer that no caller waits for.
  [[nodiscard]] bool is_unwanted() const;
  /// Prepares for the next line.
  void begin_line();
  /// Counts the new bytes of the line, and `extra`, in `rate_limit_`.
  void count_bytes(std::size_t extra);

  channel::channel_listener& listener_;
  pending_calls& calls_;
  const std::function<void(std::string_view)>& log_;
  channel::routing_reader intake_;
  std::optional<channel::call_id> guessed_call_;  // the call whose sink gets content before the id is known
  bool has_guessed_ = false;                      // content went to that sink
  std::string line_start_;                        // beginning of the line, for error messages
  bool is_empty_ = true;                          // the line has only blanks so far
  std::size_t line_bytes_ = 0;
  std::size_t counted_bytes_ = 0;                    // bytes of the line that were counted in `rate_limit_`
  bool is_rejected_ = false;                         // the line is malformed or too long
  bool was_awaited_ = false;                         // the line has the answer to an awaited call
  std::optional<channel::call_id> newest_call_;      // the newest call when the first part of the line had been read
  std::optional<clock::time_point> unwanted_since_;  // start of the 3 s of `stop_deadline`
  std::size_t bytes_when_unwanted_ = 0;              // bytes of the line when it became unwanted
  std::size_t progress_bytes_ = 0;                   // bytes of the line at `unwanted_since_`
  bool blocks_other_call_ = false;                   // another call waited while the line was unwanted
  std::size_t invalid_lines_ = 0;                    // lines of the run that were not messages
  channel::unsolicited_rate_limit rate_limit_;
};

}  // namespace hondana::transport::child
