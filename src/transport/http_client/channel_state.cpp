/// State that all exchanges of one channel share: the session, and the queue of outgoing messages.
#include "transport/http_client/channel_state.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/json/reader.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::transport::http_client {
namespace {

constexpr std::chrono::milliseconds longest_pause{30'000};

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

std::vector<std::string> conversation::session_lines(const channel::header_fields& headers) const {
  std::vector<std::string> out;
  if (session.id) out.push_back("Mcp-Session-Id: " + *session.id);
  for (const auto& [name, value] : session.fields) {
    const auto is_same = [&wanted = name](const auto& field) { return ascii::is_same(field.first, wanted); };
    if (std::none_of(headers.begin(), headers.end(), is_same) && is_field_value(value)) out.push_back(name + ": " + value);
  }
  return out;
}

std::chrono::milliseconds conversation::pause_after(int failures, std::chrono::milliseconds least) {
  if (failures <= 0) return least;
  const auto doubled = std::min(longest_pause, usual_pause * (1 << std::min(failures - 1, 10)));
  std::uniform_int_distribution<std::chrono::milliseconds::rep> jitter(0, doubled.count() / 4);
  return std::max(least, doubled + std::chrono::milliseconds(jitter(random_)));
}

channel::ending ending_for(const response_head& head, std::string body, const std::string& url, bool had_session) {
  channel::ending out;
  out.http_status = head.status;
  out.content_type = head.content_type;
  out.body = std::move(body);
  out.retry_after = parse_retry_after(head.retry_after, std::chrono::system_clock::now());
  const auto answered = shown(url) + " answered " + std::to_string(head.status);
  auto& why = out.why;
  why.code = errc::broken_protocol;
  if (head.status == 401 || head.status == 403) {
    out.challenges = head.challenges;
    why.code = errc::unauthorized;
    why.public_text = answered + ": it requires authentication, or denies access; send an Authorization header it accepts";
    why.private_text = reason_in(head.challenges, out.body);
  } else if (head.status == 404 && had_session) {
    out.session_has_ended = true;
    why.code = errc::source_unavailable;
    why.public_text = answered + ": the session has ended";
  } else if (head.status == 408 || head.status == 429 || head.status >= 500) {
    why.code = errc::source_unavailable;
    why.public_text = answered + "; retry later";
  } else if (head.is_success()) {
    why.public_text = answered +
                      (head.content_type.empty() ? std::string(" without content")
                                                 : " with " + shown(head.content_type) + " instead of JSON or events") +
                      "; check that the URL is that of an MCP server";
  } else {
    why.public_text = answered + "; check that the URL is that of an MCP server";
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

departures::departures(loop& within, conversation& in, std::function<void(name, channel::outgoing)> go)
    : loop_(within), in_(in), go_(std::move(go)) {}

departures::~departures() {
  if (patience_) loop_.cancel(*patience_);
  if (soon_) loop_.cancel(*soon_);
}

void departures::add(channel::outgoing message) {
  const bool must_wait = message.call != 0 && (!waiting_.empty() || notice_ || busy_.size() >= max_requests);
  if (must_wait && !(message.is_subscription && waiting_.empty() && !notice_)) {
    waiting_.push_back(std::move(message));
  } else {
    let_go(std::move(message));
  }
}

void departures::let_go(channel::outgoing message) {
  const name as = message.call != 0 ? message.call : first_other + ++others_;
  if (message.is_opening) state_ = notice_state::opening;
  if (message.call != 0 && !message.is_subscription) busy_.insert(as);
  if (message.call == 0 && state_ == notice_state::opening && !notice_) {
    notice_ = as;
    patience_ = loop_.after(longest_notice, [this] {
      patience_.reset();
      notice_.reset();
      let_waiting_go();
    });
  }
  go_(as, std::move(message));
}

void departures::answered(name of) {
  if (busy_.erase(of) > 0 && !waiting_.empty()) soon();
}

bool departures::over(name of) {
  const bool was_notice = notice_ == of;
  if (was_notice) {
    notice_.reset();
    if (patience_) loop_.cancel(*std::exchange(patience_, std::nullopt));
    state_ = notice_state::taken;
  }
  busy_.erase(of);
  if (!waiting_.empty()) soon();
  return was_notice;
}

void departures::soon() {
  if (soon_) return;
  soon_ = loop_.after(std::chrono::milliseconds(0), [this] {
    soon_.reset();
    let_waiting_go();
  });
}

void departures::let_waiting_go() {
  while (!waiting_.empty() && !notice_ && busy_.size() < max_requests) {
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    let_go(std::move(next));
  }
}

void departures::drop(channel::call_id call) {
  const auto found = std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& one) { return one.call == call; });
  if (found == waiting_.end()) return;
  in_.queued_bytes -= found->text.size();
  waiting_.erase(found);
}

void departures::clear() {
  for (const auto& one : waiting_) in_.queued_bytes -= one.text.size();
  waiting_.clear();
  busy_.clear();
}

}  // namespace hondana::transport::http_client
