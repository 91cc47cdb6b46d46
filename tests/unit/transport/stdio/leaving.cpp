/// Work stops when the peer of standard input and output goes.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/server.hpp>

namespace hondana {
namespace {

using namespace std::chrono_literals;

/// Reads wait until whoever asked has gone.
class patient final : public provider {
 public:
  std::string name() const override { return "patient"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Texts of the test.", {}, {}}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<reading> read(const read_request& request) override {
    const std::stop_callback wake(request.stop, [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    std::unique_lock waiting(mutex_);
    has_begun_ = true;
    changed_.notify_all();
    has_stopped_ = changed_.wait_for(waiting, 10s, [&] { return request.stop.stop_requested(); });
    changed_.notify_all();
    return text_reading("late");
  }
  bool has_begun() { return reaches(has_begun_); }
  bool has_stopped() { return reaches(has_stopped_); }

 private:
  bool reaches(const bool& what) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, 15s, [&] { return what; });
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool has_begun_ = false;
  bool has_stopped_ = false;
};

/// Pipes in the place of standard input and output, as long as it lives.
class other_standard_streams {
 public:
  other_standard_streams() {
    EXPECT_EQ(::pipe2(in_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(out_.data(), O_CLOEXEC), 0);
    EXPECT_GE(::dup2(in_[0], STDIN_FILENO), 0);
    EXPECT_GE(::dup2(out_[1], STDOUT_FILENO), 0);
  }
  ~other_standard_streams() {
    ::dup2(before_[0], STDIN_FILENO);
    ::dup2(before_[1], STDOUT_FILENO);
    end_input();
    for (const int one : {in_[0], out_[0], out_[1], before_[0], before_[1]}) ::close(one);
  }
  other_standard_streams(const other_standard_streams&) = delete;
  other_standard_streams& operator=(const other_standard_streams&) = delete;

  void say(std::string_view line) const {
    EXPECT_EQ(::write(in_[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  void end_input() {
    if (in_[1] >= 0) ::close(in_[1]);
    in_[1] = -1;
  }

 private:
  std::array<int, 2> before_{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)};
  std::array<int, 2> in_{-1, -1};
  std::array<int, 2> out_{-1, -1};
};

TEST(leaving, by_ending_the_input_stops_what_is_under_way) {
  const auto source = std::make_shared<patient>();
  server with;
  ASSERT_TRUE(with.add(source));
  other_standard_streams streams;
  std::thread serving([&] { (void)serve_stdio(with); });
  streams.say(R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
              R"("clientInfo":{"name":"t","version":"1"}}})"
              "\n");
  streams.say(R"({"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"memo:///a"}})"
              "\n");
  EXPECT_TRUE(source->has_begun());
  streams.end_input();
  EXPECT_TRUE(source->has_stopped());
  serving.join();
}

}  // namespace
}  // namespace hondana
