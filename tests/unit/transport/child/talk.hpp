/// A conversation with a server that does not behave, as a child process.
#pragma once

#include <chrono>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "transport/child/child_channel.hpp"
#include "unit/protocol/channel/kept_words.hpp"
#include "unit/transport/child/by_launcher.hpp"

namespace hondana_test {

/// A misbehaving server, and what is heard of it.
class talk {
 public:
  explicit talk(std::string mode, std::string more = {}, hondana::channel::limits most = {}, hondana::child_target target = {},
                std::chrono::milliseconds leaving = std::chrono::milliseconds(100)) {
    target.command = {HONDANA_MISBEHAVING, std::move(mode)};
    if (!more.empty()) target.command.push_back(std::move(more));
    target.shutdown_timeout = leaving;
    prepare_for(target);
    auto made = hondana::transport::start_child(target, heard, most, [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    });
    EXPECT_TRUE(made) << made.error().public_text;
    channel = std::move(*made);
  }
  void ask(hondana::channel::call_id id, hondana::channel::content_sink content = {}) const {
    channel->send({.text = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":"m"})",
                   .call = id,
                   .content = std::move(content)});
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  kept_words heard;

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;

 public:
  std::unique_ptr<hondana::channel::channel> channel;  ///< Goes first: until then it tells what stands above.
};

/// The most memory this process has ever had.
inline std::size_t peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoul(line.substr(6));
  }
  return 0;
}

}  // namespace hondana_test
