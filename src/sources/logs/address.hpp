/// The URIs of a log: parsing of their path and parameters, and their canonical form.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/log.hpp"

namespace hondana::logs {

inline constexpr std::size_t usual_lines = 100;
inline constexpr std::size_t most_lines = 10'000;
inline constexpr std::size_t most_fields = 16;

/// One of the URIs of a log, read.
struct address {
  std::string name;  ///< Of the log.
  bool is_summary = false;
  bool is_json = false;
  bool is_relative = false;  ///< A moment in it goes by when it is asked for.
  std::optional<std::size_t> lines{};
  records::query what{};  ///< `lines` aside.
};

/// Reads a canonical URI. `now`: what moments are relative to. Errors: resource_not_found for what no log has;
/// invalid_argument for parameters that there are not, naming those that there are, and for values, which begins with the
/// parameter's name then. Linear time.
[[nodiscard]] result<address> parse_address(std::string_view uri, records::instant now);

/// The canonical URI that says the same, with moments that stand still.
[[nodiscard]] std::string uri_of(const address& at);

/// What the URIs of a log begin with: log://NAME/
[[nodiscard]] std::string claim_of(std::string_view name);
[[nodiscard]] std::string summary_uri_of(std::string_view name);

/// `path:value`, or `path=value`; nothing without either sign or a path before it.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> parse_field(std::string_view text);

}  // namespace hondana::logs
