/// Classifies lines of a child process: answers, messages, or not of the protocol.
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
#include "protocol/channel/message_intake.hpp"

namespace hondana::transport::child {

/// Calls whose answers are expected. Threads: any.
class expected_calls {
 public:
  /// `is_lasting`: it is not expected to be answered soon.
  void add(channel::call_id call, channel::content_sink content, bool is_lasting = false);
  /// Its answer will come all the same, and is then nobody's.
  void abandon(channel::call_id call);
  /// False when nobody waits for it, or not any more.
  [[nodiscard]] bool waits(channel::call_id call) const;
  /// The answer has come. False as `waits`.
  bool answered(channel::call_id call);
  [[nodiscard]] channel::content_sink sink_of(channel::call_id call) const;
  /// The one call there is, when there is exactly one.
  [[nodiscard]] std::optional<channel::call_id> only_one() const;
  /// Those that somebody waits for.
  [[nodiscard]] std::vector<channel::call_id> all_that_wait() const;
  /// The newest call without an answer; 0: there is none.
  [[nodiscard]] channel::call_id newest() const;
  /// Whether a caller waits for a call that is not newer than `newest`.
  [[nodiscard]] bool waits_up_to(channel::call_id newest) const;
  /// The same of those that are expected to be answered soon.
  [[nodiscard]] bool waits_soon_up_to(channel::call_id newest) const;
  /// Whether the content of any goes to a sink.
  [[nodiscard]] bool has_sink() const;
  void clear();

 private:
  struct expected {
    channel::content_sink content;
    bool is_abandoned = false;
    bool is_lasting = false;
  };
  mutable std::mutex mutex_;
  std::map<channel::call_id, expected> all_;
};

/// Threads: one at a time.
class messages {
 public:
  using clock = monotonic_clock;

  /// `log` may be empty.
  messages(channel::listener& hears, expected_calls& calls, const channel::limits& most,
           const std::function<void(std::string_view)>& log);

  /// The next bytes of the program's output. A failure is the end of the conversation: too many lines are no messages.
  result<void> feed(std::string_view bytes);
  /// When the program must be ended because it does not finish an answer to a call that was cancelled or has failed: three
  /// seconds, or 256 MiB, after that. Until another caller waits, each MiB of an answer that is still sound wins it three
  /// seconds more. Nothing: it need not be ended.
  [[nodiscard]] std::optional<clock::time_point> borne_until();
  /// How long reading from the program must pause, see `unsolicited_limit`.
  [[nodiscard]] std::chrono::milliseconds pause() const { return pace_.pause(); }
  /// The run of the program has ended: half a line is nothing, and strange lines beside the first are told by their number.
  void end();

 private:
  [[nodiscard]] channel::content_sink sink_for(const std::string& id);
  [[nodiscard]] std::optional<channel::content_sink> late_sink();
  void tell_progress();
  result<void> end_line();
  result<void> take(const result<std::string>& whole);
  /// Whose answer the line is, as far as that is known: what has a method is nobody's.
  [[nodiscard]] std::optional<channel::call_id> call_of_line() const;
  result<void> refuse(const failure& why);
  /// Marks a call as answered, or its answer as unusable. False when no caller waits for it.
  bool settle(channel::call_id call);
  [[nodiscard]] bool is_unwanted() const;
  void begin_line();
  /// Counts what has come of the line, and `more`, as not asked for.
  void count_bytes(std::size_t more);

  channel::listener& hears_;
  expected_calls& calls_;
  const std::function<void(std::string_view)>& log_;
  channel::routed_intake intake_;
  std::optional<channel::call_id> guess_;  // whose sink content goes to before its id is known,
  bool has_guessed_ = false;               // and whether any went there
  std::string start_;                      // of the line, to show what is no message
  bool is_empty_ = true;
  std::size_t line_bytes_ = 0;
  std::size_t counted_bytes_ = 0;           // of them, in `pace_`
  bool is_refused_ = false;                 // the line is malformed or too long
  bool was_awaited_ = false;                // the line has the answer to a pending call
  std::optional<channel::call_id> newest_;  // the newest call when the first part of the line had been read
  std::optional<clock::time_point> unwanted_since_;
  std::size_t wanted_bytes_ = 0;    // of the line, when it became unwanted
  std::size_t progress_bytes_ = 0;  // of the line, at `unwanted_since_`
  bool has_held_up_ = false;        // another call waited while the line was unwanted
  std::size_t strange_lines_ = 0;
  channel::unsolicited_limit pace_;
};

}  // namespace hondana::transport::child
