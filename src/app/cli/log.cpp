/// The program's log on standard error. Only this file uses spdlog.
#include "app/cli/log.hpp"

#include <poll.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <memory>
#include <mutex>
#include <string>

#include "app/cli/output.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::cli {

void log_output::write(std::string_view line) {
  std::string text;
  if (is_truncated_) text += '\n';
  if (dropped_ != 0) text += "... " + std::to_string(dropped_) + " lines were dropped, because the log was not read\n";
  const auto line_begin = text.size();
  text += line;
  const auto written = write_some(text);
  if (written == text.size()) {
    dropped_ = 0;
    is_truncated_ = false;
    return;
  }
  // If the number was not written to its end, the next line reports it again.
  dropped_ = written < line_begin ? dropped_ + 1 : 1;
  if (written != 0) is_truncated_ = text[written - 1] != '\n';
}

std::size_t log_output::write_some(std::string_view text) const {
  std::size_t written = 0;
  while (written < text.size()) {
    pollfd ready{descriptor_, POLLOUT, 0};
    const auto ready_count = ::poll(&ready, 1, dropped_ == 0 ? static_cast<int>(write_timeout.count()) : 0);
    if (ready_count < 0 && errno == EINTR) continue;
    if (ready_count <= 0 || (ready.revents & POLLOUT) == 0) break;
    // A pipe that is ready for writing accepts PIPE_BUF bytes without blocking.
    const auto count = ::write(descriptor_, text.data() + written, std::min<std::size_t>(text.size() - written, PIPE_BUF));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  return written;
}

namespace {

class stderr_sink final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& message) override {
    spdlog::memory_buf_t line;
    formatter_->format(message, line);
    out_.write({line.data(), line.size()});
  }
  void flush_() override {}

  log_output out_{STDERR_FILENO};
};

}  // namespace

log_function standard_log() {
  const auto logger = std::make_shared<spdlog::logger>("hondana", std::make_shared<stderr_sink>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S%z %v");
  return [logger](std::string_view line) { logger->info(sanitize(secrets::redact_text(line))); };
}

}  // namespace hondana::cli
