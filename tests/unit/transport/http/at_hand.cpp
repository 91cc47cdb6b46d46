/// What an answer from memory costs the thread that gives it: no allocation, and no lock but those of the loop itself.
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "unit/catalog/switched.hpp"
#include "unit/transport/http/client.hpp"
#include "unit/transport/http/shelf.hpp"

// Sanitizers have these of their own.
#ifndef HONDANA_IS_SANITIZED

#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

thread_local bool is_the_clients = false;
std::atomic<long> allocations_of_server{0}, locks_of_server{0};

}  // namespace

void* operator new(std::size_t size) {
  if (!is_the_clients) allocations_of_server.fetch_add(1, std::memory_order_relaxed);
  if (void* const got = std::malloc(size > 0 ? size : 1)) return got;
  throw std::bad_alloc();
}
void operator delete(void* what) noexcept { std::free(what); }
void operator delete(void* what, std::size_t) noexcept { std::free(what); }

extern "C" int pthread_mutex_lock(pthread_mutex_t* which) noexcept {
  using locking = int (*)(pthread_mutex_t*);
  static const auto next = reinterpret_cast<locking>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  if (!is_the_clients) locks_of_server.fetch_add(1, std::memory_order_relaxed);
  return next(which);
}

namespace {

TEST(http_reads_at_hand, allocate_nothing_and_take_no_lock) {
  hondana_test::library with;
  with.source->entries["memo:///a"] = [valid = std::make_shared<hondana::test::switched>()](const auto&) {
    auto found = hondana::text_reading("hello");
    found.version = "v1";
    found.valid = valid;
    return found;
  };
  is_the_clients = true;
  constexpr int together = 20, times = 100;
  hondana_test::client peer(with.port());
  const auto request = hondana_test::post(hondana_test::library::read("memo:///a", "1"));
  std::string requests;
  for (int i = 0; i < together; ++i) requests += request;
  const auto ask = [&] {
    peer.send(requests);
    for (int i = 0; i < together; ++i) EXPECT_NE(peer.receive().body.find("hello"), std::string::npos);
  };
  // The first are read and decoded, and buffers grow.
  for (int i = 0; i < 10; ++i) ask();
  const auto allocations = allocations_of_server.load(), locks = locks_of_server.load();
  ASSERT_GT(allocations, 0) << "they are counted";
  ASSERT_GT(locks, 0) << "they are counted";
  for (int i = 0; i < times; ++i) ask();
  const auto of_one = [](long count) { return static_cast<double>(count) / (together * times); };
  EXPECT_LT(of_one(allocations_of_server - allocations), 0.05);
  // The loop takes some each time that it has something to read or may write.
  EXPECT_LT(of_one(locks_of_server - locks), 1.0);
  is_the_clients = false;
}

}  // namespace

#endif
