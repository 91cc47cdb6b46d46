/// The only place that sees spdlog.
#include "cli/log.hpp"

#include <memory>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "cli/visible.hpp"

namespace hondana::cli {

log_function standard_log() {
  const auto logger = std::make_shared<spdlog::logger>("hondana", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S%z %v");
  return [logger](std::string_view line) { logger->info(visible(line)); };
}

}  // namespace hondana::cli
