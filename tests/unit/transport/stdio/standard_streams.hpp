/// A server over standard streams that are pipes of the test.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/server.hpp>

#include "deadline.hpp"

namespace hondana {

inline constexpr std::string_view handshake =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
    R"("clientInfo":{"name":"t","version":"1"}}})"
    "\n";

/// Reads wait until whoever asked has gone.
class patient final : public provider {
 public:
  std::string name() const override { return "patient"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Texts of the test.", {}, {}}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request& request) override {
    const std::stop_callback wake(request.stop, [this] {
      const std::lock_guard lock(mutex_);
      changed_.notify_all();
    });
    std::unique_lock waiting(mutex_);
    has_begun_ = true;
    changed_.notify_all();
    has_stopped_ = changed_.wait_for(waiting, hondana_test::event_deadline, [&] { return request.stop.stop_requested(); });
    changed_.notify_all();
    return text_read_result("late");
  }
  bool has_begun() { return reaches(has_begun_); }
  bool has_stopped() { return reaches(has_stopped_); }

 private:
  bool reaches(const bool& what) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, hondana_test::event_deadline, [&] { return what; });
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

  /// In one write, and whole: no more than a pipe holds.
  void say(std::string_view line) const {
    EXPECT_EQ(::write(in_[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
  }
  /// Everything the peer would see next, up to `lines` lines or, when nothing comes for a long time, fewer.
  [[nodiscard]] std::vector<std::string> hear(std::size_t lines) {
    std::vector<std::string> out;
    while (out.size() < lines) {
      if (const auto end = heard_.find('\n'); end != std::string::npos) {
        out.push_back(heard_.substr(0, end));
        heard_.erase(0, end + 1);
        continue;
      }
      std::array<char, 65536> buffer{};
      pollfd output{out_[0], POLLIN, 0};
      const auto count = ::poll(&output, 1, longest_silence) > 0 ? ::read(out_[0], buffer.data(), buffer.size()) : 0;
      if (count <= 0) break;
      heard_.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return out;
  }
  void end_input() {
    if (in_[1] >= 0) ::close(in_[1]);
    in_[1] = -1;
  }

 private:
  static constexpr int longest_silence =
      static_cast<int>(std::chrono::milliseconds(hondana_test::event_deadline).count());  // for poll

  std::string heard_;
  std::array<int, 2> before_{::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0), ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)};
  std::array<int, 2> in_{-1, -1};
  std::array<int, 2> out_{-1, -1};
};

}  // namespace hondana
