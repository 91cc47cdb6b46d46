/// Thread-local variables that are destroyed when their thread ends. The first use reports a lack of memory.
#pragma once

#include <new>
#include <type_traits>

namespace hondana::threads {

/// A variable in the list of its thread.
class thread_object {
 public:
  thread_object() = default;
  thread_object(const thread_object&) = delete;
  thread_object& operator=(const thread_object&) = delete;
  virtual ~thread_object() = default;

 private:
  friend bool destroy_with_thread(thread_object* object) noexcept;
  friend void destroy_all(void* first) noexcept;
  thread_object* next_ = nullptr;
};

/// Deletes `object` when the calling thread ends. Returns false without any effect when the system cannot register the
/// destructor.
[[nodiscard]] bool destroy_with_thread(thread_object* object) noexcept;

template <class T>
class thread_variable final : public thread_object {
 public:
  ~thread_variable() override { instance = nullptr; }

  T value;
  static inline constinit thread_local T* instance = nullptr;
};

/// The `T` of the calling thread, created at its first use; null while memory is exhausted.
/// A `thread_local` variable with a destructor would end the process instead, because glibc cannot report that it lacks memory
/// to register the destructor.
/// There is one variable per thread and type, so use a type of your own. Variables of the main thread are not destroyed when
/// the process ends.
template <class T>
[[nodiscard]] T* thread_instance() noexcept {
  static_assert(std::is_nothrow_default_constructible_v<T>);
  if (thread_variable<T>::instance == nullptr) {
    auto* const created = new (std::nothrow) thread_variable<T>();
    if (created == nullptr) return nullptr;
    if (!destroy_with_thread(created)) {
      delete created;
      return nullptr;
    }
    thread_variable<T>::instance = &created->value;
  }
  return thread_variable<T>::instance;
}

}  // namespace hondana::threads
