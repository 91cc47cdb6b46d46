/// The thread that writes answers: whoever wants to know is told once how each left.
#include "transport/stdio/writer.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "rpc/receipt.hpp"

namespace hondana::transport::stdio {
namespace {

using namespace std::chrono_literals;
using rpc::departure;

struct watched {
  rpc::body of(std::string text) {
    rpc::body out(std::move(text));
    out.watch(std::make_shared<rpc::receipt>([this](departure how, std::uint64_t) {
      const std::lock_guard lock(mutex);
      told.push_back(how);
      changed.notify_all();
    }));
    return out;
  }
  std::vector<departure> wait_for(std::size_t count) {
    std::unique_lock lock(mutex);
    changed.wait_for(lock, 10s, [&] { return told.size() >= count; });
    return told;
  }
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<departure> told;
};

class a_writer : public testing::Test {
 protected:
  a_writer() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()), 0); }
  ~a_writer() override {
    leave();
    ::close(ends_[1]);
  }
  void leave() {
    if (ends_[0] >= 0) ::close(std::exchange(ends_[0], -1));
  }
  std::array<int, 2> ends_{-1, -1};
};

TEST_F(a_writer, tells_of_every_answer_when_it_is_written) {
  watched all;
  line_writer out(ends_[1], {}, {});
  for (const auto* text : {"1", "2", "3"}) out.answer({200, all.of(text)});
  EXPECT_EQ(all.wait_for(3), std::vector<departure>(3, departure::sent));
  std::string got(6, ' ');
  ASSERT_EQ(::read(ends_[0], got.data(), got.size()), 6);
  EXPECT_EQ(got, "1\n2\n3\n");
}

TEST_F(a_writer, tells_that_what_waited_for_a_peer_that_left_is_gone) {
  watched all;
  line_writer out(ends_[1], {}, {});
  out.answer({200, all.of(std::string(8u << 20, 'x'))});
  out.answer({200, all.of("2")});
  leave();
  EXPECT_EQ(all.wait_for(2), std::vector<departure>(2, departure::gone));
}

TEST_F(a_writer, tells_that_an_answer_to_a_peer_that_takes_nothing_is_cut) {
  watched all;
  line_writer::limits within;
  within.stall = 50ms;
  line_writer out(ends_[1], within, {});
  out.answer({200, all.of(std::string(8u << 20, 'x'))});
  EXPECT_EQ(all.wait_for(1), std::vector<departure>{departure::cut});
}

}  // namespace
}  // namespace hondana::transport::stdio
