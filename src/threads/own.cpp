/// A list for each thread of what it owns, which the threads library hands back when the thread ends.
#include "threads/own.hpp"

#include <pthread.h>

#include <memory>
#include <optional>
#include <utility>

namespace hondana::threads {

/// What a destructor makes anew is handed back in the next of the four rounds that POSIX gives a thread.
void destroy_all(void* first) noexcept {
  for (auto* left = static_cast<owned*>(first); left != nullptr;) {
    const std::unique_ptr<owned> last(std::exchange(left, left->next_));
  }
}

namespace {

extern "C" void hondana_thread_ends(void* first) { destroy_all(first); }

/// The key is kept as long as the process: threads end later than any other object.
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
