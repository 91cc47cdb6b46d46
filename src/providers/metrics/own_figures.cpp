/// From the registry of the process.
#include "providers/metrics/own_figures.hpp"

#include <span>
#include <string>
#include <utility>

#include "figures/registry.hpp"

namespace hondana::metrics {
namespace {

series::kind kind_of_figures(figures::kind what) noexcept {
  switch (what) {
    case figures::kind::counter:
      return series::kind::counter;
    case figures::kind::histogram:
      return series::kind::histogram;
    case figures::kind::info:
      return series::kind::info;
    case figures::kind::gauge:
      break;
  }
  return series::kind::gauge;
}

class taken final : public figures::sink {
 public:
  taken(series::instant now, samples::batch& into) : now_(now), into_(into) {}

  void family(const figures::head& of) override {
    name_ = of.name;
    // What is stored with it is found by the family's name, which for some is the series' own.
    into_.families.insert_or_assign(name_,
                                    series::metadata{kind_of_figures(of.kind), std::string(of.unit), std::string(of.help)});
  }
  void sample(std::string_view suffix, std::span<const figures::label> labels, double value) override {
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
  figures::registry::here().collect(all);
  return {};
}

}  // namespace hondana::metrics
