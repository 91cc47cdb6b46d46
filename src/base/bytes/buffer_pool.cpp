/// A pool of string buffers for each thread, so that messages reuse allocated memory.
#include "base/bytes/buffer_pool.hpp"

#include <array>
#include <utility>

#include "base/threads/thread_variable.hpp"

namespace hondana::bytes {
namespace {

struct spare_texts {
  std::array<std::string, most_spare_texts> all;
  std::size_t count = 0;
};

}  // namespace

std::string take_spare_text() noexcept {
  auto* const spare = threads::own<spare_texts>();
  if (spare == nullptr || spare->count == 0) return {};
  return std::move(spare->all[--spare->count]);
}

void keep_spare_text(std::string text) noexcept {
  // A short string stores its text inline and has no buffer.
  if (text.capacity() > longest_spare_text || text.capacity() == std::string().capacity()) return;
  auto* const spare = threads::own<spare_texts>();
  if (spare == nullptr || spare->count == spare->all.size()) return;
  text.clear();
  spare->all[spare->count++] = std::move(text);
}

}  // namespace hondana::bytes
