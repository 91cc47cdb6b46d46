/// A summary as Markdown and as JSON.
#pragma once

#include <string>
#include <string_view>

#include "sources/logs/summary.hpp"

namespace hondana::logs {

/// `name`: of the log. URIs in it lead to the records.
[[nodiscard]] std::string markdown_of(const summary& what, std::string_view name);
[[nodiscard]] std::string json_of(const summary& what, std::string_view name);

}  // namespace hondana::logs
