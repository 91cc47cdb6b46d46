/// Decodes responses of the HTTP API of Prometheus: status, errors, warnings and series.
#include "sources/metrics/prometheus_response.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/json/utf8.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t most_warnings = 16;

struct told_error {
  std::string type{};
  std::string words{};
};

/// The error that a body describes. Empty if it has none, such as an HTML page.
told_error error_in(const json::value& root) {
  told_error out;
  const auto body = root.as_object("");
  if (!body) return out;
  if (const auto type = body->find_string("errorType"); type && *type) out.type = shown(**type, 40);
  if (const auto words = body->find_string("error"); words && *words) out.words = shown(**words);
  return out;
}

tl::unexpected<failure> refusal(int status, const told_error& why, std::string_view whose) {
  const std::string who(whose);
  const std::string number = " (" + std::to_string(status) + ")";
  const std::string words = why.words.empty() ? std::string() : ": " + why.words;
  if (status == 401 || status == 403) {
    return fail(errc::source_unavailable, who + " rejects the credentials of this source" + number +
                                              ": check bearer_file, or user and password_file, in its configuration");
  }
  if (status == 429) return fail(errc::source_unavailable, who + " rate-limits this source" + number + ": send fewer requests");
  if (why.type == "timeout")
    return fail(errc::timed_out, who + " timed out" + words + ". Request fewer series or a shorter range");
  if (why.type == "canceled") return fail(errc::source_unavailable, who + " cancelled the request: retry");
  if (status == 404 || status == 405 || status == 501 || why.type == "not_found")
    return fail(errc::unsupported, who + " does not support this request" + number);
  if (why.type == "bad_data" || why.type == "execution" || status == 400 || status == 413 || status == 422)
    return fail(errc::invalid_argument, who + " rejects this request" + (words.empty() ? number : words));
  if (status >= 300 && status < 400)
    return fail(errc::source_unavailable,
                who + " redirects elsewhere" + number + ", which is not followed: configure that URL");
  return fail(errc::source_unavailable, who + " failed" + number + words);
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  // Remove an incomplete character at the end, so that it is not replaced below.
  const bool is_cut = text.size() > most;
  if (is_cut) text = text.substr(0, most);
  if (is_cut) text.remove_suffix(json::incomplete_tail(text));
  std::string out;
  json::append_replacing(out, text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  if (is_cut) out += "…";
  return out;
}

tl::unexpected<failure> broken_answer(std::string_view whose, const json::bad_member& why) {
  return fail(errc::broken_protocol, std::string(whose) + " sent an invalid answer: " + shown(why.text()));
}

result<prometheus_answer> open_prometheus_answer(int status, std::string_view bytes, std::string_view whose) {
  auto parsed = json::document::parse(bytes);
  const bool is_success = status >= 200 && status < 300;
  if (!parsed) {
    if (!is_success) return refusal(status, {}, whose);
    return fail(errc::broken_protocol,
                std::string(whose) +
                    " did not answer with JSON: check that the URL is that of a Prometheus server, without its /api/v1",
                parsed.error().what);
  }
  prometheus_answer out{std::move(*parsed), {}, {}};
  const auto body = out.text.root().as_object("");
  if (!body) {
    if (!is_success) return refusal(status, {}, whose);
    return broken_answer(whose, body.error());
  }
  if (!is_success) return refusal(status, error_in(out.text.root()), whose);
  const auto how = body->get_string("status");
  if (!how) return broken_answer(whose, how.error());
  if (*how == "error") return refusal(status, error_in(out.text.root()), whose);
  if (*how != "success") return broken_answer(whose, {"status", "expected \"success\" or \"error\""});
  const auto data = body->find("data");
  if (!data) return broken_answer(whose, data.error());
  if (*data) out.data = **data;
  for (const std::string_view kind : {"warnings", "infos"}) {
    const auto told = body->find(kind);
    if (!told) return broken_answer(whose, told.error());
    if (!*told || (*told)->is_null()) continue;
    const auto list = (*told)->as_array(kind);
    if (!list) return broken_answer(whose, list.error());
    for (const auto& one : list->elements()) {
      const auto text = one.as_string(kind);
      if (!text) return broken_answer(whose, text.error());
      if (out.warnings.size() == most_warnings) break;
      out.warnings.push_back(shown(*text));
    }
  }
  return out;
}

result<std::vector<std::string>> texts_of(const json::value& data, std::size_t most, std::string_view whose) {
  std::vector<std::string> out;
  // Some servers send null for an empty list.
  if (data.is_null()) return out;
  const auto list = data.as_array("data");
  if (!list) return broken_answer(whose, list.error());
  std::vector<std::string_view> all;
  all.reserve(list->size());
  for (const auto& one : list->elements()) {
    const auto text = one.as_string("data[]");
    if (!text) return broken_answer(whose, text.error());
    if (!text->empty()) all.push_back(*text);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (all.size() > most) all.resize(most);
  out.assign(all.begin(), all.end());
  return out;
}

std::string prometheus_time(series::instant at) {
  const auto size = static_cast<std::uint64_t>(at < 0 ? -(at + 1) : at) + (at < 0 ? 1 : 0);
  auto thousandths = std::to_string(size % 1000);
  thousandths.insert(0, 3 - thousandths.size(), '0');
  return (at < 0 ? "-" : "") + std::to_string(size / 1000) + '.' + thousandths;
}

namespace {

constexpr std::size_t most_labels = 128;
/// In seconds since 1970: the end of the year 9999. Times further from 1970, in both directions, are invalid.
constexpr double furthest = 253'402'300'799.0;

using trouble = json::bad_member;

tl::unexpected<trouble> wrong(std::string_view path, std::string what) {
  return tl::make_unexpected(trouble{std::string(path), std::move(what)});
}

json::decoded<series::sample> sample_in(const json::value& from, std::string_view path) {
  const auto pair = from.as_array(path);
  if (!pair) return tl::make_unexpected(pair.error());
  if (pair->size() != 2) return wrong(path, "expected a time and a value");
  const auto both = pair->elements();
  const auto seconds = both[0].as_number(path);
  if (!seconds) return tl::make_unexpected(seconds.error());
  if (!(std::abs(*seconds) <= furthest)) return wrong(path, "the time is out of range");
  const auto text = both[1].as_string(path);
  if (!text) return tl::make_unexpected(text.error());
  const auto value = series::number_in(*text);
  if (!value) return wrong(path, "the value is not a number");
  return series::sample{std::llround(*seconds * 1000), *value};
}

json::decoded<series::identity> identity_in(const json::object& entry) {
  const auto metric = entry.get_object("metric");
  if (!metric) return tl::make_unexpected(metric.error());
  series::identity out;
  for (const auto& [name, value] : metric->members()) {
    const auto text = value.as_string(metric->path());
    if (!text) return tl::make_unexpected(text.error());
    if (name.empty()) return wrong(metric->path(), "a label has no name");
    if (out.labels.size() == most_labels) return wrong(metric->path(), "too many labels");
    // An empty value is equivalent to a missing label.
    if (text->empty()) continue;
    out.labels.emplace_back(name, *text);
  }
  std::sort(out.labels.begin(), out.labels.end());
  const auto twice =
      std::adjacent_find(out.labels.begin(), out.labels.end(), [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != out.labels.end()) return wrong(metric->path(), "a label occurs twice");
  const auto name = std::lower_bound(out.labels.begin(), out.labels.end(), std::string_view("__name__"),
                                     [](const auto& label, std::string_view wanted) { return label.first < wanted; });
  if (name != out.labels.end() && name->first == "__name__") {
    out.name = std::move(name->second);
    out.labels.erase(name);
  }
  return out;
}

/// Appends samples, whose times must increase. Returns false if there are more than `most`.
json::decoded<bool> take_samples(const json::value& from, std::string_view path, std::size_t most,
                                 std::vector<series::sample>& into) {
  const auto list = from.as_array(path);
  if (!list) return tl::make_unexpected(list.error());
  if (list->size() > most) return false;
  into.reserve(list->size());
  for (const auto& one : list->elements()) {
    const auto next = sample_in(one, path);
    if (!next) return tl::make_unexpected(next.error());
    if (!into.empty() && next->at <= into.back().at) return wrong(path, "the times are not increasing");
    into.push_back(*next);
  }
  return true;
}

class series_reader {
 public:
  series_reader(const prometheus_limits& most, std::string_view whose) : most_(most), whose_(whose) {}

  result<std::vector<series::points>> all(const json::value& list, bool is_vector) {
    const auto entries = list.as_array("data.result");
    if (!entries) return broken_answer(whose_, entries.error());
    if (entries->size() > most_.series) return too_many(std::to_string(entries->size()) + " series", most_.series, "series");
    std::size_t at = 0;
    for (const auto& one : entries->elements()) {
      auto taken = take(one, "data.result[" + std::to_string(at++) + "]", is_vector);
      if (!taken) return broken_answer(whose_, taken.error());
      if (!*taken) return too_many("too many points", most_.points, "points");
    }
    std::sort(out_.begin(), out_.end(), [](const auto& a, const auto& b) { return a.of < b.of; });
    const auto twice = std::adjacent_find(out_.begin(), out_.end(), [](const auto& a, const auto& b) { return a.of == b.of; });
    if (twice != out_.end()) return broken_answer(whose_, {"data.result", "a series occurs twice"});
    return std::move(out_);
  }

  [[nodiscard]] std::size_t left_out() const noexcept { return left_out_; }

 private:
  tl::unexpected<failure> too_many(std::string_view what, std::size_t most, std::string_view unit) const {
    return series::too_large_with_advice(
        std::string(whose_) + " has " + std::string(what) + "; at most " + std::to_string(most) + ' ' + std::string(unit) +
        " are allowed: narrow it down with match, a longer step or a shorter range, or group it, as in agg=sum by (label)");
  }

  json::decoded<bool> take(const json::value& from, const std::string& path, bool is_vector) {
    const auto entry = from.as_object(path);
    if (!entry) return tl::make_unexpected(entry.error());
    series::points next;
    auto name = identity_in(*entry);
    if (!name) return tl::make_unexpected(std::move(name.error()));
    next.of = std::move(*name);
    const auto floats = entry->find(is_vector ? "value" : "values");
    const auto native = entry->find(is_vector ? "histogram" : "histograms");
    if (!floats) return tl::make_unexpected(floats.error());
    if (!native) return tl::make_unexpected(native.error());
    if (*native) ++left_out_;
    if (!*floats && !*native) return wrong(path, is_vector ? "has no value" : "has no values");
    if (!*floats) return true;
    const auto where = path + (is_vector ? ".value" : ".values");
    if (is_vector) {
      const auto one = sample_in(**floats, where);
      if (!one) return tl::make_unexpected(one.error());
      next.samples.push_back(*one);
    } else {
      const auto within = take_samples(**floats, where, most_.points - taken_, next.samples);
      if (!within) return tl::make_unexpected(within.error());
      if (!*within) return false;
    }
    taken_ += next.samples.size();
    if (taken_ > most_.points) return false;
    if (!next.samples.empty()) out_.push_back(std::move(next));
    return true;
  }

  prometheus_limits most_;
  std::string_view whose_;
  std::vector<series::points> out_{};
  std::size_t taken_ = 0;
  std::size_t left_out_ = 0;
};

}  // namespace

result<std::vector<series::points>> series_of(const json::value& data, const prometheus_limits& most, std::string_view whose,
                                              std::vector<std::string>& warnings) {
  const auto body = data.as_object("data");
  if (!body) return broken_answer(whose, body.error());
  const auto type = body->get_string("resultType");
  if (!type) return broken_answer(whose, type.error());
  const auto found = body->get("result");
  if (!found) return broken_answer(whose, found.error());
  if (*type == "string")
    return fail(errc::invalid_argument,
                std::string(whose) + " returned a string instead of series: use an expression that yields numbers");
  if (*type == "scalar") {
    const auto one = sample_in(*found, "data.result");
    if (!one) return broken_answer(whose, one.error());
    return std::vector<series::points>{{{}, {*one}}};
  }
  if (*type != "vector" && *type != "matrix")
    return broken_answer(whose, {"data.resultType", "expected \"matrix\", \"vector\", \"scalar\" or \"string\""});
  // Some servers send null for an empty list.
  if (found->is_null()) return std::vector<series::points>();
  series_reader reader(most, whose);
  auto out = reader.all(*found, *type == "vector");
  if (out && reader.left_out() != 0) {
    warnings.push_back(std::to_string(reader.left_out()) +
                       " series with native histograms are left out: use histogram_quantile of them in query");
  }
  return out;
}

}  // namespace hondana::metrics
