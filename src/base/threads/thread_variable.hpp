/// Thread-local variables that are destroyed when their thread ends. The first use reports a lack of memory.
#pragma once

#include <new>
#include <type_traits>

namespace hondana::threads {

/// A variable in the list of its thread.
class owned {
 public:
  owned() = default;
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  virtual ~owned() = default;

 private:
  friend bool destroy_with_thread(owned* what) noexcept;
  friend void destroy_all(void* first) noexcept;
  owned* next_ = nullptr;
};

/// Deletes `what` when the calling thread ends. Returns false without any effect when the system cannot register the
/// destructor.
[[nodiscard]] bool destroy_with_thread(owned* what) noexcept;

template <class T>
class owned_value final : public owned {
 public:
  ~owned_value() override { of_thread = nullptr; }

  T value;
  static inline constinit thread_local T* of_thread = nullptr;
};

/// The `T` of the calling thread, created at its first use; null while memory is exhausted.
/// A `thread_local` variable with a destructor would end the process instead, because glibc cannot report that it lacks memory
/// to register the destructor.
/// There is one variable per thread and type, so use a type of your own. Variables of the main thread are not destroyed when
/// the process ends.
template <class T>
[[nodiscard]] T* own() noexcept {
  static_assert(std::is_nothrow_default_constructible_v<T>);
  if (owned_value<T>::of_thread == nullptr) {
    auto* const made = new (std::nothrow) owned_value<T>();
    if (made == nullptr) return nullptr;
    if (!destroy_with_thread(made)) {
      delete made;
      return nullptr;
    }
    owned_value<T>::of_thread = &made->value;
  }
  return owned_value<T>::of_thread;
}

}  // namespace hondana::threads
