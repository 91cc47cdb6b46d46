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

/// An answer that says "success". Values point into `text`.
struct prometheus_answer {
  json::document text{};
  json::value data{};
  std::vector<std::string> warnings{};  ///< Safe for peers.
};

/// `whose` is what errors call the server: "Prometheus at http://host:port". Errors, by status and by what the body says:
/// invalid_argument (400, 413, 422) with the server's own words; timed_out (its own time was up); unsupported (404, 405, 501:
/// it has no such part); source_unavailable (credentials, too many requests, trouble of its own); broken_protocol for what is
/// no answer at all. The server's words are bounded, and withheld where they may be about credentials.
[[nodiscard]] result<prometheus_answer> open_prometheus_answer(int status, std::string_view bytes, std::string_view whose);

/// How much of an answer is taken.
struct prometheus_limits {
  std::size_t series = 1000;
  std::size_t points = 50'000;  ///< Of all series together.
};

/// A vector, a matrix or a scalar as series, in order of identity. Labels may have names that only later versions allow.
/// Native histograms are left out, with a warning. Errors: response_too_large, saying how to narrow down; invalid_argument for
/// a text, which is no series; broken_protocol for types that are wrong, times that do not rise and series that are there
/// twice.
[[nodiscard]] result<std::vector<series::points>> series_of(const json::value& data, const prometheus_limits& most,
                                                            std::string_view whose, std::vector<std::string>& warnings);

/// Texts, sorted, each once: names, labels, values. `most`: what is beyond is left out, the last in order first.
[[nodiscard]] result<std::vector<std::string>> texts_of(const json::value& data, std::size_t most, std::string_view whose);

/// An instant in milliseconds as the API takes it: seconds, exactly.
[[nodiscard]] std::string prometheus_time(series::instant at);

/// A text of the other side that may be shown: well-formed, in one line, and not long.
[[nodiscard]] std::string shown(std::string_view text, std::size_t most = 300);

/// "Prometheus at http://host:port answered data.result[3]: expected an object, got a number".
[[nodiscard]] tl::unexpected<failure> broken_answer(std::string_view whose, const json::bad_member& why);

}  // namespace hondana::metrics
