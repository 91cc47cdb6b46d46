/// Passes requests of servers for input to the application's handlers, one at a time.
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

using asking::reply;
using asking::reply_of;
using asking::unanswered;

/// Calls the handler for one kind of question.
struct asks {
  const client_handlers& by;
  const value& params;

  reply operator()(const form_request& what) const {
    return by.form ? reply_of(by.form(what, params), what) : unanswered("this client does not show forms");
  }
  reply operator()(const link_request& what) const {
    return by.link ? reply_of(by.link(what, params), what) : unanswered("this client does not open links");
  }
  reply operator()(const sampling_request& what) const {
    return by.sampling ? reply_of(by.sampling(what, params)) : unanswered("this client does not support sampling");
  }
  reply operator()(const asking::roots_request&) const {
    return by.roots ? reply_of(by.roots()) : unanswered("this client has no roots");
  }
};

}  // namespace

bool questions::has_handler(std::string_view method) const noexcept {
  const auto kind = asking::kind_of_question(method);
  if (!kind) return false;
  switch (*kind) {
    case asking::question_kind::elicitation:
      return by_.form || by_.link;
    case asking::question_kind::sampling:
      return static_cast<bool>(by_.sampling);
    case asking::question_kind::roots:
      break;
  }
  return static_cast<bool>(by_.roots);
}

bool questions::takes_time(std::string_view method) noexcept {
  return asking::kind_of_question(method) != asking::question_kind::roots;
}

reply questions::answer(std::string_view method, const value& params) {
  // A question without a handler is not parsed.
  if (!has_handler(method)) return unanswered("this client does not support the method " + std::string(method.substr(0, 100)));
  const auto what = asking::question_of(method, params);
  if (!what) return what.error();
  try {
    return std::visit(asks{by_, params}, *what);
  } catch (const std::exception&) {
    // The server does not learn why a handler of the application failed.
    return asking::failed("the client failed to answer");
  }
}

namespace {

constexpr std::size_t most_waiting = 64;
constexpr std::size_t most_bytes = 16u << 20;
constexpr std::chrono::hours longest_question{24 * 365};

/// A reply that a thread waits for.
struct awaited {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::optional<asking::reply> got;
  bool is_given_up = false;
};

}  // namespace

asking_lane::asking_lane(const client_handlers& by, std::chrono::milliseconds most_time)
    : asked_(by),
      most_time_(std::min<std::chrono::milliseconds>(most_time, longest_question)),
      pool_("the client's questions", 1, most_waiting) {}

bool asking_lane::submit(question what, std::function<bool()> is_stale, std::function<void(const asking::reply&)> into) {
  if (bytes_.fetch_add(what.bytes) + what.bytes > most_bytes) {
    bytes_ -= what.bytes;
    return false;
  }
  const auto bytes = what.bytes;
  auto job = [this, what = std::move(what), is_stale = std::move(is_stale), into = std::move(into)] {
    bytes_ -= what.bytes;
    if (is_stale()) return;
    here_ = std::this_thread::get_id();
    const auto given = asked_.answer(what.method, what.params);
    if (!is_stale()) into(given);
  };
  if (pool_.submit(std::move(job), executor::clock::time_point::max())) return true;
  bytes_ -= bytes;
  return false;
}

bool asking_lane::ask(question what, std::function<bool()> is_stale, std::function<void(const asking::reply&)> into) {
  return waiting_ == 0 && submit(std::move(what), std::move(is_stale), std::move(into));
}

result<asking::reply> asking_lane::answer(question what, const std::stop_token& stop) {
  // A handler that calls the server, which then asks back, would wait for itself.
  if (is_here()) return asking::failed("a handler of this client caused this request itself");
  const auto mine = std::make_shared<awaited>();
  const auto is_stale = [mine] {
    const std::lock_guard lock(mine->mutex);
    return mine->is_given_up;
  };
  const auto into = [mine](const asking::reply& given) {
    const std::lock_guard lock(mine->mutex);
    mine->got = given;
    mine->changed.notify_all();
  };
  if (!submit(std::move(what), is_stale, into))
    return fail(errc::overloaded, "this client already has too many requests to answer");
  const auto closing = closing_.get_token();
  const std::stop_callback wake(closing, [mine] {
    const std::lock_guard lock(mine->mutex);
    mine->changed.notify_all();
  });
  std::unique_lock lock(mine->mutex);
  monotonic_clock::wait_until(mine->changed, lock, stop, executor::clock::now() + most_time_,
                              [&] { return mine->got.has_value() || closing.stop_requested(); });
  if (mine->got) return std::move(*mine->got);
  mine->is_given_up = true;
  if (closing.stop_requested()) return fail(errc::cancelled, "the client has been closed");
  if (stop.stop_requested()) return fail(errc::cancelled, "the call was cancelled while the server asked for input");
  return fail(errc::timed_out,
              "the server's request for input was not answered within " + std::to_string(most_time_.count()) + " ms");
}

void asking_lane::close() {
  closing_.request_stop();
  pool_.close(executor::clock::now());
}

}  // namespace hondana::outbound
