/// Decodes responses of the HTTP API of Prometheus: status, errors, warnings and series.
#include "sources/metrics/prometheus_response.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/json/utf8.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t max_warnings = 16;

struct reported_error {
  std::string type{};
  std::string message{};
};

/// The error that a body describes. Empty if it has none, such as an HTML page.
reported_error parse_error(const json::value& root) {
  reported_error out;
  const auto body = root.as_object("");
  if (!body) return out;
  if (const auto type = body->find_string("errorType"); type && *type) out.type = sanitize_text(**type, 40);
  if (const auto message = body->find_string("error"); message && *message) out.message = sanitize_text(**message);
  return out;
}

tl::unexpected<failure> rejection(int status, const reported_error& error, std::string_view server_name) {
  const std::string server(server_name);
  const std::string status_text = " (" + std::to_string(status) + ")";
  const std::string detail = error.message.empty() ? std::string() : ": " + error.message;
  if (status == 401 || status == 403) {
    return fail(errc::source_unavailable, server + " rejects the credentials of this source" + status_text +
                                              ": check bearer_file, or user and password_file, in its configuration");
  }
  if (status == 429)
    return fail(errc::source_unavailable, server + " rate-limits this source" + status_text + ": send fewer requests");
  if (error.type == "timeout")
    return fail(errc::timed_out, server + " timed out" + detail + ". Request fewer series or a shorter range");
  if (error.type == "canceled") return fail(errc::source_unavailable, server + " cancelled the request: retry");
  if (status == 404 || status == 405 || status == 501 || error.type == "not_found")
    return fail(errc::unsupported, server + " does not support this request" + status_text);
  if (error.type == "bad_data" || error.type == "execution" || status == 400 || status == 413 || status == 422)
    return fail(errc::invalid_argument, server + " rejects this request" + (detail.empty() ? status_text : detail));
  if (status >= 300 && status < 400)
    return fail(errc::source_unavailable,
                server + " redirects elsewhere" + status_text + ", which is not followed: configure that URL");
  return fail(errc::source_unavailable, server + " failed" + status_text + detail);
}

}  // namespace

std::string sanitize_text(std::string_view text, std::size_t max_bytes) {
  // Remove an incomplete character at the end, so that it is not replaced below.
  const bool is_truncated = text.size() > max_bytes;
  if (is_truncated) text = text.substr(0, max_bytes);
  if (is_truncated) text.remove_suffix(json::incomplete_tail(text));
  std::string out;
  json::append_replacing(out, text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (is_truncated) out += "…";
  return out;
}

tl::unexpected<failure> malformed_answer(std::string_view server_name, const json::member_error& error) {
  return fail(errc::protocol_error, std::string(server_name) + " sent an invalid answer: " + sanitize_text(error.text()));
}

result<prometheus_answer> parse_prometheus_answer(int status, std::string_view bytes, std::string_view server_name) {
  auto parsed = json::document::parse(bytes);
  const bool is_success = status >= 200 && status < 300;
  if (!parsed) {
    if (!is_success) return rejection(status, {}, server_name);
    return fail(errc::protocol_error,
                std::string(server_name) +
                    " did not answer with JSON: check that the URL is that of a Prometheus server, without its /api/v1",
                parsed.error().message);
  }
  prometheus_answer out{std::move(*parsed), {}, {}};
  const auto body = out.document.root().as_object("");
  if (!body) {
    if (!is_success) return rejection(status, {}, server_name);
    return malformed_answer(server_name, body.error());
  }
  if (!is_success) return rejection(status, parse_error(out.document.root()), server_name);
  const auto outcome = body->get_string("status");
  if (!outcome) return malformed_answer(server_name, outcome.error());
  if (*outcome == "error") return rejection(status, parse_error(out.document.root()), server_name);
  if (*outcome != "success") return malformed_answer(server_name, {"status", "expected \"success\" or \"error\""});
  const auto data = body->find("data");
  if (!data) return malformed_answer(server_name, data.error());
  if (*data) out.data = **data;
  for (const std::string_view kind : {"warnings", "infos"}) {
    const auto messages = body->find(kind);
    if (!messages) return malformed_answer(server_name, messages.error());
    if (!*messages || (*messages)->is_null()) continue;
    const auto list = (*messages)->as_array(kind);
    if (!list) return malformed_answer(server_name, list.error());
    for (const auto& element : list->elements()) {
      const auto text = element.as_string(kind);
      if (!text) return malformed_answer(server_name, text.error());
      if (out.warnings.size() == max_warnings) break;
      out.warnings.push_back(sanitize_text(*text));
    }
  }
  return out;
}

result<std::vector<std::string>> parse_strings(const json::value& data, std::size_t max_count, std::string_view server_name) {
  std::vector<std::string> out;
  // Some servers send null for an empty list.
  if (data.is_null()) return out;
  const auto list = data.as_array("data");
  if (!list) return malformed_answer(server_name, list.error());
  std::vector<std::string_view> strings;
  strings.reserve(list->size());
  for (const auto& element : list->elements()) {
    const auto text = element.as_string("data[]");
    if (!text) return malformed_answer(server_name, text.error());
    if (!text->empty()) strings.push_back(*text);
  }
  std::sort(strings.begin(), strings.end());
  strings.erase(std::unique(strings.begin(), strings.end()), strings.end());
  if (strings.size() > max_count) strings.resize(max_count);
  out.assign(strings.begin(), strings.end());
  return out;
}

std::string prometheus_time(series::instant time) {
  const auto magnitude = static_cast<std::uint64_t>(time < 0 ? -(time + 1) : time) + (time < 0 ? 1 : 0);
  auto thousandths = std::to_string(magnitude % 1000);
  thousandths.insert(0, 3 - thousandths.size(), '0');
  return (time < 0 ? "-" : "") + std::to_string(magnitude / 1000) + '.' + thousandths;
}

namespace {

constexpr std::size_t max_labels = 128;
/// In seconds since 1970: the end of the year 9999. Times further from 1970, in both directions, are invalid.
constexpr double max_seconds = 253'402'300'799.0;

using decode_error = json::member_error;

tl::unexpected<decode_error> malformed(std::string_view path, std::string reason) {
  return tl::make_unexpected(decode_error{std::string(path), std::move(reason)});
}

json::decoded<series::sample> parse_sample(const json::value& input, std::string_view path) {
  const auto pair = input.as_array(path);
  if (!pair) return tl::make_unexpected(pair.error());
  if (pair->size() != 2) return malformed(path, "expected a time and a value");
  const auto elements = pair->elements();
  const auto seconds = elements[0].as_number(path);
  if (!seconds) return tl::make_unexpected(seconds.error());
  if (!(std::abs(*seconds) <= max_seconds)) return malformed(path, "the time is out of range");
  const auto text = elements[1].as_string(path);
  if (!text) return tl::make_unexpected(text.error());
  const auto value = series::parse_number(*text);
  if (!value) return malformed(path, "the value is not a number");
  return series::sample{std::llround(*seconds * 1000), *value};
}

json::decoded<series::identity> parse_identity(const json::object& entry) {
  const auto metric = entry.get_object("metric");
  if (!metric) return tl::make_unexpected(metric.error());
  series::identity out;
  for (const auto& [name, value] : metric->members()) {
    const auto text = value.as_string(metric->path());
    if (!text) return tl::make_unexpected(text.error());
    if (name.empty()) return malformed(metric->path(), "a label has no name");
    if (out.labels.size() == max_labels) return malformed(metric->path(), "too many labels");
    // An empty value is equivalent to a missing label.
    if (text->empty()) continue;
    out.labels.emplace_back(name, *text);
  }
  std::sort(out.labels.begin(), out.labels.end());
  const auto duplicate =
      std::adjacent_find(out.labels.begin(), out.labels.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (duplicate != out.labels.end()) return malformed(metric->path(), "a label occurs twice");
  const auto name = std::lower_bound(out.labels.begin(), out.labels.end(), std::string_view("__name__"),
                                     [](const auto& label, std::string_view key) { return label.first < key; });
  if (name != out.labels.end() && name->first == "__name__") {
    out.name = std::move(name->second);
    out.labels.erase(name);
  }
  return out;
}

/// Appends samples, whose times must increase. Returns false if there are more than `max_samples`.
json::decoded<bool> parse_samples(const json::value& input, std::string_view path, std::size_t max_samples,
                                  std::vector<series::sample>& output) {
  const auto list = input.as_array(path);
  if (!list) return tl::make_unexpected(list.error());
  if (list->size() > max_samples) return false;
  output.reserve(list->size());
  for (const auto& element : list->elements()) {
    const auto sample = parse_sample(element, path);
    if (!sample) return tl::make_unexpected(sample.error());
    if (!output.empty() && sample->time <= output.back().time) return malformed(path, "the times are not increasing");
    output.push_back(*sample);
  }
  return true;
}

class series_parser {
 public:
  series_parser(const prometheus_limits& limits, std::string_view server_name) : limits_(limits), server_name_(server_name) {}

  result<std::vector<series::time_series>> parse(const json::value& list, bool is_vector) {
    const auto entries = list.as_array("data.result");
    if (!entries) return malformed_answer(server_name_, entries.error());
    if (entries->size() > limits_.max_series)
      return too_many(std::to_string(entries->size()) + " series", limits_.max_series, "series");
    std::size_t index = 0;
    for (const auto& element : entries->elements()) {
      auto parsed = parse_entry(element, "data.result[" + std::to_string(index++) + "]", is_vector);
      if (!parsed) return malformed_answer(server_name_, parsed.error());
      if (!*parsed) return too_many("too many points", limits_.max_points, "points");
    }
    std::sort(out_.begin(), out_.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    const auto duplicate =
        std::adjacent_find(out_.begin(), out_.end(), [](const auto& a, const auto& b) { return a.id == b.id; });
    if (duplicate != out_.end()) return malformed_answer(server_name_, {"data.result", "a series occurs twice"});
    return std::move(out_);
  }

  [[nodiscard]] std::size_t skipped() const noexcept { return skipped_; }

 private:
  tl::unexpected<failure> too_many(std::string_view count_text, std::size_t limit, std::string_view unit) const {
    return series::too_large_with_advice(
        std::string(server_name_) + " has " + std::string(count_text) + "; at most " + std::to_string(limit) + ' ' +
        std::string(unit) +
        " are allowed: narrow it down with match, a longer step or a shorter range, or group it, as in agg=sum by (label)");
  }

  json::decoded<bool> parse_entry(const json::value& input, const std::string& path, bool is_vector) {
    const auto entry = input.as_object(path);
    if (!entry) return tl::make_unexpected(entry.error());
    series::time_series series;
    auto identity = parse_identity(*entry);
    if (!identity) return tl::make_unexpected(std::move(identity.error()));
    series.id = std::move(*identity);
    const auto floats = entry->find(is_vector ? "value" : "values");
    const auto native = entry->find(is_vector ? "histogram" : "histograms");
    if (!floats) return tl::make_unexpected(floats.error());
    if (!native) return tl::make_unexpected(native.error());
    if (*native) ++skipped_;
    if (!*floats && !*native) return malformed(path, is_vector ? "has no value" : "has no values");
    if (!*floats) return true;
    const auto value_path = path + (is_vector ? ".value" : ".values");
    if (is_vector) {
      const auto sample = parse_sample(**floats, value_path);
      if (!sample) return tl::make_unexpected(sample.error());
      series.samples.push_back(*sample);
    } else {
      const auto is_complete = parse_samples(**floats, value_path, limits_.max_points - point_count_, series.samples);
      if (!is_complete) return tl::make_unexpected(is_complete.error());
      if (!*is_complete) return false;
    }
    point_count_ += series.samples.size();
    if (point_count_ > limits_.max_points) return false;
    if (!series.samples.empty()) out_.push_back(std::move(series));
    return true;
  }

  prometheus_limits limits_;
  std::string_view server_name_;
  std::vector<series::time_series> out_{};
  std::size_t point_count_ = 0;
  std::size_t skipped_ = 0;
};

}  // namespace

result<std::vector<series::time_series>> parse_series(const json::value& data, const prometheus_limits& limits,
                                                      std::string_view server_name, std::vector<std::string>& warnings) {
  const auto body = data.as_object("data");
  if (!body) return malformed_answer(server_name, body.error());
  const auto type = body->get_string("resultType");
  if (!type) return malformed_answer(server_name, type.error());
  const auto value = body->get("result");
  if (!value) return malformed_answer(server_name, value.error());
  if (*type == "string")
    return fail(errc::invalid_argument,
                std::string(server_name) + " returned a string instead of series: use an expression that yields numbers");
  if (*type == "scalar") {
    const auto sample = parse_sample(*value, "data.result");
    if (!sample) return malformed_answer(server_name, sample.error());
    return std::vector<series::time_series>{{{}, {*sample}}};
  }
  if (*type != "vector" && *type != "matrix")
    return malformed_answer(server_name, {"data.resultType", "expected \"matrix\", \"vector\", \"scalar\" or \"string\""});
  // Some servers send null for an empty list.
  if (value->is_null()) return std::vector<series::time_series>();
  series_parser parser(limits, server_name);
  auto out = parser.parse(*value, *type == "vector");
  if (out && parser.skipped() != 0) {
    warnings.push_back(std::to_string(parser.skipped()) +
                       " series with native histograms are left out: use histogram_quantile of them in query");
  }
  return out;
}

}  // namespace hondana::metrics
