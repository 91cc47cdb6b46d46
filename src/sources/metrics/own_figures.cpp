/// From the registry of the process.
#include "sources/metrics/own_figures.hpp"

#include <span>
#include <string>
#include <utility>

#include "base/counters/registry.hpp"

namespace hondana::metrics {
namespace {

series::kind kind_of_figures(counters::kind what) noexcept {
  switch (what) {
    case counters::kind::counter:
      return series::kind::counter;
    case counters::kind::histogram:
      return series::kind::histogram;
    case counters::kind::info:
      return series::kind::info;
    case counters::kind::gauge:
      break;
  }
  return series::kind::gauge;
}

class taken final : public counters::sink {
 public:
  taken(series::instant now, samples::batch& into) : now_(now), into_(into) {}

  void family(const counters::head& of) override {
    name_ = of.name;
    // What is stored with it is found by the family's name, which for some is the series' own.
    into_.families.insert_or_assign(name_,
                                    series::metadata{kind_of_figures(of.kind), std::string(of.unit), std::string(of.help)});
  }
  void sample(std::string_view suffix, std::span<const counters::label> labels, double value) override {
    series::identity of{name_ + std::string(suffix), {}};
    for (const auto& one : labels) of.labels.emplace_back(one.name, one.value);
    if (series::normalise(of)) into_.entries.push_back({std::move(of), {now_, value}});
  }

 private:
  const series::instant now_;
  samples::batch& into_;
  std::string name_;
};

}  // namespace

result<void> collect_own_figures(series::instant now, samples::batch& into) {
  taken all(now, into);
  counters::registry::here().collect(all);
  return {};
}

}  // namespace hondana::metrics
