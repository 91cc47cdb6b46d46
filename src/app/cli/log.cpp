/// The only place that sees spdlog.
#include "app/cli/log.hpp"

#include <unistd.h>

#include <memory>
#include <mutex>
#include <string>

#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include "app/cli/log_output.hpp"
#include "app/cli/visible.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::cli {
namespace {

class standard_error final : public spdlog::sinks::base_sink<std::mutex> {
  void sink_it_(const spdlog::details::log_msg& what) override {
    spdlog::memory_buf_t line;
    formatter_->format(what, line);
    out_.write({line.data(), line.size()});
  }
  void flush_() override {}

  log_output out_{STDERR_FILENO};
};

}  // namespace

log_function standard_log() {
  const auto logger = std::make_shared<spdlog::logger>("hondana", std::make_shared<standard_error>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S%z %v");
  return [logger](std::string_view line) { logger->info(visible(secrets::redact_text(line))); };
}

}  // namespace hondana::cli
