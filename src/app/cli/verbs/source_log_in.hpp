/// Logging in to the service behind a source of the configuration.
#pragma once

#include <memory>
#include <stop_token>

#include <hondana/authorization.hpp>
#include <hondana/error.hpp>

#include "app/cli/flags/line.hpp"

namespace hondana::cli {

/// The browser that somebody logs in with, as the flags say.
[[nodiscard]] std::shared_ptr<login_page> page_for(const command_line& line);

/// By `--source` and `--config`. Only a source of type gdrive has anybody to log in to. Errors: invalid_argument for a source
/// that is none, or has a key of its own; those of the log-in.
[[nodiscard]] result<void> log_in_to_source(const command_line& line, const std::stop_token& stop);
/// The log-in is taken back at the service, if it answers, and its file is removed in any case.
[[nodiscard]] result<void> log_out_of_source(const command_line& line, const std::stop_token& stop);

}  // namespace hondana::cli
