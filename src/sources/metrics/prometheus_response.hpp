/// Decodes responses of the HTTP API of Prometheus: status, errors, warnings and series.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "base/json/reader.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::metrics {

/// An answer with status "success". `data` points into `document`.
struct prometheus_answer {
  json::document document{};
  json::value data{};
  std::vector<std::string> warnings{};  ///< Safe for clients.
};

/// Parses the body of an answer. `server_name` names the server in errors: "Prometheus at http://host:port".
/// Errors, by HTTP status and body:
/// * invalid_argument (400, 413, 422), with the server's own text.
/// * timed_out: the server's own time limit.
/// * unsupported (404, 405, 501): the server lacks this part of the API.
/// * source_unavailable: credentials, rate limit, server error.
/// * protocol_error: not an answer of the API.
/// The server's text is cut to a maximum length, and left out if it may be about credentials.
[[nodiscard]] result<prometheus_answer> parse_prometheus_answer(int status, std::string_view bytes,
                                                                std::string_view server_name);

/// Limits of the part of an answer that is used.
struct prometheus_limits {
  std::size_t max_series = 1000;
  std::size_t max_points = 50'000;  ///< Of all series together.
};

/// Decodes a vector, matrix or scalar into series, in order of identity. Label names may be ones that only newer Prometheus
/// versions allow. Native histograms are left out, with a warning.
/// Errors: response_too_large, with advice on how to select less. invalid_argument for a string, which is not a series.
/// protocol_error for wrong types, times that do not increase, and duplicate series.
[[nodiscard]] result<std::vector<series::time_series>> parse_series(const json::value& data, const prometheus_limits& limits,
                                                                    std::string_view server_name,
                                                                    std::vector<std::string>& warnings);

/// Decodes an array of strings (names, labels, values), sorted and without duplicates. Leaves out the last in order beyond
/// `max_count`. Errors: protocol_error.
[[nodiscard]] result<std::vector<std::string>> parse_strings(const json::value& data, std::size_t max_count,
                                                             std::string_view server_name);

/// Formats a time or duration as the API accepts it: in seconds, without loss.
[[nodiscard]] std::string prometheus_time(series::instant time);

/// Makes a text from the server safe to show: valid UTF-8, on one line, cut after `max_bytes` bytes with an ellipsis.
[[nodiscard]] std::string sanitize_text(std::string_view text, std::size_t max_bytes = 300);

/// Makes a protocol_error: "Prometheus at http://host:port sent an invalid answer: data.result[3]: expected an object, got a
/// number".
[[nodiscard]] tl::unexpected<failure> malformed_answer(std::string_view server_name, const json::member_error& error);

}  // namespace hondana::metrics
