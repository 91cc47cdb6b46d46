/// Messages on their way to a child process.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

namespace hondana::transport::child {

/// Threads: one at a time, but what `front` gave stays where it is until it is written or cleared.
class outbox {
 public:
  void add(std::string text, bool is_call) {
    text += '\n';
    bytes_ += text.size();
    if (!is_call) other_bytes_ += text.size();
    waiting_.push_back({std::move(text), is_call});
  }
  [[nodiscard]] bool empty() const noexcept { return waiting_.empty(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  /// Of what is no request, above all answers to the program's own, and waits behind another message: one that is long says
  /// nothing of its reader.
  [[nodiscard]] std::size_t waiting_answers() const noexcept {
    return waiting_.empty() || waiting_.front().is_call ? other_bytes_ : other_bytes_ - waiting_.front().text.size();
  }
  /// What is to be written next.
  [[nodiscard]] std::string_view front() const { return std::string_view(waiting_.front().text).substr(written_); }
  void wrote(std::size_t count) {
    written_ += count;
    const auto& [text, is_call] = waiting_.front();
    if (written_ < text.size()) return;
    bytes_ -= text.size();
    if (!is_call) other_bytes_ -= text.size();
    waiting_.pop_front();
    written_ = 0;
  }
  void clear() { *this = {}; }

 private:
  struct message {
    std::string text;
    bool is_call;
  };
  std::deque<message> waiting_;
  std::size_t bytes_ = 0;
  std::size_t other_bytes_ = 0;
  std::size_t written_ = 0;  // of the first
};

}  // namespace hondana::transport::child
