/// Pending requests on one channel: matches answers to calls, with deadlines and cancellation.
#include "client/conversation.hpp"

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
#include "protocol/wire/choose.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::outbound {

/// Separates a channel from the callbacks of a call, which are destroyed when the call ends. Content and progress that arrive
/// later are rejected or ignored. Callbacks run under the lock, so that `close` waits for them. Threads: any.
class call_gate {
 public:
  call_gate(channel::content_sink content, std::function<void(const progress&)> report)
      : content_(std::move(content)), report_(std::move(report)) {}

  result<void> pass(std::size_t item, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    if (!is_open_) return fail(errc::cancelled, "the call has ended");
    try {
      return content_(item, bytes);
    } catch (const std::exception& error) {
      return fail(errc::internal, "the content writer failed", error.what());
    }
  }
  /// Reports progress. Errors: internal, when the application's callback throws.
  result<void> tell(const progress& now) {
    const std::lock_guard lock(mutex_);
    if (!is_open_ || !report_) return {};
    try {
      report_(now);
    } catch (const std::exception& error) {
      return fail(errc::internal, std::string("the progress handler failed: ") + error.what());
    }
    return {};
  }
  void close() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  [[nodiscard]] bool takes_content() const noexcept { return static_cast<bool>(content_); }

 private:
  std::mutex mutex_;
  bool is_open_ = true;
  const channel::content_sink content_;
  const std::function<void(const progress&)> report_;
};

/// Closes the gate when the scope of a call ends.
class gate_keeper {
 public:
  explicit gate_keeper(std::shared_ptr<call_gate> gate) : gate_(std::move(gate)) {}
  ~gate_keeper() { gate_->close(); }
  gate_keeper(const gate_keeper&) = delete;
  gate_keeper& operator=(const gate_keeper&) = delete;
  [[nodiscard]] channel::content_sink sink() const {
    if (!gate_->takes_content()) return {};
    return [gate = gate_](std::size_t item, std::string_view bytes) { return gate->pass(item, bytes); };
  }

 private:
  std::shared_ptr<call_gate> gate_;
};

namespace {

constexpr std::chrono::hours longest_time{24 * 365};

std::optional<json::object> error_in(std::string_view text, json::document& keeper) {
  auto parsed = json::document::parse(text);
  if (!parsed) return {};
  keeper = std::move(*parsed);
  const auto envelope = keeper.root().as_object({});
  if (!envelope) return {};
  const auto error = envelope->find_object("error");
  if (!error) return {};
  return *error;
}

}  // namespace

struct conversation::pending {
  std::condition_variable changed;
  std::optional<result<answer>> got;
  clock::time_point last_heard = clock::now();
  std::shared_ptr<call_gate> gate;
  std::string method;
  std::string target;
  bool is_subscription = false;
};

conversation::conversation(hearer& heard, std::size_t max_calls, std::function<void(message_direction, std::string_view)> trace)
    : heard_(heard), max_calls_(max_calls), trace_(std::move(trace)) {}

conversation::~conversation() { close(std::chrono::milliseconds(0)); }

void conversation::use(std::unique_ptr<channel::channel> through) {
  std::shared_ptr<channel::channel> old(std::move(through));
  {
    const std::lock_guard lock(mutex_);
    old.swap(channel_);
  }
  // The channel's threads may call this object while it closes, so no lock is held here.
  if (old) old->close(std::chrono::milliseconds(0));
}

std::shared_ptr<channel::channel> conversation::through() const {
  const std::lock_guard lock(mutex_);
  return channel_;
}

channel::call_id conversation::next_id() {
  const std::lock_guard lock(mutex_);
  return ++last_id_;
}

clock::duration conversation::paused() const {
  if (questions_ == 0) return question_total_;
  return question_total_ + std::min<clock::duration>(clock::now() - question_since_, question_time_);
}

void conversation::set_question_time(std::chrono::milliseconds most) {
  const std::lock_guard lock(mutex_);
  question_time_ = std::min<std::chrono::milliseconds>(most, longest_time);
}

void conversation::question_began() {
  const std::lock_guard lock(mutex_);
  if (questions_++ == 0) question_since_ = clock::now();
}

void conversation::question_ended() {
  const std::lock_guard lock(mutex_);
  const auto total = paused();
  if (--questions_ == 0) question_total_ = total;
  for (auto& [id, one] : pending_) one->changed.notify_all();
}

result<answer> conversation::ask(channel::call_id id, std::string text, const sending& how, const call_options& options) {
  auto mine = std::make_shared<pending>();
  mine->gate = std::make_shared<call_gate>(how.content, options.report);
  mine->method = how.method;
  mine->target = how.target;
  const auto began = clock::now();
  clock::duration paused_before{};
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return fail(errc::cancelled, "the client has been closed");
    if (pending_.size() >= max_calls_)
      return fail(errc::overloaded,
                  "more than " + std::to_string(max_calls_) + " calls are in progress; wait for some to finish");
    pending_.emplace(id, mine);
    paused_before = paused();
  }
  traced(message_direction::to_server, text);
  const bool streams = static_cast<bool>(how.content);
  const gate_keeper gate(mine->gate);
  through()->send({std::move(text), id, how.headers, gate.sink(), false, how.is_opening});

  // The lock ensures that no wake-up is lost between the check of the token and the wait.
  const std::stop_callback wake(options.stop, [this, mine] {
    const std::lock_guard lock(mutex_);
    mine->changed.notify_all();
  });
  std::unique_lock lock(mutex_);
  const auto time = std::min<std::chrono::milliseconds>(options.time.value_or(how.time), longest_time);
  const auto whole_time = std::min<std::chrono::milliseconds>(options.whole_time.value_or(longest_time), longest_time);
  const auto endless = std::min(time, whole_time) == longest_time;
  while (!mine->got) {
    if (options.stop.stop_requested()) {
      pending_.erase(id);
      lock.unlock();
      give_up(id, how, "cancelled");
      return fail(errc::cancelled, how.method + " was cancelled");
    }
    if (endless) {
      mine->changed.wait(lock);
      continue;
    }
    // Questions of the server extend the deadline by at most the time limit of one question.
    const auto won = std::min<clock::duration>(paused() - paused_before, question_time_);
    const auto last = streams ? std::max(began, mine->last_heard) : began;
    const auto until = std::min(last + time, began + whole_time) + won;
    const auto now = clock::now();
    if (questions_ != 0 && won < question_time_ && now < question_since_ + question_time_) {
      monotonic_clock::wait_until(mine->changed, lock, std::min(question_since_, now - won) + question_time_);
      continue;
    }
    if (now >= until) {
      pending_.erase(id);
      lock.unlock();
      give_up(id, how, "timed out");
      return fail(errc::timed_out, "the server did not answer " + how.method + " within " +
                                       std::to_string((last + time <= began + whole_time ? time : whole_time).count()) +
                                       " ms; raise the time limit, or check whether it is stuck");
    }
    monotonic_clock::wait_until(mine->changed, lock, until);
  }
  pending_.erase(id);
  return std::move(*mine->got);
}

void conversation::cancel(channel::call_id id, std::string_view reason,
                          std::vector<std::pair<std::string, std::string>> headers) {
  tell(wire::cancelled_notification(static_cast<std::int64_t>(id), reason), std::move(headers));
}

void conversation::give_up(channel::call_id id, const sending& how, std::string_view reason) {
  through()->abandon(id);
  if (how.tells_cancellation) cancel(id, reason, how.headers);
}

result<void> conversation::subscribe(channel::call_id id, std::string text, const sending& how) {
  auto mine = std::make_shared<pending>();
  mine->is_subscription = true;
  mine->method = how.method;
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return fail(errc::cancelled, "the client has been closed");
    if (pending_.size() >= max_calls_) return fail(errc::overloaded, "too many calls and subscriptions are in progress");
    pending_.emplace(id, mine);
  }
  traced(message_direction::to_server, text);
  through()->send({std::move(text), id, how.headers, {}, true, false});
  return {};
}

void conversation::drop(channel::call_id id) {
  {
    const std::lock_guard lock(mutex_);
    if (pending_.erase(id) == 0) return;
  }
  const auto open = through();
  open->abandon(id);
  // With one exchange per call, closing the exchange cancels the call. Otherwise a notification does.
  if (!open->has_exchanges()) cancel(id, "no longer subscribed", {});
}

void conversation::tell(std::string text, std::vector<std::pair<std::string, std::string>> headers) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
  }
  traced(message_direction::to_server, text);
  through()->send({std::move(text), 0, std::move(headers), {}, false, false});
}

void conversation::close(std::chrono::milliseconds time) {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  if (const auto open = through()) open->close(time);
  const std::lock_guard lock(mutex_);
  for (auto& [id, one] : pending_) {
    if (!one->got) one->got = fail(errc::cancelled, "the client has been closed");
    one->changed.notify_all();
  }
}

void conversation::settle(channel::call_id id, result<answer> with) {
  std::shared_ptr<pending> subscription;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(id);
    if (found == pending_.end()) return;
    if (!found->second->is_subscription) {
      if (found->second->got) return;
      found->second->got = std::move(with);
      found->second->changed.notify_all();
      return;
    }
    subscription = found->second;
    pending_.erase(found);
  }
  std::optional<failure> why;
  if (!with) why = std::move(with.error());
  heard_.subscription_ended(id, std::move(why));
}

void conversation::received(channel::call_id call, std::string text) {
  traced(message_direction::from_server, text);
  auto parsed = json::document::parse(text);
  if (!parsed) {
    const auto what = "the server sent a message that is not valid JSON: " + parsed.error().what;
    heard_.noticed(what);
    if (call != 0) settle(call, fail(errc::broken_protocol, what));
    return;
  }
  auto message = rpc::read_message(parsed->root());
  if (const auto* one = std::get_if<rpc::response>(&message)) {
    answered(call, std::move(*parsed), *one, text.size());
  } else if (const auto* told = std::get_if<rpc::notification>(&message)) {
    auto news = asking::news_of(*told);
    if (const auto* progressed = std::get_if<asking::call_progress>(&news.what)) {
      reported(*progressed);
    } else {
      heard_.told(std::move(news), text.size());
    }
  } else if (const auto* asked = std::get_if<rpc::request>(&message)) {
    heard_.asked(*asked, text.size());
  } else if (const auto* bad = std::get_if<rpc::malformed>(&message)) {
    const auto what = "the server sent a malformed message: " + bad->text;
    heard_.noticed(what);
    if (call != 0) settle(call, fail(errc::broken_protocol, what));
  }
}

void conversation::answered(channel::call_id call, json::document document, const rpc::response& what, std::size_t bytes) {
  auto id = call;
  if (what.id) {
    const auto* number = std::get_if<std::int64_t>(&*what.id);
    const bool is_ours = number != nullptr && *number > 0;
    if (!is_ours || (call != 0 && static_cast<channel::call_id>(*number) != call)) {
      heard_.noticed("the server answered request " + rpc::to_json(*what.id).substr(0, 100) + ", which " +
                     (call != 0 ? "was not sent on that connection" : "was never sent"));
      return;
    }
    id = static_cast<channel::call_id>(*number);
  } else if (call == 0) {
    heard_.noticed("the server sent an error without a matching request: " + what.error.substr(0, 500));
    return;
  }
  std::string method;
  std::string target;
  bool is_awaited = false;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(id);
    is_awaited = found != pending_.end() && !found->second->got;
    if (is_awaited) {
      method = found->second->method;
      target = found->second->target;
    }
  }
  if (!is_awaited) {
    heard_.noticed("the server answered request " + std::to_string(id) + " again, or after the client gave it up");
    return;
  }
  if (what.result) {
    if (what.result->type() != json::kind::object) {
      settle(id, fail(errc::broken_protocol, "the server answered " + method + " with a result that is not an object"));
      return;
    }
    const auto value = *what.result;
    settle(id, answer{std::move(document), value, bytes});
    return;
  }
  const auto envelope = document.root().as_object({});
  const auto error = envelope ? envelope->find_object("error") : tl::unexpected(json::bad_member{});
  if (error && *error) {
    settle(id, tl::unexpected(asking::failure_of(**error, 0, method, target)));
  } else {
    settle(id, fail(errc::broken_protocol, "the server answered " + method + " with neither a result nor an error"));
  }
}

void conversation::reported(const asking::call_progress& what) {
  std::shared_ptr<call_gate> gate;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(what.call);
    if (found == pending_.end() || found->second->got) return;
    // A progress message does not extend the timeout of a streamed read: only content bytes do.
    gate = found->second->gate;
  }
  if (!gate) return;
  if (const auto told = gate->tell(what.now); !told) heard_.noticed(told.error().public_text);
}

void conversation::traced(message_direction way, std::string_view message) {
  if (!trace_) return;
  try {
    trace_(way, message);
  } catch (const std::exception& error) {
    heard_.noticed(std::string("the trace handler failed: ") + error.what());
  }
}

void conversation::progressed(channel::call_id call) {
  const std::lock_guard lock(mutex_);
  const auto found = pending_.find(call);
  if (found != pending_.end()) found->second->last_heard = clock::now();
}

void conversation::ended(channel::call_id call, channel::ending how) {
  std::string method;
  std::string target;
  {
    const std::lock_guard lock(mutex_);
    const auto found = pending_.find(call);
    if (found == pending_.end() || found->second->got) {
      if (!how.session_has_ended) return;
    } else {
      method = found->second->method;
      target = found->second->target;
    }
  }
  auto why = failure_of(how, method);
  json::document keeper;
  if (how.http_status >= 400) {
    if (const auto error = error_in(how.body, keeper)) {
      const auto by_status = std::move(why);
      why = asking::failure_of(*error, how.http_status, method, target);
      if (by_status.code == errc::unauthorized || by_status.code == errc::too_many_requests) why.code = by_status.code;
      if (!why.retry) why.retry = by_status.retry;
      why.scopes = by_status.scopes;
      name_scopes(why);
    }
  }
  settle(call, tl::unexpected(why));
  if (how.session_has_ended) heard_.lost(why);
}

void conversation::interrupted() { heard_.interrupted(); }

void conversation::broken(failure why) {
  std::vector<channel::call_id> subscriptions;
  {
    const std::lock_guard lock(mutex_);
    for (auto one = pending_.begin(); one != pending_.end();) {
      if (one->second->is_subscription) {
        subscriptions.push_back(one->first);
        one = pending_.erase(one);
        continue;
      }
      if (!one->second->got) {
        one->second->got = tl::unexpected(why);
        one->second->changed.notify_all();
      }
      ++one;
    }
  }
  for (const auto id : subscriptions) heard_.subscription_ended(id, why);
  heard_.lost(why);
}

namespace {

constexpr std::size_t longest_message = 2'000;
constexpr std::size_t longest_scopes = 500;

/// The scopes that the challenge of a 403 requires. Null if the challenge is not about scopes or names none.
std::shared_ptr<const std::vector<std::string>> scopes_wanted(const channel::ending& how) {
  if (how.http_status != 403 || !transport::http_client::wants_more_scopes(how.challenges)) return nullptr;
  const auto wanted = oauth::bearer_in(how.challenges).scopes;
  if (!wanted || wanted->empty()) return nullptr;
  return std::make_shared<const std::vector<std::string>>(wanted->begin(), wanted->end());
}

}  // namespace

void name_scopes(failure& why) {
  if (!why.scopes) return;
  auto all = model::joined(*why.scopes);
  if (why.public_text.find(all) != std::string::npos) return;
  if (all.size() > longest_scopes) all = all.substr(0, longest_scopes) + "...";
  if (why.public_text.ends_with('.')) why.public_text.pop_back();
  why.public_text += "; it requires the scope" + std::string(why.scopes->size() == 1 ? " " : "s ") + all;
}

failure failure_of(const channel::ending& how, const std::string& method) {
  auto out = how.why;
  if (how.http_status != 0) {
    auto what = std::make_shared<error_answer>();
    what->http_status = how.http_status;
    what->message = how.body.substr(0, longest_message);
    out.answer = std::move(what);
  }
  if (how.http_status == 401 || how.http_status == 403) {
    out.code = errc::unauthorized;
    out.public_text = "the server rejected " + method + " with HTTP " + std::to_string(how.http_status) +
                      (how.http_status == 401 ? ": it requires authentication" : ": the caller is not authorized");
    out.scopes = scopes_wanted(how);
    name_scopes(out);
    return out;
  }
  if (how.http_status >= 400) {
    out.code = how.http_status == 429 ? errc::too_many_requests : how.http_status == 503 ? errc::overloaded : errc::refused;
    if (out.code != errc::refused) out.retry = how.retry_after;
    out.public_text = "the server answered " + (method.empty() ? "a request" : method) + " with HTTP " +
                      std::to_string(how.http_status) + " and no MCP error";
    return out;
  }
  if (out.public_text.empty()) {
    out.code = errc::broken_protocol;
    out.public_text = "the server ended its response to " + (method.empty() ? "a request" : method) + " without an answer";
  }
  return out;
}

}  // namespace hondana::outbound
