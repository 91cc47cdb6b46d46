/// Sends requests over a channel, and matches the answers to them, with timeouts and cancellation.
#include "client/rpc_peer.hpp"

#include <algorithm>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client_types.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "auth/oauth/scopes.hpp"
#include "protocol/channel/channel.hpp"
#include "protocol/model/caller_checks.hpp"
#include "protocol/wire/asking/server_errors.hpp"
#include "protocol/wire/choose_codec.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::outbound {

/// Separates a channel from the callbacks of a call, which are destroyed when the call ends. Content and progress that arrive
/// later are rejected or ignored. Callbacks run under the lock, so that `close` waits for them. Threads: any.
class call_gate {
 public:
  call_gate(channel::content_sink content, std::function<void(const progress&)> on_progress)
      : content_(std::move(content)), on_progress_(std::move(on_progress)) {}

  result<void> pass(std::size_t index, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    if (!is_open_) return fail(errc::cancelled, "the call has ended");
    try {
      return content_(index, bytes);
    } catch (const std::exception& error) {
      return fail(errc::internal, "the content writer failed", error.what());
    }
  }
  /// Reports progress. Errors: internal, when the application's callback throws.
  result<void> report(const progress& update) {
    const std::lock_guard lock(mutex_);
    if (!is_open_ || !on_progress_) return {};
    try {
      on_progress_(update);
    } catch (const std::exception& error) {
      return fail(errc::internal, std::string("the progress handler failed: ") + error.what());
    }
    return {};
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  [[nodiscard]] bool accepts_content() const noexcept { return static_cast<bool>(content_); }

 private:
  std::mutex mutex_;
  bool is_open_ = true;
  const channel::content_sink content_;
  const std::function<void(const progress&)> on_progress_;
};

/// Closes the gate when the scope of a call ends.
class gate_guard {
 public:
  explicit gate_guard(std::shared_ptr<call_gate> gate) : gate_(std::move(gate)) {}
  ~gate_guard() { gate_->close(); }
  gate_guard(const gate_guard&) = delete;
  gate_guard& operator=(const gate_guard&) = delete;
  [[nodiscard]] channel::content_sink sink() const {
    if (!gate_->accepts_content()) return {};
    return [gate = gate_](std::size_t index, std::string_view bytes) { return gate->pass(index, bytes); };
  }

 private:
  std::shared_ptr<call_gate> gate_;
};

namespace {

constexpr std::chrono::hours max_timeout{24 * 365};

std::optional<json::object> find_error(std::string_view text, json::document& document) {
  auto parsed = json::document::parse(text);
  if (!parsed) return {};
  document = std::move(*parsed);
  const auto envelope = document.root().as_object({});
  if (!envelope) return {};
  const auto error = envelope->find_object("error");
  if (!error) return {};
  return *error;
}

}  // namespace

struct rpc_peer::pending {
  std::condition_variable changed;
  std::optional<result<rpc_response>> outcome;
  clock::time_point last_activity = clock::now();
  std::shared_ptr<call_gate> gate;
  std::string method;
  std::string target;
  bool is_subscription = false;
};

rpc_peer::rpc_peer(peer_listener& listener, std::size_t max_calls,
                   std::function<void(message_direction, std::string_view)> on_message)
    : listener_(listener), max_calls_(max_calls), on_message_(std::move(on_message)) {}

rpc_peer::~rpc_peer() { close(std::chrono::milliseconds(0)); }

void rpc_peer::set_channel(std::unique_ptr<channel::channel> replacement) {
  std::shared_ptr<channel::channel> old(std::move(replacement));
  {
    const std::lock_guard lock(mutex_);
    old.swap(channel_);
  }
  // The channel's threads may call this object while it closes, so no lock is held here.
  if (old) old->close(std::chrono::milliseconds(0));
}

std::shared_ptr<channel::channel> rpc_peer::current_channel() const {
  const std::lock_guard lock(mutex_);
  return channel_;
}

channel::call_id rpc_peer::next_id() {
  const std::lock_guard lock(mutex_);
  return ++last_id_;
}

clock::duration rpc_peer::input_duration() const {
  if (open_inputs_ == 0) return input_total_;
  return input_total_ + std::min<clock::duration>(clock::now() - input_start_, input_timeout_);
}

void rpc_peer::set_input_timeout(std::chrono::milliseconds timeout) {
  const std::lock_guard lock(mutex_);
  input_timeout_ = std::min<std::chrono::milliseconds>(timeout, max_timeout);
}

void rpc_peer::input_began() {
  const std::lock_guard lock(mutex_);
  if (open_inputs_++ == 0) input_start_ = clock::now();
}

void rpc_peer::input_ended() {
  const std::lock_guard lock(mutex_);
  const auto total = input_duration();
  if (--open_inputs_ == 0) input_total_ = total;
  for (auto& [id, call] : pending_) call->changed.notify_all();
}

result<rpc_response> rpc_peer::send_request(channel::call_id id, std::string text, const outgoing_request& outgoing,
                                            const call_options& options) {
  auto call = std::make_shared<pending>();
  call->gate = std::make_shared<call_gate>(outgoing.content, options.on_progress);
  call->method = outgoing.method;
  call->target = outgoing.target;
  const auto start = clock::now();
  clock::duration input_before{};
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return fail(errc::cancelled, "the client has been closed");
    if (pending_.size() >= max_calls_)
      return fail(errc::overloaded,
                  "more than " + std::to_string(max_calls_) + " calls are in progress; wait for some to finish");
    pending_.emplace(id, call);
    input_before = input_duration();
  }
  trace(message_direction::to_server, text);
  const bool is_streaming = static_cast<bool>(outgoing.content);
  const gate_guard gate(call->gate);
  current_channel()->send({std::move(text), id, outgoing.headers, gate.sink(), false, outgoing.is_opening});

  // The lock ensures that no wake-up is lost between the check of the token and the wait.
  const std::stop_callback on_stop(options.stop, [this, call] {
    const std::lock_guard lock(mutex_);
    call->changed.notify_all();
  });
  std::unique_lock lock(mutex_);
  const auto timeout = std::min<std::chrono::milliseconds>(options.timeout.value_or(outgoing.timeout), max_timeout);
  const auto total_timeout = std::min<std::chrono::milliseconds>(options.total_timeout.value_or(max_timeout), max_timeout);
  const auto is_unlimited = std::min(timeout, total_timeout) == max_timeout;
  while (!call->outcome) {
    if (options.stop.stop_requested()) {
      pending_.erase(id);
      lock.unlock();
      abandon(id, outgoing, "cancelled");
      return fail(errc::cancelled, outgoing.method + " was cancelled");
    }
    if (is_unlimited) {
      call->changed.wait(lock);
      continue;
    }
    // Questions of the server extend the deadline by at most `input_timeout_`.
    const auto extension = std::min<clock::duration>(input_duration() - input_before, input_timeout_);
    const auto last_activity = is_streaming ? std::max(start, call->last_activity) : start;
    const auto deadline = std::min(last_activity + timeout, start + total_timeout) + extension;
    const auto now = clock::now();
    if (open_inputs_ != 0 && extension < input_timeout_ && now < input_start_ + input_timeout_) {
      monotonic_clock::wait_until(call->changed, lock, std::min(input_start_, now - extension) + input_timeout_);
      continue;
    }
    if (now >= deadline) {
      pending_.erase(id);
      lock.unlock();
      abandon(id, outgoing, "timed out");
      return fail(errc::timed_out,
                  "the server did not answer " + outgoing.method + " within " +
                      std::to_string((last_activity + timeout <= start + total_timeout ? timeout : total_timeout).count()) +
                      " ms; raise the time limit, or check whether it is stuck");
    }
    monotonic_clock::wait_until(call->changed, lock, deadline);
  }
  pending_.erase(id);
  return std::move(*call->outcome);
}

void rpc_peer::cancel(channel::call_id id, std::string_view reason, std::vector<std::pair<std::string, std::string>> headers) {
  send(wire::cancelled_notification(static_cast<std::int64_t>(id), reason), std::move(headers));
}

void rpc_peer::abandon(channel::call_id id, const outgoing_request& outgoing, std::string_view reason) {
  current_channel()->abandon(id);
  if (outgoing.notifies_cancellation) cancel(id, reason, outgoing.headers);
}

result<void> rpc_peer::subscribe(channel::call_id id, std::string text, const outgoing_request& outgoing) {
  auto call = std::make_shared<pending>();
  call->is_subscription = true;
  call->method = outgoing.method;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return fail(errc::cancelled, "the client has been closed");
    if (pending_.size() >= max_calls_) return fail(errc::overloaded, "too many calls and subscriptions are in progress");
    pending_.emplace(id, call);
  }
  trace(message_direction::to_server, text);
  current_channel()->send({std::move(text), id, outgoing.headers, {}, true, false});
  return {};
}

void rpc_peer::unsubscribe(channel::call_id id) {
  {
    const std::lock_guard lock(mutex_);
    if (pending_.erase(id) == 0) return;
  }
  const auto channel = current_channel();
  channel->abandon(id);
  // With one exchange per call, closing the exchange cancels the call. Otherwise a notification does.
  if (!channel->has_exchanges()) cancel(id, "no longer subscribed", {});
}

void rpc_peer::send(std::string text, std::vector<std::pair<std::string, std::string>> headers) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
  }
  trace(message_direction::to_server, text);
  current_channel()->send({std::move(text), 0, std::move(headers), {}, false, false});
}

void rpc_peer::close(std::chrono::milliseconds timeout) {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  if (const auto channel = current_channel()) channel->close(timeout);
  const std::lock_guard lock(mutex_);
  for (auto& [id, call] : pending_) {
    if (!call->outcome) call->outcome = fail(errc::cancelled, "the client has been closed");
    call->changed.notify_all();
  }
}

void rpc_peer::complete(channel::call_id id, result<rpc_response> outcome) {
  std::shared_ptr<pending> subscription;
  {
    const std::lock_guard lock(mutex_);
    const auto position = pending_.find(id);
    if (position == pending_.end()) return;
    if (!position->second->is_subscription) {
      if (position->second->outcome) return;
      position->second->outcome = std::move(outcome);
      position->second->changed.notify_all();
      return;
    }
    subscription = position->second;
    pending_.erase(position);
  }
  std::optional<failure> reason;
  if (!outcome) reason = std::move(outcome.error());
  listener_.on_subscription_end(id, std::move(reason));
}

void rpc_peer::on_message(channel::call_id call, std::string text) {
  trace(message_direction::from_server, text);
  auto parsed = json::document::parse(text);
  if (!parsed) {
    const auto error = "the server sent a message that is not valid JSON: " + parsed.error().message;
    listener_.log_line(error);
    if (call != 0) complete(call, fail(errc::protocol_error, error));
    return;
  }
  auto message = rpc::read_message(parsed->root());
  if (const auto* response = std::get_if<rpc::response>(&message)) {
    handle_response(call, std::move(*parsed), *response, text.size());
  } else if (const auto* notification = std::get_if<rpc::notification>(&message)) {
    auto parsed_notification = asking::parse_notification(*notification);
    if (const auto* progressed = std::get_if<asking::call_progress>(&parsed_notification.event)) {
      handle_progress(*progressed);
    } else {
      listener_.on_notification(std::move(parsed_notification), text.size());
    }
  } else if (const auto* request = std::get_if<rpc::request>(&message)) {
    listener_.on_request(*request, text.size());
  } else if (const auto* bad = std::get_if<rpc::malformed>(&message)) {
    const auto error = "the server sent a malformed message: " + bad->text;
    listener_.log_line(error);
    if (call != 0) complete(call, fail(errc::protocol_error, error));
  }
}

void rpc_peer::handle_response(channel::call_id call, json::document document, const rpc::response& response,
                               std::size_t bytes) {
  auto id = call;
  if (response.id) {
    const auto* number = std::get_if<std::int64_t>(&*response.id);
    const bool is_valid_id = number != nullptr && *number > 0;
    if (!is_valid_id || (call != 0 && static_cast<channel::call_id>(*number) != call)) {
      listener_.log_line("the server answered request " + rpc::to_json(*response.id).substr(0, 100) + ", which " +
                         (call != 0 ? "was not sent on that connection" : "was never sent"));
      return;
    }
    id = static_cast<channel::call_id>(*number);
  } else if (call == 0) {
    listener_.log_line("the server sent an error without a matching request: " + response.error.substr(0, 500));
    return;
  }
  std::string method;
  std::string target;
  bool is_awaited = false;
  {
    const std::lock_guard lock(mutex_);
    const auto position = pending_.find(id);
    is_awaited = position != pending_.end() && !position->second->outcome;
    if (is_awaited) {
      method = position->second->method;
      target = position->second->target;
    }
  }
  if (!is_awaited) {
    listener_.log_line("the server answered request " + std::to_string(id) + " again, or after the client gave it up");
    return;
  }
  if (response.result) {
    if (response.result->type() != json::kind::object) {
      complete(id, fail(errc::protocol_error, "the server answered " + method + " with a result that is not an object"));
      return;
    }
    const auto value = *response.result;
    complete(id, rpc_response{std::move(document), value, bytes});
    return;
  }
  const auto envelope = document.root().as_object({});
  const auto error = envelope ? envelope->find_object("error") : tl::unexpected(json::member_error{});
  if (error && *error) {
    complete(id, tl::unexpected(asking::make_failure(**error, 0, method, target)));
  } else {
    complete(id, fail(errc::protocol_error, "the server answered " + method + " with neither a result nor an error"));
  }
}

void rpc_peer::handle_progress(const asking::call_progress& update) {
  std::shared_ptr<call_gate> gate;
  {
    const std::lock_guard lock(mutex_);
    const auto position = pending_.find(update.call);
    if (position == pending_.end() || position->second->outcome) return;
    // A progress message does not extend the timeout of a streamed read: only content bytes do.
    gate = position->second->gate;
  }
  if (!gate) return;
  if (const auto reported = gate->report(update.current); !reported) listener_.log_line(reported.error().public_text);
}

void rpc_peer::trace(message_direction direction, std::string_view message) {
  if (!on_message_) return;
  try {
    on_message_(direction, message);
  } catch (const std::exception& error) {
    listener_.log_line(std::string("the trace handler failed: ") + error.what());
  }
}

void rpc_peer::on_progress(channel::call_id call) {
  const std::lock_guard lock(mutex_);
  const auto position = pending_.find(call);
  if (position != pending_.end()) position->second->last_activity = clock::now();
}

void rpc_peer::on_call_finished(channel::call_id call, channel::termination ending) {
  std::string method;
  std::string target;
  {
    const std::lock_guard lock(mutex_);
    const auto position = pending_.find(call);
    if (position == pending_.end() || position->second->outcome) {
      if (!ending.session_has_ended) return;
    } else {
      method = position->second->method;
      target = position->second->target;
    }
  }
  auto reason = to_failure(ending, method);
  json::document document;
  if (ending.http_status >= 400) {
    if (const auto error = find_error(ending.body, document)) {
      const auto status_failure = std::move(reason);
      reason = asking::make_failure(*error, ending.http_status, method, target);
      if (status_failure.code == errc::unauthorized || status_failure.code == errc::too_many_requests)
        reason.code = status_failure.code;
      if (!reason.retry_after) reason.retry_after = status_failure.retry_after;
      reason.scopes = status_failure.scopes;
      append_scopes(reason);
    }
  }
  complete(call, tl::unexpected(reason));
  if (ending.session_has_ended) listener_.on_disconnect(reason);
}

void rpc_peer::on_stream_interrupted() { listener_.on_interruption(); }

void rpc_peer::on_connection_lost(failure reason) {
  std::vector<channel::call_id> subscriptions;
  {
    const std::lock_guard lock(mutex_);
    for (auto position = pending_.begin(); position != pending_.end();) {
      if (position->second->is_subscription) {
        subscriptions.push_back(position->first);
        position = pending_.erase(position);
        continue;
      }
      if (!position->second->outcome) {
        position->second->outcome = tl::unexpected(reason);
        position->second->changed.notify_all();
      }
      ++position;
    }
  }
  for (const auto id : subscriptions) listener_.on_subscription_end(id, reason);
  listener_.on_disconnect(reason);
}

namespace {

constexpr std::size_t max_message_bytes = 2'000;
constexpr std::size_t max_scopes_bytes = 500;

/// The scopes that the challenge of a 403 requires. Null if the challenge is not about scopes or names none.
std::shared_ptr<const std::vector<std::string>> required_scopes(const channel::termination& ending) {
  if (ending.http_status != 403 || !transport::http_client::requests_more_scopes(ending.challenges)) return nullptr;
  const auto scopes = oauth::find_bearer_challenge(ending.challenges).scopes;
  if (!scopes || scopes->empty()) return nullptr;
  return std::make_shared<const std::vector<std::string>>(scopes->begin(), scopes->end());
}

}  // namespace

void append_scopes(failure& error) {
  if (!error.scopes) return;
  auto scopes = model::join_words(*error.scopes);
  if (error.public_text.find(scopes) != std::string::npos) return;
  if (scopes.size() > max_scopes_bytes) scopes = scopes.substr(0, max_scopes_bytes) + "...";
  if (error.public_text.ends_with('.')) error.public_text.pop_back();
  error.public_text += "; it requires the scope" + std::string(error.scopes->size() == 1 ? " " : "s ") + scopes;
}

failure to_failure(const channel::termination& ending, const std::string& method) {
  auto out = ending.reason;
  if (ending.http_status != 0) {
    auto rpc = std::make_shared<rpc_error>();
    rpc->http_status = ending.http_status;
    rpc->message = ending.body.substr(0, max_message_bytes);
    out.server_error = std::move(rpc);
  }
  if (ending.http_status == 401 || ending.http_status == 403) {
    out.code = errc::unauthorized;
    out.public_text = "the server rejected " + method + " with HTTP " + std::to_string(ending.http_status) +
                      (ending.http_status == 401 ? ": it requires authentication" : ": the caller is not authorized");
    out.scopes = required_scopes(ending);
    append_scopes(out);
    return out;
  }
  if (ending.http_status >= 400) {
    out.code = ending.http_status == 429   ? errc::too_many_requests
               : ending.http_status == 503 ? errc::overloaded
                                           : errc::server_error;
    if (out.code != errc::server_error) out.retry_after = ending.retry_after;
    out.public_text = "the server answered " + (method.empty() ? "a request" : method) + " with HTTP " +
                      std::to_string(ending.http_status) + " and no MCP error";
    return out;
  }
  if (out.public_text.empty()) {
    out.code = errc::protocol_error;
    out.public_text = "the server ended its response to " + (method.empty() ? "a request" : method) + " without an answer";
  }
  return out;
}

}  // namespace hondana::outbound
