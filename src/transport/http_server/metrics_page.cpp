/// From the registry into the exposition formats.
#include "transport/http_server/metrics_page.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/counters/text_format.hpp"
#include "base/json/utf8.hpp"
#include "transport/http_server/field_values.hpp"

namespace hondana::transport::http_server {
namespace {

using counters::text_format;

/// As the format calls it: Prometheus' own knows no infos.
std::string_view type_in(text_format which, counters::kind what) noexcept {
  switch (what) {
    case counters::kind::counter:
      return "counter";
    case counters::kind::gauge:
      return "gauge";
    case counters::kind::histogram:
      return "histogram";
    case counters::kind::info:
      return which == text_format::open_metrics ? "info" : "gauge";
  }
  return "unknown";
}

/// What Prometheus' own format adds to the name of a family.
std::string_view ending_in(text_format which, counters::kind what) noexcept {
  if (which == text_format::open_metrics) return {};
  return what == counters::kind::counter ? "_total" : what == counters::kind::info ? "_info" : "";
}

class page final : public counters::sink {
 public:
  explicit page(text_format which) : which_(which), to_(which) {}

  void family(const counters::head& of) override {
    name_ = of.name;
    to_.family(name_ + std::string(ending_in(which_, of.kind)), type_in(which_, of.kind), of.unit, of.help);
  }
  void sample(std::string_view suffix, std::span<const counters::label> labels, double value) override {
    std::vector<counters::label> sorted(labels.begin(), labels.end());
    // A source's name may be no UTF-8, and is then nothing that can be told.
    if (!std::all_of(sorted.begin(), sorted.end(), [](const auto& one) { return json::is_utf8(one.value); })) return;
    std::erase_if(sorted, [](const auto& one) { return one.value.empty(); });
    std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    auto series = name_ + std::string(suffix);
    char before = '{';
    for (const auto& one : sorted) counters::append_label(series, std::exchange(before, ','), one.name, one.value);
    if (!sorted.empty()) series += '}';
    to_.sample(series, value);
  }
  [[nodiscard]] std::string finish() { return to_.finish(); }

 private:
  const text_format which_;
  counters::text_writer to_;
  std::string name_;
};

}  // namespace

plain_answer metrics_page(std::string_view accept, const counters::registry& of) {
  const auto which = prefers_open_metrics(accept) ? text_format::open_metrics : text_format::prometheus;
  page to(which);
  of.collect(to);
  return {200, counters::content_type_of(which), to.finish(), "Vary: Accept\r\n"};
}

}  // namespace hondana::transport::http_server
