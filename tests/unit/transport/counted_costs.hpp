/// Counts what threads other than the test's own allocate and lock. Included by one file of a test program, which replaces
/// `operator new` by it; not under sanitizers, which have these of their own.
#pragma once

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace hondana_test {

/// Set by a thread that is not to be counted.
inline thread_local bool is_the_clients = false;
inline std::atomic<long> allocations_of_server{0};
inline std::atomic<long> locks_of_server{0};
inline void count_lock() noexcept {
  if (!is_the_clients) locks_of_server.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace hondana_test

void* operator new(std::size_t size) {
  if (!hondana_test::is_the_clients) hondana_test::allocations_of_server.fetch_add(1, std::memory_order_relaxed);
  if (void* const got = std::malloc(size > 0 ? size : 1)) return got;
  throw std::bad_alloc();
}
void operator delete(void* what) noexcept { std::free(what); }
void operator delete(void* what, std::size_t) noexcept { std::free(what); }

extern "C" {

int pthread_mutex_lock(pthread_mutex_t* which) noexcept {
  static const auto next = reinterpret_cast<int (*)(pthread_mutex_t*)>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  hondana_test::count_lock();
  return next(which);
}
int pthread_mutex_trylock(pthread_mutex_t* which) noexcept {
  static const auto next = reinterpret_cast<int (*)(pthread_mutex_t*)>(::dlsym(RTLD_NEXT, "pthread_mutex_trylock"));
  hondana_test::count_lock();
  return next(which);
}
int pthread_rwlock_rdlock(pthread_rwlock_t* which) noexcept {
  static const auto next = reinterpret_cast<int (*)(pthread_rwlock_t*)>(::dlsym(RTLD_NEXT, "pthread_rwlock_rdlock"));
  hondana_test::count_lock();
  return next(which);
}
int pthread_rwlock_wrlock(pthread_rwlock_t* which) noexcept {
  static const auto next = reinterpret_cast<int (*)(pthread_rwlock_t*)>(::dlsym(RTLD_NEXT, "pthread_rwlock_wrlock"));
  hondana_test::count_lock();
  return next(which);
}

}  // extern "C"
