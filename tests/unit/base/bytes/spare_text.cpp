/// Buffers that are used again.
#include "base/bytes/buffer_pool.hpp"

#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace hondana::bytes {
namespace {

/// The thread's spares are those of other tests, too.
void without_spares(void (*does)()) { std::thread(does).join(); }

TEST(spare_texts, are_empty_and_have_the_buffers_that_were_kept) {
  without_spares([] {
    EXPECT_EQ(acquire_buffer().capacity(), std::string().capacity());
    std::string text(1000, 'x');
    const auto* const buffer = text.data();
    release_buffer(std::move(text));
    const auto again = acquire_buffer();
    EXPECT_TRUE(again.empty());
    EXPECT_EQ(again.data(), buffer);
    EXPECT_EQ(acquire_buffer().capacity(), std::string().capacity());
  });
}

TEST(spare_texts, that_are_too_long_too_short_or_one_too_many_are_not_kept) {
  without_spares([] {
    release_buffer(std::string(max_pooled_bytes + 1, 'x'));
    release_buffer("short");
    EXPECT_EQ(acquire_buffer().capacity(), std::string().capacity());
    for (std::size_t i = 0; i < max_pooled_buffers + 5; ++i) release_buffer(std::string(100, 'x'));
    std::size_t count = 0;
    while (acquire_buffer().capacity() > std::string().capacity()) ++count;
    EXPECT_EQ(count, max_pooled_buffers);
  });
}

TEST(spare_texts, of_one_thread_are_not_those_of_another) {
  without_spares([] {
    release_buffer(std::string(100, 'x'));
    std::thread([] { EXPECT_EQ(acquire_buffer().capacity(), std::string().capacity()); }).join();
    EXPECT_GE(acquire_buffer().capacity(), 100U);
  });
}

}  // namespace
}  // namespace hondana::bytes
