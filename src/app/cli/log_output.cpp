/// Looking before writing.
#include "app/cli/log_output.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <string>

namespace hondana::cli {

void log_output::write(std::string_view line) {
  std::string text;
  if (is_torn_) text += '\n';
  if (dropped_ != 0) text += "... " + std::to_string(dropped_) + " lines were dropped, because the log was not read\n";
  text += line;
  const auto taken = put(text);
  if (taken == text.size()) {
    dropped_ = 0;
    is_torn_ = false;
  } else if (taken == 0) {
    ++dropped_;
  } else {
    dropped_ = 1;
    is_torn_ = true;
  }
}

std::size_t log_output::put(std::string_view text) const {
  std::size_t taken = 0;
  while (taken < text.size()) {
    pollfd ready{descriptor_, POLLOUT, 0};
    const auto found = ::poll(&ready, 1, dropped_ == 0 ? static_cast<int>(patience.count()) : 0);
    if (found < 0 && errno == EINTR) continue;
    if (found <= 0 || (ready.revents & POLLOUT) == 0) break;
    // So much a pipe that can be written to takes without waiting.
    const auto count = ::write(descriptor_, text.data() + taken, std::min<std::size_t>(text.size() - taken, PIPE_BUF));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    taken += static_cast<std::size_t>(count);
  }
  return taken;
}

}  // namespace hondana::cli
