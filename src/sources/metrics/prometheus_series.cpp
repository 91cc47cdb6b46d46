/// Reads series out of the results of queries.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sources/metrics/prometheus_answers.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t most_labels = 128;
/// Instants beyond this are none, in seconds: year 9999, and as far before 1970.
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
    // An empty value is as good as none.
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

/// Appends samples that rise in time. False: there are more than `most`.
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
  // Some servers say null where there is nothing.
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
