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
    EXPECT_EQ(take_spare_text().capacity(), std::string().capacity());
    std::string text(1000, 'x');
    const auto* const buffer = text.data();
    keep_spare_text(std::move(text));
    const auto again = take_spare_text();
    EXPECT_TRUE(again.empty());
    EXPECT_EQ(again.data(), buffer);
    EXPECT_EQ(take_spare_text().capacity(), std::string().capacity());
  });
}

TEST(spare_texts, that_are_too_long_too_short_or_one_too_many_are_not_kept) {
  without_spares([] {
    keep_spare_text(std::string(longest_spare_text + 1, 'x'));
    keep_spare_text("short");
    EXPECT_EQ(take_spare_text().capacity(), std::string().capacity());
    for (std::size_t i = 0; i < most_spare_texts + 5; ++i) keep_spare_text(std::string(100, 'x'));
    std::size_t count = 0;
    while (take_spare_text().capacity() > std::string().capacity()) ++count;
    EXPECT_EQ(count, most_spare_texts);
  });
}

TEST(spare_texts, of_one_thread_are_not_those_of_another) {
  without_spares([] {
    keep_spare_text(std::string(100, 'x'));
    std::thread([] { EXPECT_EQ(take_spare_text().capacity(), std::string().capacity()); }).join();
    EXPECT_GE(take_spare_text().capacity(), 100U);
  });
}

}  // namespace
}  // namespace hondana::bytes
