/// Input by kind of descriptor: what comes, its end, and how waiting for it is ended.
#include "transport/stdio/input.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <fstream>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "unit/transport/stdio/channel.hpp"

namespace hondana::transport::stdio {
namespace {

class input_from : public testing::TestWithParam<channel> {
 public:
  ~input_from() override {
    ::close(ends_[0]);
    leave();
  }
  input_from(const input_from&) = delete;
  input_from& operator=(const input_from&) = delete;

 protected:
  input_from() = default;

  void say(std::string_view text) const {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void leave() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }
  /// What comes next; nothing when it was woken, and "failed" when it failed.
  static std::optional<std::string> next(input& from) {
    std::string out(100, ' ');
    const auto count = from.read(out.data(), out.size());
    if (!count) return "failed";
    if (!*count) return std::nullopt;
    out.resize(**count);
    return out;
  }
  /// The same by another thread, which waits for it when this returns.
  static std::future<std::optional<std::string>> wait_in(input& from) {
    std::promise<pid_t> who;
    auto reading = std::async(std::launch::async, [&] {
      who.set_value(::gettid());
      return next(from);
    });
    const auto about = "/proc/self/task/" + std::to_string(who.get_future().get()) + "/stat";
    EXPECT_TRUE(hondana_test::eventually([&about] {
      std::string line;
      std::getline(std::ifstream(about), line);
      // Its state stands behind its name, which is in parentheses.
      const auto name = line.rfind(") ");
      return name != std::string::npos && line[name + 2] == 'S';
    })) << "the thread that reads never waits";
    return reading;
  }

  std::array<int, 2> ends_ = connected(GetParam());
};

TEST_P(input_from, a_peer_gives_what_it_says_until_its_end) {
  input in(ends_[0]);
  say("one");
  EXPECT_EQ(next(in), "one");
  say("two");
  EXPECT_FALSE(in.has_peer_closed());
  leave();
  EXPECT_TRUE(in.has_peer_closed());
  EXPECT_EQ(next(in), "two");
  EXPECT_EQ(next(in), "");
}

TEST_P(input_from, a_silent_peer_is_waited_for_no_longer_once_it_is_woken) {
  for (int times = 0; times < 100; ++times) {
    input in(ends_[0]);
    auto reading = wait_in(in);
    in.stop();
    ASSERT_EQ(reading.wait_for(hondana_test::event_deadline), std::future_status::ready);
    EXPECT_EQ(reading.get(), std::nullopt);
    in.stop();
    EXPECT_EQ(next(in), std::nullopt);
    // What woke it is no part of what the next one reads but an empty line.
    say("x");
    input after(ends_[0]);
    auto said = next(after);
    while (said == "\n") said = next(after);
    ASSERT_TRUE(said);
    EXPECT_EQ(said->substr(said->find_first_not_of('\n')), "x");
  }
}

TEST_P(input_from, a_peer_that_has_said_much_can_be_left_unheard) {
  ASSERT_EQ(::fcntl(ends_[1], F_SETFL, O_NONBLOCK), 0);
  const std::string much(65536, 'x');
  while (::write(ends_[1], much.data(), much.size()) > 0) {
  }
  input in(ends_[0]);
  in.stop();
  EXPECT_EQ(next(in), std::nullopt);
}

TEST_P(input_from, a_descriptor_that_somebody_made_non_blocking_is_waited_for_all_the_same) {
  ASSERT_EQ(::fcntl(ends_[0], F_SETFL, O_NONBLOCK), 0);
  input in(ends_[0]);
  auto reading = std::async(std::launch::async, [&in] { return next(in); });
  say("one");
  EXPECT_EQ(reading.get(), "one");
  auto again = wait_in(in);
  in.stop();
  EXPECT_EQ(again.get(), std::nullopt);
}

TEST_P(input_from, a_peer_keeps_its_end_of_input_beside_the_means_to_be_woken) {
  input in(ends_[0]);
  leave();
  EXPECT_EQ(next(in), "");
}

INSTANTIATE_TEST_SUITE_P(channels, input_from, testing::Values(channel::pipe, channel::socket));

TEST(input, that_is_no_descriptor_to_read_from_fails) {
  const int only_written = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(only_written, 0);
  input in(only_written);
  char byte = 0;
  const auto count = in.read(&byte, 1);
  ASSERT_FALSE(count);
  EXPECT_EQ(count.error().code, errc::source_unavailable);
  ::close(only_written);
}

}  // namespace
}  // namespace hondana::transport::stdio
