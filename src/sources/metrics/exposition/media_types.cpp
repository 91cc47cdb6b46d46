/// The two formats by their media types.
#include <algorithm>

#include "base/ascii/characters.hpp"
#include "sources/metrics/exposition/parser.hpp"
#include "sources/metrics/exposition/writer.hpp"

namespace hondana::exposition {

std::optional<parser::format> format_of(std::string_view content_type) {
  auto type = content_type.substr(0, std::min(content_type.find(';'), content_type.size()));
  constexpr std::string_view around = " \t";
  type.remove_prefix(std::min(type.find_first_not_of(around), type.size()));
  if (const auto last = type.find_last_not_of(around); last != std::string_view::npos) type = type.substr(0, last + 1);
  if (ascii::is_same(type, "application/openmetrics-text")) return parser::format::open_metrics;
  if (type.empty() || ascii::is_same(type, "text/plain")) return parser::format::prometheus;
  return std::nullopt;
}

std::string_view accepted() noexcept {
  return "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
         "text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
}

}  // namespace hondana::exposition
