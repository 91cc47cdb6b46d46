/// Thread-local variables that are destroyed when their thread ends. The first use reports a lack of memory.
#include "base/threads/thread_instance.hpp"

#include <pthread.h>

#include <memory>
#include <optional>
#include <utility>

namespace hondana::threads {

/// Deletes all variables of a thread. A destructor may create a variable again; pthreads then calls this again, up to four
/// times.
void destroy_all(void* first) noexcept {
  for (auto* next = static_cast<thread_object*>(first); next != nullptr;) {
    const std::unique_ptr<thread_object> current(std::exchange(next, next->next_));
  }
}

namespace {

extern "C" void hondana_destroy_thread_objects(void* first) { destroy_all(first); }

/// Never deleted, because threads may end after the destruction of static objects.
std::optional<pthread_key_t> process_key() noexcept {
  static const std::optional<pthread_key_t> key = []() -> std::optional<pthread_key_t> {
    pthread_key_t created = 0;
    if (::pthread_key_create(&created, hondana_destroy_thread_objects) != 0) return std::nullopt;
    return created;
  }();
  return key;
}

}  // namespace

bool destroy_with_thread(thread_object* object) noexcept {
  const auto key = process_key();
  if (!key) return false;
  object->next_ = static_cast<thread_object*>(::pthread_getspecific(*key));
  return ::pthread_setspecific(*key, object) == 0;
}

}  // namespace hondana::threads
