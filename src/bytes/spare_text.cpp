/// The spare texts of each thread.
#include "bytes/spare_text.hpp"

#include <array>
#include <utility>

namespace hondana::bytes {
namespace {

struct spare_texts {
  std::array<std::string, most_spare_texts> all;
  std::size_t count = 0;
};

thread_local spare_texts spares_of_thread;

}  // namespace

std::string take_spare_text() noexcept {
  auto& here = spares_of_thread;
  if (here.count == 0) return {};
  return std::move(here.all[--here.count]);
}

void keep_spare_text(std::string text) noexcept {
  auto& here = spares_of_thread;
  // What fits into the string itself has no buffer.
  if (here.count == here.all.size() || text.capacity() > longest_spare_text || text.capacity() == std::string().capacity())
    return;
  text.clear();
  here.all[here.count++] = std::move(text);
}

}  // namespace hondana::bytes
