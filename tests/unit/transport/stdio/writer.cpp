/// The thread that writes answers: whoever wants to know is told once how each left.
#include "transport/stdio/line_writer.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "unit/transport/stdio/watched_answers.hpp"

namespace hondana::transport::stdio {
namespace {

using namespace std::chrono_literals;
using rpc::delivery_outcome;

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
  for (const auto* text : {"1", "2", "3"}) out.answer(all.of(text));
  EXPECT_EQ(all.wait_for(3), std::vector<delivery_outcome>(3, delivery_outcome::sent));
  std::string got(6, ' ');
  ASSERT_EQ(::read(ends_[0], got.data(), got.size()), 6);
  EXPECT_EQ(got, "1\n2\n3\n");
}

TEST_F(a_writer, writes_what_is_lent_from_where_it_is_kept_and_in_order) {
  const auto inside = std::make_shared<const std::string>(300'000, 'x');
  watched all;
  std::string got;
  {
    line_writer out(ends_[1], {}, {});
    out.answer(all.of("1"));
    auto lending = all.of("<");
    lending.content->append({"memo:///a", "", "", "", true, bytes::encoded_content{inside, 300'000}}, nullptr);
    lending.content->text() += ">";
    out.answer(std::move(lending));
    out.answer(all.of("3"));
    std::array<char, 65536> buffer;
    while (!got.ends_with("3\n")) {
      const auto count = ::read(ends_[0], buffer.data(), buffer.size());
      ASSERT_GT(count, 0);
      got.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }
  EXPECT_EQ(got, "1\n<" + *inside + ">\n3\n");
  EXPECT_EQ(all.wait_for(3), std::vector<delivery_outcome>(3, delivery_outcome::sent));
  EXPECT_EQ(inside.use_count(), 1);
}

TEST_F(a_writer, tells_that_what_waited_for_a_peer_that_left_is_gone) {
  watched all;
  line_writer out(ends_[1], {}, {});
  out.answer(all.of(std::string(8u << 20, 'x')));
  out.answer(all.of("2"));
  leave();
  EXPECT_EQ(all.wait_for(2), std::vector<delivery_outcome>(2, delivery_outcome::disconnected));
}

TEST_F(a_writer, tells_that_an_answer_to_a_peer_that_takes_nothing_is_cut) {
  watched all;
  line_writer::limits within;
  within.stall_timeout = 50ms;
  line_writer out(ends_[1], within, {});
  out.answer(all.of(std::string(8u << 20, 'x')));
  EXPECT_EQ(all.wait_for(1), std::vector<delivery_outcome>{delivery_outcome::truncated});
}

}  // namespace
}  // namespace hondana::transport::stdio
