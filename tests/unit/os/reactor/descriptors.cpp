/// Descriptors that are ready: told once for each time that it was asked, and never about another.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "os/reactor/reactor.hpp"

namespace hondana::reactor {
namespace {

using namespace std::chrono_literals;

/// Two sockets that are connected.
struct wire {
  wire() {
    std::array<int, 2> both{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both.data()) != 0) throw std::bad_alloc();
    ours = disk::handle(both[0]);
    theirs = disk::handle(both[1]);
  }
  void send(const std::string& what) const {
    ASSERT_EQ(::write(theirs.get(), what.data(), what.size()), static_cast<ssize_t>(what.size()));
  }
  [[nodiscard]] std::string receive() const {
    std::array<char, 64> into{};
    const auto count = ::read(ours.get(), into.data(), into.size());
    return {into.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0))};
  }
  disk::handle ours;
  disk::handle theirs;
};

/// Calls a function when a wire is ready.
struct listener final : event_handler {
  explicit listener(reactor& by, std::function<void(bool, bool)> then) : then_(std::move(then)), readiness_(by) {}
  void on_ready(bool input, bool output) override { then_(input, output); }
  std::function<void(bool, bool)> then_;
  readiness readiness_;
};

/// Runs `what` in the turn behind `turns` others.
void after(reactor& by, int turns, std::function<void()> what) {
  by.post([&by, turns, what = std::move(what)] { turns == 0 ? what() : after(by, turns - 1, what); });
}

TEST(reactor_descriptors, are_told_of_once_for_each_time_it_is_asked) {
  reactor one;
  const wire line;
  int told = 0;
  listener hears(one, [&](bool input, bool output) {
    EXPECT_TRUE(input);
    EXPECT_FALSE(output);
    ++told;
  });
  hears.readiness_.open(line.ours.get(), hears);
  line.send("a");
  hears.readiness_.await_input();
  after(one, 3, [&] {
    EXPECT_EQ(told, 1);
    // What has not been read is still there.
    hears.readiness_.await_input();
    after(one, 3, [&] {
      EXPECT_EQ(told, 2);
      EXPECT_EQ(line.receive(), "a");
      hears.readiness_.await_input();
      after(one, 3, [&] {
        EXPECT_EQ(told, 2) << "there is nothing to read";
        line.send("b");
        after(one, 3, [&] {
          EXPECT_EQ(told, 3);
          hears.readiness_.close();
        });
      });
    });
  });
  one.release();
  one.run();
  EXPECT_EQ(told, 3);
}

TEST(reactor_descriptors, are_told_of_behind_what_was_posted_before_they_were_ready) {
  reactor one;
  const wire line;
  std::vector<std::string> order;
  listener hears(one, [&](bool, bool) {
    order.emplace_back("told");
    hears.readiness_.close();
  });
  hears.readiness_.open(line.ours.get(), hears);
  hears.readiness_.await_input();
  after(one, 3, [&] {
    one.post([&] { order.emplace_back("posted"); });
    line.send("a");
  });
  one.release();
  one.run();
  EXPECT_EQ(order, (std::vector<std::string>{"posted", "told"}));
}

TEST(reactor_descriptors, are_told_of_for_writing_when_there_is_room) {
  reactor one;
  const wire line;
  const std::string much(1u << 16, 'x');
  while (::write(line.ours.get(), much.data(), much.size()) > 0) {
  }
  int told = 0;
  listener hears(one, [&](bool, bool output) {
    EXPECT_TRUE(output);
    ++told;
    hears.readiness_.close();
  });
  hears.readiness_.open(line.ours.get(), hears);
  hears.readiness_.await_output();
  after(one, 3, [&] {
    EXPECT_EQ(told, 0);
    std::string into(much);
    while (::read(line.theirs.get(), into.data(), into.size()) > 0) {
    }
  });
  one.release();
  one.run();
  EXPECT_EQ(told, 1);
}

TEST(reactor_descriptors, that_nobody_asks_about_do_not_keep_it_awake) {
  reactor one;
  std::optional<wire> line(std::in_place);
  int told = 0, turns = 0;
  one.on_iteration_end([&] { ++turns; });
  listener hears(one, [&](bool, bool) { ++told; });
  hears.readiness_.open(line->ours.get(), hears);
  line->send("a");
  hears.readiness_.await_input();
  // It has something to read, and its peer hangs up; the kernel would tell of that as often as it is asked.
  after(one, 5, [&] { line->theirs = disk::handle(); });
  after(one, 100, [&] {
    EXPECT_EQ(told, 1);
    EXPECT_LE(turns, 4);
    hears.readiness_.await_input();
    hears.readiness_.await_output();
    after(one, 2, [&] {
      EXPECT_EQ(told, 2) << "the end is to be read, once for both";
      EXPECT_EQ(line->receive(), "a");
      EXPECT_EQ(line->receive(), "");
      hears.readiness_.close();
    });
  });
  one.release();
  one.run();
  EXPECT_EQ(told, 2);
}

TEST(reactor_descriptors, that_are_given_up_in_the_same_turn_are_not_told_of) {
  reactor one;
  const wire first, second, third;
  std::vector<std::unique_ptr<listener>> hear(3);
  int told = 0;
  const wire* const lines[] = {&first, &second};
  // Whoever is told first gives the other up, and has a third take its place.
  for (std::size_t i : {0u, 1u}) {
    hear[i] = std::make_unique<listener>(one, [&, i](bool, bool) {
      ++told;
      hear[1 - i].reset();
      hear[2]->readiness_.open(third.ours.get(), *hear[2]);
      hear[2]->readiness_.await_input();
    });
    hear[i]->readiness_.open(lines[i]->ours.get(), *hear[i]);
    lines[i]->send("a");
    hear[i]->readiness_.await_input();
  }
  hear[2] = std::make_unique<listener>(one, [](bool, bool) { FAIL() << "it has nothing to read"; });
  after(one, 4, [&] { hear.clear(); });
  one.release();
  one.run();
  EXPECT_EQ(told, 1);
}

TEST(reactor_descriptors, may_be_given_up_by_who_is_told_and_dies) {
  reactor one;
  wire line;
  auto hears = std::make_unique<listener>(one, nullptr);
  hears->then_ = [&](bool, bool) {
    auto& closed = line.ours;
    hears.reset();  // and what is captured here
    closed = disk::handle();
  };
  hears->readiness_.open(line.ours.get(), *hears);
  line.send("a");
  hears->readiness_.await_input();
  one.release();
  one.run();
  EXPECT_EQ(hears, nullptr);
}

TEST(reactor_descriptors, that_are_open_elsewhere_too_are_not_told_of_after_the_end) {
  reactor one;
  wire line;
  const disk::handle other(::dup(line.ours.get()));
  listener hears(one, [](bool, bool) { FAIL() << "nobody listens"; });
  hears.readiness_.open(line.ours.get(), hears);
  hears.readiness_.await_input();
  hears.readiness_.close();
  line.ours = disk::handle();
  line.send("a");
  int turns = 0;
  one.on_iteration_end([&] { ++turns; });
  after(one, 5, [] {});
  one.release();
  one.run();
  EXPECT_EQ(turns, 0);
}

TEST(reactor_descriptors, that_cannot_be_waited_for_throw) {
  reactor one;
  listener hears(one, [](bool, bool) {});
  hears.readiness_.open(-1, hears);
  EXPECT_THROW(hears.readiness_.await_input(), std::system_error);
  hears.readiness_.close();
  one.release();
  one.run();
}

TEST(reactor_descriptors, are_told_of_together) {
  reactor one;
  constexpr std::size_t many = 300;
  std::vector<wire> lines(many);
  std::vector<std::unique_ptr<listener>> hear;
  std::size_t told = 0;
  std::vector<std::size_t> by_end;
  one.on_iteration_end([&] { by_end.push_back(told); });
  for (auto& line : lines) {
    auto& made = hear.emplace_back(std::make_unique<listener>(one, nullptr));
    made->then_ = [&told, who = made.get()](bool, bool) {
      ++told;
      who->readiness_.close();
    };
    made->readiness_.open(line.ours.get(), *made);
    made->readiness_.await_input();
    line.send("a");
  }
  one.release();
  one.run();
  EXPECT_EQ(told, many);
  EXPECT_LE(by_end.size(), 5u) << "many are told of in one turn";
  EXPECT_EQ(by_end.back(), many);
}

TEST(reactor_descriptors, go_on_behind_a_call_that_throws) {
  reactor one;
  std::vector<wire> lines(3);
  std::vector<std::unique_ptr<listener>> hear;
  int told = 0, ends = 0;
  one.on_iteration_end([&] {
    if (++ends == 1) throw std::runtime_error("at the end");
  });
  for (auto& line : lines) {
    auto& made = hear.emplace_back(std::make_unique<listener>(one, nullptr));
    made->then_ = [&told, who = made.get()](bool, bool) {
      who->readiness_.close();
      if (++told == 2) throw std::runtime_error("the second");
    };
    made->readiness_.open(line.ours.get(), *made);
    made->readiness_.await_input();
    line.send("a");
  }
  one.release();
  EXPECT_THROW(one.run(), std::runtime_error);
  EXPECT_EQ(told, 2);
  EXPECT_THROW(one.run(), std::runtime_error);
  EXPECT_EQ(told, 3);
  one.run();
  EXPECT_EQ(ends, 2);
}

}  // namespace
}  // namespace hondana::reactor
