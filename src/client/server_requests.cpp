/// Passes the server's questions (requests for input) to the application's handlers, one at a time.
#include "client/server_requests.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>

namespace hondana::outbound {
namespace {

using asking::make_reply;
using asking::method_not_found_reply;
using asking::reply;

/// Calls the handler for one kind of question.
struct handler_visitor {
  const client_handlers& handlers;
  const value& params;

  reply operator()(const form_request& request) const {
    return handlers.form_elicitation ? make_reply(handlers.form_elicitation(request, params), request)
                                     : method_not_found_reply("this client does not show forms");
  }
  reply operator()(const url_request& request) const {
    return handlers.url_elicitation ? make_reply(handlers.url_elicitation(request, params), request)
                                    : method_not_found_reply("this client does not open links");
  }
  reply operator()(const sampling_request& request) const {
    return handlers.sampling ? make_reply(handlers.sampling(request, params))
                             : method_not_found_reply("this client does not support sampling");
  }
  reply operator()(const asking::roots_request&) const {
    return handlers.roots ? make_reply(handlers.roots()) : method_not_found_reply("this client has no roots");
  }
};

}  // namespace

bool input_dispatcher::has_handler(std::string_view method) const noexcept {
  const auto kind = asking::find_request_kind(method);
  if (!kind) return false;
  switch (*kind) {
    case asking::server_request_kind::elicitation:
      return handlers_.form_elicitation || handlers_.url_elicitation;
    case asking::server_request_kind::sampling:
      return static_cast<bool>(handlers_.sampling);
    case asking::server_request_kind::roots:
      break;
  }
  return static_cast<bool>(handlers_.roots);
}

bool input_dispatcher::needs_user(std::string_view method) noexcept {
  return asking::find_request_kind(method) != asking::server_request_kind::roots;
}

reply input_dispatcher::dispatch(std::string_view method, const value& params) {
  // A question without a handler is not parsed.
  if (!has_handler(method))
    return method_not_found_reply("this client does not support the method " + std::string(method.substr(0, 100)));
  const auto request = asking::parse_server_request(method, params);
  if (!request) return request.error();
  try {
    return std::visit(handler_visitor{handlers_, params}, *request);
  } catch (const std::exception&) {
    // The server does not learn why a handler of the application failed.
    return asking::failure_reply("the client failed to answer");
  }
}

namespace {

constexpr std::size_t max_queued = 64;
constexpr std::size_t max_queued_bytes = 16u << 20;
constexpr std::chrono::hours max_input_timeout{24 * 365};

/// A reply that a thread waits for.
struct reply_slot {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<asking::reply> reply;
  bool is_abandoned = false;
};

}  // namespace

input_queue::input_queue(const client_handlers& handlers, std::chrono::milliseconds timeout)
    : dispatcher_(handlers),
      timeout_(std::min<std::chrono::milliseconds>(timeout, max_input_timeout)),
      pool_("the client's questions", 1, max_queued) {}

bool input_queue::submit(input_task task, std::function<bool()> is_stale, std::function<void(const asking::reply&)> on_reply) {
  if (bytes_.fetch_add(task.bytes) + task.bytes > max_queued_bytes) {
    bytes_ -= task.bytes;
    return false;
  }
  const auto bytes = task.bytes;
  auto job = [this, queued = std::move(task), is_stale = std::move(is_stale), deliver = std::move(on_reply)] {
    bytes_ -= queued.bytes;
    if (is_stale()) return;
    thread_ = std::this_thread::get_id();
    const auto reply = dispatcher_.dispatch(queued.method, queued.params);
    if (!is_stale()) deliver(reply);
  };
  if (pool_.submit(std::move(job), executor::clock::time_point::max())) return true;
  bytes_ -= bytes;
  return false;
}

bool input_queue::enqueue(input_task task, std::function<bool()> is_stale, std::function<void(const asking::reply&)> on_reply) {
  return waiting_handlers_ == 0 && submit(std::move(task), std::move(is_stale), std::move(on_reply));
}

result<asking::reply> input_queue::execute(input_task task, const std::stop_token& stop) {
  // A handler that calls the server, which then asks back, would wait for itself.
  if (is_own_thread()) return asking::failure_reply("a handler of this client caused this request itself");
  const auto slot = std::make_shared<reply_slot>();
  const auto is_stale = [slot] {
    const std::lock_guard lock(slot->mutex);
    return slot->is_abandoned;
  };
  const auto on_reply = [slot](const asking::reply& reply) {
    const std::lock_guard lock(slot->mutex);
    slot->reply = reply;
    slot->changed.notify_all();
  };
  if (!submit(std::move(task), is_stale, on_reply))
    return fail(errc::overloaded, "this client already has too many requests to answer");
  const auto closing = closing_.get_token();
  const std::stop_callback on_close(closing, [slot] {
    const std::lock_guard lock(slot->mutex);
    slot->changed.notify_all();
  });
  std::unique_lock lock(slot->mutex);
  monotonic_clock::wait_until(slot->changed, lock, stop, executor::clock::now() + timeout_,
                              [&] { return slot->reply.has_value() || closing.stop_requested(); });
  if (slot->reply) return std::move(*slot->reply);
  slot->is_abandoned = true;
  if (closing.stop_requested()) return fail(errc::cancelled, "the client has been closed");
  if (stop.stop_requested()) return fail(errc::cancelled, "the call was cancelled while the server asked for input");
  return fail(errc::timed_out,
              "the server's request for input was not answered within " + std::to_string(timeout_.count()) + " ms");
}

void input_queue::close() {
  closing_.request_stop();
  pool_.close(executor::clock::now());
}

}  // namespace hondana::outbound
