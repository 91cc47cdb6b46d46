/// Thread-local variables that are destroyed when their thread ends. The first use reports a lack of memory.
#include "base/threads/thread_variable.hpp"

#include <pthread.h>

#include <memory>
#include <optional>
#include <utility>

namespace hondana::threads {

/// Deletes all variables of a thread. A destructor may create a variable again; pthreads then calls this again, up to four
/// times.
void destroy_all(void* first) noexcept {
  for (auto* left = static_cast<owned*>(first); left != nullptr;) {
    const std::unique_ptr<owned> last(std::exchange(left, left->next_));
  }
}

namespace {

extern "C" void hondana_thread_ends(void* first) { destroy_all(first); }

/// Never deleted, because threads may end after the destruction of static objects.
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
