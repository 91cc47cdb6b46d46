/// The URIs of a log: parsing of their path and parameters, and their canonical form.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/uri/query_parameters.hpp"
#include "sources/logs/records/log_backend.hpp"

namespace hondana::logs {

inline constexpr std::size_t default_lines = 100;  ///< Records of a page, unless configured or requested otherwise.
inline constexpr std::size_t max_lines = 10'000;   ///< Maximum of the parameter `lines`.
inline constexpr std::size_t max_fields = 16;      ///< Maximum number of conditions in the parameter `field`.

/// A parsed URI of a log.
struct log_address {
  std::string name;  ///< Name of the log.
  bool is_summary = false;
  bool is_json = false;
  bool is_relative = false;            ///< `since` or `until` was relative to the time of the request.
  std::optional<std::size_t> lines{};  ///< nullopt: the configured number.
  records::log_query query{};          ///< All parameters except `lines`.
};

/// The parameters of a summary, or of a page of records.
[[nodiscard]] std::span<const uri::query_parameter> parameters_of(bool is_summary) noexcept;

/// Parses a canonical URI in linear time. `now`: the time that relative times refer to.
/// Errors: resource_not_found for other URIs than `log://NAME/` and `log://NAME/summary`. Those of `uri::parse_query`, also for
/// values that only this source can check.
[[nodiscard]] result<log_address> parse_address(std::string_view uri, records::instant now);

/// Returns the canonical URI of `address`, with absolute times.
[[nodiscard]] std::string to_uri(const log_address& address);

/// Returns the prefix of all URIs of a log: log://NAME/
[[nodiscard]] std::string uri_prefix(std::string_view name);
/// Returns the URI of the summary of a log: log://NAME/summary
[[nodiscard]] std::string summary_uri(std::string_view name);

/// Parses `path:value` or `path=value` into path and value. Returns nullopt if the sign or the path is missing.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> parse_field(std::string_view text);

}  // namespace hondana::logs
