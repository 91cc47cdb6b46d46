/// The only place that sees spdlog.
#include "cli/log.hpp"

#include <memory>
#include <string>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

namespace hondana::cli {
namespace {

/// A line of a log must not be forged or coloured by what peers and files are called.
std::string visible(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (const char c : text) shown.push_back(static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c);
  return shown;
}

}  // namespace

log_function standard_log() {
  const auto logger = std::make_shared<spdlog::logger>("hondana", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S%z %v");
  return [logger](std::string_view line) { logger->info(visible(line)); };
}

}  // namespace hondana::cli
