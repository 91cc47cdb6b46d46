/// Lending buffers and taking them back.
#include "sources/files/buffers.hpp"

#include <algorithm>
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
// Contents up to this are encoded when an answer is made, not when it is sent.
constexpr std::size_t small = 64 * 1024;

}  // namespace

struct buffer_set::state {
  std::mutex mutex;
  std::size_t left = 0;  // bytes
  std::vector<std::unique_ptr<std::string>> kept;

  void take_back(std::unique_ptr<std::string> buffer, std::size_t counted) {
    const std::lock_guard lock(mutex);
    left += counted;
    const auto capacity = buffer->capacity();
    const bool is_kept = capacity >= worth_keeping && capacity <= too_large_to_keep && kept.size() < kept_buffers;
    if (is_kept) kept.push_back(std::move(buffer));
  }
};

buffer_set::buffer_set(std::size_t byte_cap) : state_(std::make_shared<state>()) {
  state_->left = byte_cap;
  state_->kept.reserve(kept_buffers);
}

/// A lent buffer; gives itself back.
struct buffer_set::loan {
  explicit loan(std::shared_ptr<state> from) : of(std::move(from)), buffer(std::make_unique<std::string>()) {}
  loan(const loan&) = delete;
  loan& operator=(const loan&) = delete;
  ~loan() { of->take_back(std::move(buffer), counted); }

  std::shared_ptr<state> of;
  std::unique_ptr<std::string> buffer;
  std::size_t counted = 0;  // bytes of the set's cap
};

result<std::shared_ptr<std::string>> buffer_set::borrow(std::size_t size, std::size_t room) {
  const auto lent = std::make_shared<loan>(state_);
  const auto counted = std::max(size, room);
  {
    const std::lock_guard lock(state_->mutex);
    if (counted > small) {
      if (counted > state_->left) {
        return fail(errc::overloaded, "Too much is being sent to slow clients at once. Retry later, or request a part.");
      }
      state_->left -= counted;
      lent->counted = counted;
    }
    if (size >= worth_keeping && !state_->kept.empty()) {
      lent->buffer = std::move(state_->kept.back());
      state_->kept.pop_back();
    }
  }
  lent->buffer->resize(size);
  return std::shared_ptr<std::string>(lent, lent->buffer.get());
}

}  // namespace hondana::files
