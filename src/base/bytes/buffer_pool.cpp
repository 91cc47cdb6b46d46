/// A pool of string buffers for each thread, so that messages reuse allocated memory.
#include "base/bytes/buffer_pool.hpp"

#include <array>
#include <utility>

#include "base/threads/thread_instance.hpp"

namespace hondana::bytes {
namespace {

struct buffer_pool {
  std::array<std::string, max_pooled_buffers> buffers;
  std::size_t count = 0;
};

}  // namespace

std::string acquire_buffer() noexcept {
  auto* const pool = threads::thread_instance<buffer_pool>();
  if (pool == nullptr || pool->count == 0) return {};
  return std::move(pool->buffers[--pool->count]);
}

void release_buffer(std::string buffer) noexcept {
  // A short string stores its text inline and has no buffer.
  if (buffer.capacity() > max_pooled_bytes || buffer.capacity() == std::string().capacity()) return;
  auto* const pool = threads::thread_instance<buffer_pool>();
  if (pool == nullptr || pool->count == pool->buffers.size()) return;
  buffer.clear();
  pool->buffers[pool->count++] = std::move(buffer);
}

}  // namespace hondana::bytes
