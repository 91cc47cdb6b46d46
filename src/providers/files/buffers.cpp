/// Lending buffers and taking them back.
#include "providers/files/buffers.hpp"

#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace hondana::files {
namespace {

// Large buffers are kept for the next read, since fresh pages from the kernel cost more than the copy into them.
constexpr std::size_t kept_buffers = 8;
constexpr std::size_t worth_keeping = 64 * 1024;
constexpr std::size_t too_large_to_keep = 2 * whole_bytes;

}  // namespace

struct buffer_set::state {
  std::mutex mutex;
  std::condition_variable_any came_back;
  std::size_t free = 0;
  std::vector<std::unique_ptr<std::string>> kept;

  void take_back(std::unique_ptr<std::string> buffer) {
    const std::lock_guard lock(mutex);
    ++free;
    const auto capacity = buffer->capacity();
    const bool is_kept = capacity >= worth_keeping && capacity <= too_large_to_keep && kept.size() < kept_buffers;
    if (is_kept) kept.push_back(std::move(buffer));
    came_back.notify_one();
  }
};

buffer_set::buffer_set(std::size_t count) : state_(std::make_shared<state>()) {
  state_->free = count;
  state_->kept.reserve(kept_buffers);
}

/// A lent buffer; gives itself back.
struct buffer_set::loan {
  explicit loan(std::shared_ptr<state> from) : of(std::move(from)), buffer(std::make_unique<std::string>()) {}
  loan(const loan&) = delete;
  loan& operator=(const loan&) = delete;
  ~loan() {
    if (counts) of->take_back(std::move(buffer));
  }

  std::shared_ptr<state> of;
  std::unique_ptr<std::string> buffer;
  bool counts = false;  // against the set's limit
};

result<std::shared_ptr<std::string>> buffer_set::borrow(std::size_t size, const call& by) {
  const auto lent = std::make_shared<loan>(state_);
  {
    std::unique_lock lock(state_->mutex);
    const bool got = state_->came_back.wait_until(lock, by.stop, by.deadline, [this] { return state_->free > 0; });
    if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    if (!got) return fail(errc::timed_out, "All read buffers were in use until the deadline. Ask again later.");
    --state_->free;
    lent->counts = true;
    if (size >= worth_keeping && !state_->kept.empty()) {
      lent->buffer = std::move(state_->kept.back());
      state_->kept.pop_back();
    }
  }
  lent->buffer->resize(size);
  return std::shared_ptr<std::string>(lent, lent->buffer.get());
}

}  // namespace hondana::files
