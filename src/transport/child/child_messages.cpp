/// Parses the output of a child process: answers to calls, other messages, and lines that are not messages.
#include "transport/child/child_messages.hpp"

#include <algorithm>
#include <utility>

namespace hondana::transport::child {
namespace {

constexpr std::size_t max_invalid_lines = 10;
constexpr std::size_t max_excerpt_bytes = 120;
constexpr std::chrono::seconds finish_timeout{3};
constexpr std::size_t max_unwanted_bytes = 256u << 20;
constexpr std::size_t min_progress_bytes = 1u << 20;
constexpr std::size_t line_overhead_bytes = 256;  // bytes that each line counts in addition, even an empty one

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string to_printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

void pending_calls::add(channel::call_id call, channel::content_sink content, bool is_long_lived) {
  const std::lock_guard lock(mutex_);
  calls_[call] = {std::move(content), false, is_long_lived};
}

void pending_calls::abandon(channel::call_id call) {
  const std::lock_guard lock(mutex_);
  const auto match = calls_.find(call);
  if (match != calls_.end()) match->second = {{}, true, match->second.is_long_lived};
  // Limits the memory for calls that the server never answers. Later answers to forgotten calls are only logged.
  constexpr std::size_t max_calls = 10'000;
  if (calls_.size() > max_calls) std::erase_if(calls_, [](const auto& entry) { return entry.second.is_abandoned; });
}

bool pending_calls::is_awaited(channel::call_id call) const {
  const std::lock_guard lock(mutex_);
  const auto match = calls_.find(call);
  return match != calls_.end() && !match->second.is_abandoned;
}

bool pending_calls::mark_answered(channel::call_id call) {
  const std::lock_guard lock(mutex_);
  const auto match = calls_.find(call);
  if (match == calls_.end()) return false;
  const bool was_awaited = !match->second.is_abandoned;
  calls_.erase(match);
  return was_awaited;
}

channel::content_sink pending_calls::sink_of(channel::call_id call) const {
  const std::lock_guard lock(mutex_);
  const auto match = calls_.find(call);
  if (match == calls_.end()) return {};
  // Content of an abandoned call is discarded, not stored.
  if (match->second.is_abandoned) return [](std::size_t, std::string_view) { return result<void>(); };
  return match->second.content;
}

std::optional<channel::call_id> pending_calls::single_call() const {
  const std::lock_guard lock(mutex_);
  return calls_.size() == 1 ? std::optional(calls_.begin()->first) : std::nullopt;
}

std::vector<channel::call_id> pending_calls::awaited_calls() const {
  const std::lock_guard lock(mutex_);
  std::vector<channel::call_id> out;
  for (const auto& [call, pending] : calls_) {
    if (!pending.is_abandoned) out.push_back(call);
  }
  return out;
}

channel::call_id pending_calls::newest() const {
  const std::lock_guard lock(mutex_);
  return calls_.empty() ? 0 : calls_.rbegin()->first;
}

bool pending_calls::has_awaited_up_to(channel::call_id newest) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(calls_.begin(), calls_.upper_bound(newest), [](const auto& entry) { return !entry.second.is_abandoned; });
}

bool pending_calls::has_awaited_short_up_to(channel::call_id newest) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(calls_.begin(), calls_.upper_bound(newest),
                     [](const auto& entry) { return !entry.second.is_abandoned && !entry.second.is_long_lived; });
}

bool pending_calls::has_sink() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(calls_.begin(), calls_.end(), [](const auto& entry) { return static_cast<bool>(entry.second.content); });
}

void pending_calls::clear() {
  const std::lock_guard lock(mutex_);
  calls_.clear();
}

output_parser::output_parser(channel::channel_listener& listener, pending_calls& calls, const channel::limits& limits,
                             const std::function<void(std::string_view)>& log)
    : listener_(listener),
      calls_(calls),
      log_(log),
      intake_(limits, [this](const std::string& id) { return sink_for(id); }, [this] { return fallback_sink(); }) {}

channel::content_sink output_parser::sink_for(const std::string& id) {
  const auto call = channel::parse_call_id(id);
  auto sink = call ? calls_.sink_of(*call) : channel::content_sink();
  if (!sink || !intake_.is_buffering()) return sink;
  // The held content arrives at once, and the sink may take long, so each piece extends the timeout.
  return [this, call = *call, receiver = std::move(sink)](std::size_t item, std::string_view bytes) {
    if (calls_.is_awaited(call)) listener_.on_progress(call);
    return receiver(item, bytes);
  };
}

std::optional<channel::content_sink> output_parser::fallback_sink() {
  guessed_call_ = calls_.single_call();
  if (!guessed_call_) return calls_.has_sink() ? std::nullopt : std::optional(channel::content_sink());
  auto sink = calls_.sink_of(*guessed_call_);
  if (!sink) return sink;
  return [this, receiver = std::move(sink)](std::size_t item, std::string_view bytes) {
    has_guessed_ = true;
    return receiver(item, bytes);
  };
}

void output_parser::report_progress() {
  if (intake_.is_buffering()) {
    // It may belong to any of these calls.
    for (const auto call : calls_.awaited_calls()) listener_.on_progress(call);
    return;
  }
  const auto call = has_guessed_ ? guessed_call_ : call_of_line();
  if (call && calls_.is_awaited(*call)) listener_.on_progress(*call);
}

void output_parser::finish_run() {
  begin_line();
  const auto invalid = std::exchange(invalid_lines_, 0);
  if (invalid > 1 && log_) log_("more lines of the server that are not JSON-RPC messages: " + std::to_string(invalid - 1));
}

void output_parser::begin_line() {
  intake_.reset();
  guessed_call_.reset();
  has_guessed_ = false;
  line_start_.clear();
  is_empty_ = true;
  line_bytes_ = 0;
  counted_bytes_ = 0;
  is_rejected_ = false;
  was_awaited_ = false;
  newest_call_.reset();
  unwanted_since_.reset();
  blocks_other_call_ = false;
}

result<void> output_parser::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    if (line_start_.size() < max_excerpt_bytes) line_start_ += part.substr(0, max_excerpt_bytes - line_start_.size());
    is_empty_ = is_empty_ && std::all_of(part.begin(), part.end(), is_space);
    line_bytes_ += part.size();
    // Such a line may never end.
    if (is_empty_ || !calls_.newest()) count_bytes(0);
    // Only reads the rest of a long answer that no caller waits for, without parsing it.
    const bool is_skipped =
        unwanted_since_ && line_bytes_ - bytes_when_unwanted_ > min_progress_bytes && call_of_line().has_value();
    if (!is_empty_ && !is_skipped) {
      if (const auto parsed = intake_.feed(part); !parsed) {
        is_rejected_ = true;
        // The line may never end, so the call ends now.
        const auto call = has_guessed_ ? guessed_call_ : call_of_line();
        if (call && complete_call(*call)) listener_.on_call_finished(*call, {.reason = parsed.error()});
      }
      report_progress();
    }
    if (end == std::string_view::npos) return {};
    bytes.remove_prefix(end + 1);
    auto outcome = end_line();
    if (!was_awaited_) count_bytes(line_overhead_bytes);
    begin_line();
    if (!outcome) return outcome;
  }
  return {};
}

void output_parser::count_bytes(std::size_t extra) {
  rate_limit_.count_bytes(line_bytes_ - std::exchange(counted_bytes_, line_bytes_) + extra);
}

std::optional<output_parser::clock::time_point> output_parser::stop_deadline() {
  if (is_empty_) return {};
  if (!newest_call_) newest_call_ = calls_.newest();
  if (!unwanted_since_) {
    if (!is_unwanted()) return {};
    unwanted_since_ = clock::now();
    bytes_when_unwanted_ = progress_bytes_ = line_bytes_;
  }
  blocks_other_call_ = blocks_other_call_ || calls_.has_awaited_short_up_to(calls_.newest());
  if (!blocks_other_call_ && !is_rejected_ && line_bytes_ - progress_bytes_ >= min_progress_bytes) {
    unwanted_since_ = clock::now();
    progress_bytes_ = line_bytes_;
  }
  return line_bytes_ - bytes_when_unwanted_ > max_unwanted_bytes ? clock::time_point() : *unwanted_since_ + finish_timeout;
}

bool output_parser::is_unwanted() const {
  if (intake_.has_method()) return is_rejected_;
  if (const auto call = has_guessed_ ? guessed_call_ : call_of_line()) return !calls_.is_awaited(*call);
  // It may be the answer to any call made before the line began.
  return is_rejected_ || (*newest_call_ != 0 && !calls_.has_awaited_up_to(*newest_call_));
}

bool output_parser::complete_call(channel::call_id call) {
  const bool is_awaited = calls_.mark_answered(call);
  was_awaited_ = was_awaited_ || is_awaited;
  return is_awaited;
}

std::optional<channel::call_id> output_parser::call_of_line() const {
  const auto id = intake_.id();
  return intake_.has_method() || !id ? std::nullopt : channel::parse_call_id(*id);
}

result<void> output_parser::end_line() {
  if (is_empty_) return {};
  result<void> outcome;
  intake_.finish_each([&](const result<std::string>& message) {
    if (outcome) outcome = accept_message(message);
    guessed_call_.reset();
    has_guessed_ = false;
  });
  return outcome;
}

result<void> output_parser::accept_message(const result<std::string>& message) {
  const auto call = call_of_line();
  if (has_guessed_ && call != guessed_call_) {
    // The content that went to the sink belongs to another message.
    if (complete_call(*guessed_call_))
      listener_.on_call_finished(
          *guessed_call_,
          {.reason = {errc::protocol_error, "the server sent content whose id does not belong to this request", {}}});
  }
  if (!message) return reject(message.error());
  const bool is_awaited = call && complete_call(*call);
  if (!is_awaited) rate_limit_.count_message(0);
  if (!call || is_awaited) listener_.on_message(0, *message);
  return {};
}

result<void> output_parser::reject(const failure& error) {
  auto call = call_of_line();
  const bool is_json = error.code != errc::protocol_error;  // as far as it has arrived
  if (!call && is_json && !intake_.has_method()) call = calls_.single_call();
  if (call) {
    if (complete_call(*call)) listener_.on_call_finished(*call, {.reason = error});
    return {};
  }
  if (is_json) {
    if (log_) log_("a message from the server was skipped: " + error.public_text + ": " + to_printable(line_start_));
    return {};
  }
  if (++invalid_lines_ == 1 && log_)
    log_("the server wrote a line that is not a JSON-RPC message: " + to_printable(line_start_));
  if (invalid_lines_ <= max_invalid_lines) return {};
  return fail(errc::protocol_error, "the server writes lines that are not JSON-RPC messages to standard output: \"" +
                                        to_printable(line_start_) + "\"; check that it is an MCP server that uses stdio");
}

}  // namespace hondana::transport::child
