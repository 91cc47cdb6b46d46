/// Keeping the last lines of standard error.
#include "transport/child/problem_lines.hpp"

#include <cstddef>

namespace hondana::transport::child {
namespace {

constexpr std::size_t longest_problem = 4u << 10;
constexpr std::size_t longest_kept = 300;
constexpr std::size_t kept_problems = 3;

}  // namespace

void problem_lines::feed(std::string_view bytes) {
  for (const char c : bytes) {
    if (c != '\n' && line_.size() < longest_problem) line_ += c;
    if (c == '\n') end_line();
  }
}

void problem_lines::end_line() {
  if (line_.empty()) return;
  if (tell_) tell_(line_);
  last_.push_back(line_.substr(0, longest_kept));
  if (last_.size() > kept_problems) last_.pop_front();
  line_.clear();
}

std::string problem_lines::said() const {
  std::string out;
  for (const auto& one : last_) out += (out.empty() ? "; it said: " : " | ") + one;
  return out;
}

void problem_lines::clear() {
  line_.clear();
  last_.clear();
}

}  // namespace hondana::transport::child
