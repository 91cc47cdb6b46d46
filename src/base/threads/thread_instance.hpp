/// Thread-local variables that are destroyed when their thread ends. Unlike `thread_local` ones, they report a lack of memory.
#pragma once

#include <new>
#include <type_traits>

namespace hondana::threads {

/// The base of variables in the list of their thread.
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

/// Takes ownership of `object`, and deletes it when the calling thread ends.
/// Returns false if the system cannot register the destructor. The caller then remains the owner.
[[nodiscard]] bool destroy_with_thread(thread_object* object) noexcept;

/// The variable of `thread_instance<T>`. `instance`: its value on the calling thread; null: not created.
template <class T>
class thread_variable final : public thread_object {
 public:
  ~thread_variable() override { instance = nullptr; }

  T value;
  static inline constinit thread_local T* instance = nullptr;
};

/// Returns the calling thread's variable of type `T`, which the first call creates; null while memory is exhausted.
/// A `thread_local` variable with a destructor would end the process instead, because glibc cannot report that it lacks memory
/// to register the destructor.
/// All code that uses the same `T` shares the variable. Variables of the main thread are not destroyed when the process ends.
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
