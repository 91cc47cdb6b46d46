/// Classifies the output lines of a child process: answers, other messages, and lines that are not JSON-RPC.
#include "transport/child/child_messages.hpp"

#include <algorithm>
#include <utility>

namespace hondana::transport::child {
namespace {

constexpr std::size_t most_strange_lines = 10;
constexpr std::size_t shown = 120;
constexpr std::chrono::seconds time_to_finish{3};
constexpr std::size_t bytes_to_finish = 256u << 20;
constexpr std::size_t bytes_of_progress = 1u << 20;
constexpr std::size_t cost_of_line = 256;  // bytes that each line counts in addition, even an empty one

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string visible(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return text;
}

}  // namespace

void expected_calls::add(channel::call_id call, channel::content_sink content, bool is_lasting) {
  const std::lock_guard lock(mutex_);
  all_[call] = {std::move(content), false, is_lasting};
}

void expected_calls::abandon(channel::call_id call) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(call);
  if (found != all_.end()) found->second = {{}, true, found->second.is_lasting};
  // Limits the memory for calls that the server never answers. Later answers to forgotten calls are only logged.
  constexpr std::size_t most_abandoned = 10'000;
  if (all_.size() > most_abandoned) std::erase_if(all_, [](const auto& one) { return one.second.is_abandoned; });
}

bool expected_calls::waits(channel::call_id call) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(call);
  return found != all_.end() && !found->second.is_abandoned;
}

bool expected_calls::answered(channel::call_id call) {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(call);
  if (found == all_.end()) return false;
  const bool is_wanted = !found->second.is_abandoned;
  all_.erase(found);
  return is_wanted;
}

channel::content_sink expected_calls::sink_of(channel::call_id call) const {
  const std::lock_guard lock(mutex_);
  const auto found = all_.find(call);
  if (found == all_.end()) return {};
  // Content of an abandoned call is discarded, not stored.
  if (found->second.is_abandoned) return [](std::size_t, std::string_view) { return result<void>(); };
  return found->second.content;
}

std::optional<channel::call_id> expected_calls::only_one() const {
  const std::lock_guard lock(mutex_);
  return all_.size() == 1 ? std::optional(all_.begin()->first) : std::nullopt;
}

std::vector<channel::call_id> expected_calls::all_that_wait() const {
  const std::lock_guard lock(mutex_);
  std::vector<channel::call_id> out;
  for (const auto& [call, how] : all_) {
    if (!how.is_abandoned) out.push_back(call);
  }
  return out;
}

channel::call_id expected_calls::newest() const {
  const std::lock_guard lock(mutex_);
  return all_.empty() ? 0 : all_.rbegin()->first;
}

bool expected_calls::waits_up_to(channel::call_id newest) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(all_.begin(), all_.upper_bound(newest), [](const auto& one) { return !one.second.is_abandoned; });
}

bool expected_calls::waits_soon_up_to(channel::call_id newest) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(all_.begin(), all_.upper_bound(newest),
                     [](const auto& one) { return !one.second.is_abandoned && !one.second.is_lasting; });
}

bool expected_calls::has_sink() const {
  const std::lock_guard lock(mutex_);
  return std::any_of(all_.begin(), all_.end(), [](const auto& one) { return static_cast<bool>(one.second.content); });
}

void expected_calls::clear() {
  const std::lock_guard lock(mutex_);
  all_.clear();
}

messages::messages(channel::listener& hears, expected_calls& calls, const channel::limits& most,
                   const std::function<void(std::string_view)>& log)
    : hears_(hears),
      calls_(calls),
      log_(log),
      intake_(most, [this](const std::string& id) { return sink_for(id); }, [this] { return late_sink(); }) {}

channel::content_sink messages::sink_for(const std::string& id) {
  const auto call = channel::call_named(id);
  auto sink = call ? calls_.sink_of(*call) : channel::content_sink();
  if (!sink || !intake_.is_holding()) return sink;
  // The held content arrives at once, and the sink may take long, so each piece extends the timeout.
  return [this, call = *call, into = std::move(sink)](std::size_t item, std::string_view bytes) {
    if (calls_.waits(call)) hears_.progressed(call);
    return into(item, bytes);
  };
}

std::optional<channel::content_sink> messages::late_sink() {
  guess_ = calls_.only_one();
  if (!guess_) return calls_.has_sink() ? std::nullopt : std::optional(channel::content_sink());
  auto sink = calls_.sink_of(*guess_);
  if (!sink) return sink;
  return [this, into = std::move(sink)](std::size_t item, std::string_view bytes) {
    has_guessed_ = true;
    return into(item, bytes);
  };
}

void messages::tell_progress() {
  if (intake_.is_holding()) {
    // It may belong to any of these calls.
    for (const auto call : calls_.all_that_wait()) hears_.progressed(call);
    return;
  }
  const auto call = has_guessed_ ? guess_ : call_of_line();
  if (call && calls_.waits(*call)) hears_.progressed(*call);
}

void messages::end() {
  begin_line();
  const auto strange = std::exchange(strange_lines_, 0);
  if (strange > 1 && log_) log_("more lines of the server that are not JSON-RPC messages: " + std::to_string(strange - 1));
}

void messages::begin_line() {
  intake_.reset();
  guess_.reset();
  has_guessed_ = false;
  start_.clear();
  is_empty_ = true;
  line_bytes_ = 0;
  counted_bytes_ = 0;
  is_refused_ = false;
  was_awaited_ = false;
  newest_.reset();
  unwanted_since_.reset();
  has_held_up_ = false;
}

result<void> messages::feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto end = bytes.find('\n');
    const auto part = bytes.substr(0, end);
    if (start_.size() < shown) start_ += part.substr(0, shown - start_.size());
    is_empty_ = is_empty_ && std::all_of(part.begin(), part.end(), is_space);
    line_bytes_ += part.size();
    // Such a line may never end.
    if (is_empty_ || !calls_.newest()) count_bytes(0);
    // Only reads the rest of a long answer that no caller waits for, without parsing it.
    const bool is_passed_over =
        unwanted_since_ && line_bytes_ - wanted_bytes_ > bytes_of_progress && call_of_line().has_value();
    if (!is_empty_ && !is_passed_over) {
      if (const auto fed = intake_.feed(part); !fed) {
        is_refused_ = true;
        // The line may never end, so the call ends now.
        const auto call = has_guessed_ ? guess_ : call_of_line();
        if (call && settle(*call)) hears_.ended(*call, {.why = fed.error()});
      }
      tell_progress();
    }
    if (end == std::string_view::npos) return {};
    bytes.remove_prefix(end + 1);
    auto done = end_line();
    if (!was_awaited_) count_bytes(cost_of_line);
    begin_line();
    if (!done) return done;
  }
  return {};
}

void messages::count_bytes(std::size_t more) { pace_.bytes(line_bytes_ - std::exchange(counted_bytes_, line_bytes_) + more); }

std::optional<messages::clock::time_point> messages::borne_until() {
  if (is_empty_) return {};
  if (!newest_) newest_ = calls_.newest();
  if (!unwanted_since_) {
    if (!is_unwanted()) return {};
    unwanted_since_ = clock::now();
    wanted_bytes_ = progress_bytes_ = line_bytes_;
  }
  has_held_up_ = has_held_up_ || calls_.waits_soon_up_to(calls_.newest());
  if (!has_held_up_ && !is_refused_ && line_bytes_ - progress_bytes_ >= bytes_of_progress) {
    unwanted_since_ = clock::now();
    progress_bytes_ = line_bytes_;
  }
  return line_bytes_ - wanted_bytes_ > bytes_to_finish ? clock::time_point() : *unwanted_since_ + time_to_finish;
}

bool messages::is_unwanted() const {
  if (intake_.has_method()) return is_refused_;
  if (const auto call = has_guessed_ ? guess_ : call_of_line()) return !calls_.waits(*call);
  // It may be the answer to any call made before the line began.
  return is_refused_ || (*newest_ != 0 && !calls_.waits_up_to(*newest_));
}

bool messages::settle(channel::call_id call) {
  const bool is_awaited = calls_.answered(call);
  was_awaited_ = was_awaited_ || is_awaited;
  return is_awaited;
}

std::optional<channel::call_id> messages::call_of_line() const {
  const auto id = intake_.id();
  return intake_.has_method() || !id ? std::nullopt : channel::call_named(*id);
}

result<void> messages::end_line() {
  if (is_empty_) return {};
  result<void> done;
  intake_.finish_each([&](const result<std::string>& whole) {
    if (done) done = take(whole);
    guess_.reset();
    has_guessed_ = false;
  });
  return done;
}

result<void> messages::take(const result<std::string>& whole) {
  const auto call = call_of_line();
  if (has_guessed_ && call != guess_) {
    // The content that went to the sink belongs to another message.
    if (settle(*guess_))
      hears_.ended(*guess_,
                   {.why = {errc::broken_protocol, "the server sent content whose id does not belong to this request", {}}});
  }
  if (!whole) return refuse(whole.error());
  const bool is_awaited = call && settle(*call);
  if (!is_awaited) pace_.message(0);
  if (!call || is_awaited) hears_.received(0, *whole);
  return {};
}

result<void> messages::refuse(const failure& why) {
  auto call = call_of_line();
  const bool is_json = why.code != errc::broken_protocol;  // as far as it has arrived
  if (!call && is_json && !intake_.has_method()) call = calls_.only_one();
  if (call) {
    if (settle(*call)) hears_.ended(*call, {.why = why});
    return {};
  }
  if (is_json) {
    if (log_) log_("a message from the server was skipped: " + why.public_text + ": " + visible(start_));
    return {};
  }
  if (++strange_lines_ == 1 && log_) log_("the server wrote a line that is not a JSON-RPC message: " + visible(start_));
  if (strange_lines_ <= most_strange_lines) return {};
  return fail(errc::broken_protocol, "the server writes lines that are not JSON-RPC messages to standard output: \"" +
                                         visible(start_) + "\"; check that it is an MCP server that uses stdio");
}

}  // namespace hondana::transport::child
