/// Waiting for a pull on another thread.
#include "protocol/rpc/blocking_pull.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::rpc {
namespace {

/// Owned by both threads: the waiting one may give up first.
struct handover {
  std::mutex mutex;
  std::condition_variable done;
  std::optional<result<bool>> outcome;
  std::string bytes;
};

/// Readers are other people's code: what they throw ends their answer, never a thread of ours.
result<bool> pull_safely(body& from, std::string& out) {
  try {
    return from.pull(out);
  } catch (const std::exception& error) {
    return fail(errc::internal, "Internal error", std::string("a reader threw: ") + error.what());
  } catch (...) {
    return fail(errc::internal, "Internal error", "a reader threw something that is not a std::exception");
  }
}

}  // namespace

result<bool> pull_until(const std::shared_ptr<body>& from, std::string& out, executor::clock::time_point deadline) {
  const auto lane = from->next_lane();
  if (!lane) return pull_safely(*from, out);
  const auto between = std::make_shared<handover>();
  auto submitted = lane->submit(
      [from, between] {
        std::string bytes;
        auto outcome = pull_safely(*from, bytes);
        const std::lock_guard lock(between->mutex);
        between->bytes = std::move(bytes);
        between->outcome = std::move(outcome);
        between->done.notify_one();
      },
      deadline, executor::urgency::continuation);
  if (!submitted) return tl::unexpected(std::move(submitted.error()));
  std::unique_lock lock(between->mutex);
  if (!monotonic_clock::wait_until(between->done, lock, deadline, [&] { return between->outcome.has_value(); })) {
    return fail(errc::timed_out, "The source did not deliver the rest of the resource in time.");
  }
  out += between->bytes;
  return std::move(*between->outcome);
}

}  // namespace hondana::rpc
