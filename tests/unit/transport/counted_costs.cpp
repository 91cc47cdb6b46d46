/// Functions of the C and C++ libraries that count how often they are called.
#include "unit/transport/counted_costs.hpp"

#ifndef HONDANA_IS_SANITIZED
#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <new>

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
#endif
