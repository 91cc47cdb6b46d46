/// Answers that come, come late, and never come.
#include "app/cli/access_explanation.hpp"

#include <functional>
#include <thread>

#include <gtest/gtest.h>

#include "deadline.hpp"

namespace hondana::cli {
namespace {

using taking = std::function<void(result<int>)>;
using std::chrono::milliseconds;

constexpr milliseconds long_enough = hondana_test::event_deadline;

TEST(one_answer, is_the_first_from_whatever_thread) {
  EXPECT_EQ(await_result<int>(long_enough,
                              [](taking done) {
                                done(7);
                                done(8);
                              }),
            7);
  std::thread other;
  EXPECT_EQ(await_result<int>(long_enough, [&other](taking done) { other = std::thread([done] { done(9); }); }), 9);
  other.join();
  const auto refused = await_result<int>(long_enough, [](const taking& done) { done(fail(errc::access_denied, "no")); });
  EXPECT_EQ(refused.error().code, errc::access_denied);
}

TEST(one_answer, that_nobody_can_give_any_more_is_not_waited_for) {
  const auto dropped = await_result<int>(long_enough, [](const taking&) {});
  ASSERT_FALSE(dropped);
  EXPECT_EQ(dropped.error().code, errc::internal);
  EXPECT_EQ(dropped.error().public_text, "The source ended the request without an answer.");
}

TEST(one_answer, that_never_comes_is_given_up_and_may_come_later) {
  taking held;
  const auto late = await_result<int>(milliseconds(20), [&held](taking done) { held = std::move(done); });
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::timed_out);
  EXPECT_EQ(late.error().public_text, "No answer within 20 ms.");
  held(7);
}

}  // namespace
}  // namespace hondana::cli
