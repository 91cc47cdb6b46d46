/// What a child process writes on its standard error.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

namespace hondana::transport::child {

/// Lines for whoever wants them, and the last of them for the text that says how it all ended. Threads: one at a time.
class problem_lines {
 public:
  /// `tell` outlives it and may be empty.
  explicit problem_lines(const std::function<void(std::string_view)>& tell) : tell_(tell) {}

  void feed(std::string_view bytes);
  void end_line();
  /// "; it said: …", or nothing.
  [[nodiscard]] std::string said() const;
  void clear();

 private:
  const std::function<void(std::string_view)>& tell_;
  std::string line_;
  std::deque<std::string> last_;
};

}  // namespace hondana::transport::child
