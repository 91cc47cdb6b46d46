/// Lines about refusals, as many as somebody can read.
#include "server/session/refusal_log.hpp"

#include <algorithm>
#include <utility>

namespace hondana::session {

std::optional<std::string> refusal_log::line(int status, std::string_view address, std::string_view identity,
                                             std::string_view why, clock::time_point now) {
  std::size_t left_out = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(now - filled_);
    if (seconds.count() > 0) {
      left_ = std::min(at_once, left_ + static_cast<std::size_t>(std::min<std::int64_t>(seconds.count(), at_once)));
      filled_ = now;
    }
    if (left_ == 0) {
      ++left_out_;
      return std::nullopt;
    }
    --left_;
    left_out = std::exchange(left_out_, 0);
  }
  auto whom = std::string(address.empty() ? identity : address);
  if (!address.empty() && !identity.empty()) whom += " (" + std::string(identity) + ')';
  auto out = "refused " + whom + " with " + std::to_string(status) + ": " + std::string(why);
  if (left_out > 0) out += "; " + std::to_string(left_out) + " more were not logged";
  return out;
}

}  // namespace hondana::session
