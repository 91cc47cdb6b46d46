/// The URIs of a log: parsing of their path and parameters, and their canonical form.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/log_backend.hpp"

namespace hondana::logs {

inline constexpr std::size_t default_lines = 100;
inline constexpr std::size_t max_lines = 10'000;
inline constexpr std::size_t max_fields = 16;

/// A parsed URI of a log.
struct log_address {
  std::string name;  ///< Name of the log.
  bool is_summary = false;
  bool is_json = false;
  bool is_relative = false;  ///< The result depends on the time of the request.
  std::optional<std::size_t> lines{};
  records::log_query query{};  ///< All parameters except `lines`.
};

/// Parses a canonical URI. `now` is the time that relative times refer to. Takes linear time.
/// Errors: resource_not_found for URIs that name no resource. invalid_argument for unknown parameters (the text lists the known
/// ones) and for wrong values (the text begins with the parameter's name).
[[nodiscard]] result<log_address> parse_address(std::string_view uri, records::instant now);

/// The canonical URI of `address`, with absolute times.
[[nodiscard]] std::string to_uri(const log_address& address);

/// The prefix of all URIs of a log: log://NAME/
[[nodiscard]] std::string uri_prefix(std::string_view name);
[[nodiscard]] std::string summary_uri(std::string_view name);

/// Parses `path:value` or `path=value`. Returns nothing if the sign or the path is missing.
[[nodiscard]] std::optional<std::pair<std::string, std::string>> parse_field(std::string_view text);

}  // namespace hondana::logs
