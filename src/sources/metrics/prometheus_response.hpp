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

/// An answer with status "success". `data` points into `text`.
struct prometheus_answer {
  json::document text{};
  json::value data{};
  std::vector<std::string> warnings{};  ///< Safe for clients.
};

/// Parses the body of an answer. `whose` names the server in errors: "Prometheus at http://host:port".
/// Errors, by HTTP status and body:
/// * invalid_argument (400, 413, 422), with the server's own text.
/// * timed_out: the server's own time limit.
/// * unsupported (404, 405, 501): the server lacks this part of the API.
/// * source_unavailable: credentials, rate limit, server error.
/// * broken_protocol: not an answer of the API.
/// The server's text is cut to a maximum length, and left out if it may be about credentials.
[[nodiscard]] result<prometheus_answer> open_prometheus_answer(int status, std::string_view bytes, std::string_view whose);

/// Limits of the part of an answer that is used.
struct prometheus_limits {
  std::size_t series = 1000;
  std::size_t points = 50'000;  ///< Of all series together.
};

/// Decodes a vector, matrix or scalar into series, in order of identity. Label names may be ones that only newer Prometheus
/// versions allow. Native histograms are left out, with a warning.
/// Errors: response_too_large, with advice on how to select less. invalid_argument for a string, which is not a series.
/// broken_protocol for wrong types, times that do not increase, and duplicate series.
[[nodiscard]] result<std::vector<series::points>> series_of(const json::value& data, const prometheus_limits& most,
                                                            std::string_view whose, std::vector<std::string>& warnings);

/// Decodes strings (names, labels, values), sorted and without duplicates. At most `most`: the last in order are left out.
[[nodiscard]] result<std::vector<std::string>> texts_of(const json::value& data, std::size_t most, std::string_view whose);

/// A time in milliseconds as the API accepts it: in seconds, without loss.
[[nodiscard]] std::string prometheus_time(series::instant at);

/// Makes a text from the server safe to show: valid UTF-8, on one line, cut to `most` bytes.
[[nodiscard]] std::string shown(std::string_view text, std::size_t most = 300);

/// "Prometheus at http://host:port sent an invalid answer: data.result[3]: expected an object, got a number".
[[nodiscard]] tl::unexpected<failure> broken_answer(std::string_view whose, const json::bad_member& why);

}  // namespace hondana::metrics
