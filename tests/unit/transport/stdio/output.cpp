/// Output by kind of descriptor: whole, in order, and never stuck behind a peer that takes nothing.
#include "transport/stdio/output.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <array>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "unit/transport/stdio/channel.hpp"

namespace hondana::transport::stdio {
namespace {

using namespace std::chrono_literals;

class output_over : public testing::TestWithParam<channel> {
 protected:
  void TearDown() override {
    for (const int end : ends_) {
      if (end >= 0) ::close(end);
    }
  }
  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  void close_reading_end() {
    ::close(ends_[0]);
    ends_[0] = -1;
  }

 private:
  std::array<int, 2> ends_ = connected(GetParam());
};

TEST_P(output_over, writes_far_more_than_the_channel_holds) {
  std::string sent(5'000'000, '\0');
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<char>(i % 251);
  std::string received;
  std::thread peer([&] {
    std::array<char, 4096> buffer{};
    while (received.size() < sent.size()) {
      const auto count = ::read(reading_end(), buffer.data(), buffer.size());
      if (count <= 0) break;
      received.append(buffer.data(), static_cast<std::size_t>(count));
    }
  });
  output out(writing_end());
  EXPECT_TRUE(out.write_all(sent, write_timeout(hondana_test::event_deadline)));
  peer.join();
  EXPECT_EQ(received, sent);
}

TEST_P(output_over, gives_up_a_peer_that_takes_nothing) {
  output out(writing_end());
  const auto written = out.write_all(std::string(5'000'000, 'x'), write_timeout(20ms));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, errc::timed_out);
}

TEST_P(output_over, gives_up_at_once_when_its_patience_is_shortened_meanwhile) {
  output out(writing_end());
  write_timeout with(1h);
  std::thread hurrying([&with] { with.shorten(0s, write_timeout::clock::now()); });
  const auto written = out.write_all(std::string(5'000'000, 'x'), with);
  hurrying.join();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, errc::timed_out);
}

TEST_P(output_over, reports_a_peer_that_has_gone) {
  signal(SIGPIPE, SIG_IGN);
  close_reading_end();
  output out(writing_end());
  const auto written = out.write_all("x", write_timeout(hondana_test::event_deadline));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, errc::source_unavailable);
}

TEST_P(output_over, leaves_the_flags_of_the_shared_descriptor_alone) {
  const int before = ::fcntl(writing_end(), F_GETFL);
  output out(writing_end());
  EXPECT_EQ(::fcntl(writing_end(), F_GETFL), before);
}

INSTANTIATE_TEST_SUITE_P(channels, output_over, testing::Values(channel::pipe, channel::socket));

TEST(output, writes_regular_files_too) {
  const auto path = testing::TempDir() + "output.txt";
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  ASSERT_GE(file, 0);
  const std::string text(100'000, 'y');
  output out(file);
  EXPECT_TRUE(out.write_all(text, write_timeout(hondana_test::event_deadline)));
  EXPECT_EQ(::lseek(file, 0, SEEK_END), 100'000);
  ::close(file);
  ::unlink(path.c_str());
}

}  // namespace
}  // namespace hondana::transport::stdio
