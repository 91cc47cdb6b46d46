/// Variables of each thread, destroyed when it ends; the first use reports a lack of memory.
#include "base/threads/thread_variable.hpp"

#include <pthread.h>

#include <memory>
#include <optional>
#include <utility>

namespace hondana::threads {

/// A destructor may make a variable anew. The threads library then calls again, up to four times.
void destroy_all(void* first) noexcept {
  for (auto* left = static_cast<owned*>(first); left != nullptr;) {
    const std::unique_ptr<owned> last(std::exchange(left, left->next_));
  }
}

namespace {

extern "C" void hondana_thread_ends(void* first) { destroy_all(first); }

/// Never deleted: threads may end after all static objects are destroyed.
std::optional<pthread_key_t> key_of_process() noexcept {
  static const std::optional<pthread_key_t> key = []() -> std::optional<pthread_key_t> {
    pthread_key_t made = 0;
    if (::pthread_key_create(&made, hondana_thread_ends) != 0) return std::nullopt;
    return made;
  }();
  return key;
}

}  // namespace

bool destroy_with_thread(owned* what) noexcept {
  const auto key = key_of_process();
  if (!key) return false;
  what->next_ = static_cast<owned*>(::pthread_getspecific(*key));
  return ::pthread_setspecific(*key, what) == 0;
}

}  // namespace hondana::threads
