/// State that all requests of one HTTP channel share, and the queue of messages to send.
#include "transport/http_client/channel_state.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/executor/backoff.hpp"
#include "base/json/reader.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr executor::backoff retry_pauses{default_retry_delay, std::chrono::milliseconds(30'000)};

bool is_answer_object(const json::value& message, channel::call_id call) {
  const auto object = message.as_object("");
  if (!object) return false;
  const auto id = object->find("id");
  if (!id || !*id) return false;
  const auto number = (*id)->as_integer("id");
  if (!number || *number < 0 || static_cast<channel::call_id>(*number) != call) return false;
  const auto method = object->find("method");
  return method && !*method;
}

}  // namespace

std::vector<std::string> channel_state::session_lines(const channel::header_fields& headers) const {
  std::vector<std::string> out;
  if (session.id) out.push_back("Mcp-Session-Id: " + *session.id);
  for (const auto& [name, value] : session.fields) {
    const auto is_same = [&expected = name](const auto& field) { return ascii::equals_ignore_case(field.first, expected); };
    if (std::none_of(headers.begin(), headers.end(), is_same) && is_field_value(value)) out.push_back(name + ": " + value);
  }
  return out;
}

std::chrono::milliseconds retry_delay(int failures, std::chrono::milliseconds min_delay) {
  if (failures <= 0) return min_delay;
  const auto doubled = retry_pauses.delay(failures);
  return std::max(min_delay, doubled + executor::random_delay(doubled / 4));
}

channel::termination make_termination(const response_head& head, std::string body, const std::string& url, bool had_session) {
  channel::termination out;
  out.http_status = head.status;
  out.content_type = head.content_type;
  out.body = std::move(body);
  out.retry_after = parse_retry_after(head.retry_after, std::chrono::system_clock::now());
  const auto summary = display_url(url) + " answered " + std::to_string(head.status);
  auto& error = out.reason;
  error.code = errc::protocol_error;
  if (head.status == 401 || head.status == 403) {
    out.challenges = head.challenges;
    error.code = errc::unauthorized;
    error.public_text = summary + ": it requires authentication, or denies access; send an Authorization header it accepts";
    error.private_text = extract_reason(head.challenges, out.body);
  } else if (head.status == 404 && had_session) {
    out.session_has_ended = true;
    error.code = errc::source_unavailable;
    error.public_text = summary + ": the session has ended";
  } else if (head.status == 408 || head.status == 429 || head.status >= 500) {
    error.code = errc::source_unavailable;
    error.public_text = summary + "; retry later";
  } else if (head.is_success()) {
    error.public_text = summary +
                        (head.content_type.empty() ? std::string(" without content")
                                                   : " with " + display_url(head.content_type) + " instead of JSON or events") +
                        "; check that the URL is that of an MCP server";
  } else {
    error.public_text = summary + "; check that the URL is that of an MCP server";
  }
  return out;
}

bool is_answer(std::string_view text, const std::optional<std::string>& id, channel::call_id call) {
  if (id != std::to_string(call)) return false;
  const auto message = json::document::parse(text);
  // Malformed JSON with the id of the answer is passed on, so that the waiting call fails.
  return !message || is_answer_object(message->root(), call);
}

namespace {

constexpr std::size_t max_requests = 32;

}  // namespace

send_scheduler::send_scheduler(transfer_loop& loop, channel_state& state,
                               std::function<void(send_id, channel::outgoing_message)> send)
    : loop_(loop), state_(state), send_(std::move(send)) {}

send_scheduler::~send_scheduler() {
  if (notification_timer_) loop_.cancel(*notification_timer_);
  if (dispatch_timer_) loop_.cancel(*dispatch_timer_);
}

void send_scheduler::add(channel::outgoing_message message) {
  const bool must_wait = message.call != 0 && (!waiting_.empty() || notification_ || in_flight_.size() >= max_requests);
  if (must_wait && !(message.is_subscription && waiting_.empty() && !notification_)) {
    waiting_.push_back(std::move(message));
  } else {
    dispatch(std::move(message));
  }
}

void send_scheduler::dispatch(channel::outgoing_message message) {
  const send_id id = message.call != 0 ? message.call : first_without_call + ++other_count_;
  if (message.is_opening) handshake_ = handshake_state::opening;
  if (message.call != 0 && !message.is_subscription) in_flight_.insert(id);
  if (message.call == 0 && handshake_ == handshake_state::opening && !notification_) {
    notification_ = id;
    notification_timer_ = loop_.schedule_after(max_notification_wait, [this] {
      notification_timer_.reset();
      notification_.reset();
      dispatch_waiting();
    });
  }
  send_(id, std::move(message));
}

void send_scheduler::mark_answered(send_id id) {
  if (in_flight_.erase(id) > 0 && !waiting_.empty()) schedule_dispatch();
}

bool send_scheduler::mark_finished(send_id id) {
  const bool was_notification = notification_ == id;
  if (was_notification) {
    notification_.reset();
    if (notification_timer_) loop_.cancel(*std::exchange(notification_timer_, std::nullopt));
    handshake_ = handshake_state::accepted;
  }
  in_flight_.erase(id);
  if (!waiting_.empty()) schedule_dispatch();
  return was_notification;
}

void send_scheduler::schedule_dispatch() {
  if (dispatch_timer_) return;
  dispatch_timer_ = loop_.schedule_after(std::chrono::milliseconds(0), [this] {
    dispatch_timer_.reset();
    dispatch_waiting();
  });
}

void send_scheduler::dispatch_waiting() {
  while (!waiting_.empty() && !notification_ && in_flight_.size() < max_requests) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    dispatch(std::move(next));
  }
}

void send_scheduler::drop(channel::call_id call) {
  const auto match = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& message) { return message.call == call; });
  if (match == waiting_.end()) return;
  state_.queued_bytes -= match->text.size();
  waiting_.erase(match);
}

void send_scheduler::clear() {
  for (const auto& message : waiting_) state_.queued_bytes -= message.text.size();
  waiting_.clear();
  in_flight_.clear();
}

}  // namespace hondana::transport::http_client
