/// Labels and times of what comes in.
#include "sources/metrics/scraping/intake.hpp"

#include <algorithm>
#include <string>

namespace hondana::scraping {
namespace {

bool is_before(const series::label& one, std::string_view name) noexcept { return one.first < name; }

void put_label(series::identity& of, std::string name, const std::string& value) {
  const auto at = std::lower_bound(of.labels.begin(), of.labels.end(), name, is_before);
  of.labels.insert(at, {std::move(name), value});
}

void label_with(series::identity& of, std::string_view name, const std::string& value, bool honours) {
  if (value.empty()) return;
  const auto at = std::lower_bound(of.labels.begin(), of.labels.end(), name, is_before);
  if (at == of.labels.end() || at->first != name) {
    of.labels.insert(at, {std::string(name), value});
    return;
  }
  if (honours) return;
  const auto own = std::exchange(at->second, value);
  std::string other = "exported_" + std::string(name);
  while (!of.value_of(other).empty()) other.insert(0, "exported_");
  put_label(of, std::move(other), own);
}

}  // namespace

void label_as(series::identity& of, const target& by) {
  label_with(of, "job", by.job, by.honours_labels);
  label_with(of, "instance", by.instance, by.honours_labels);
}

void intake::family(std::string_view name, const series::metadata& of) {
  into_.families.insert_or_assign(std::string(name), of);
}

bool intake::sample(const series::identity& of, double value, std::optional<series::instant> at) {
  ++samples_;
  // What is said of targets themselves is of the scrape: a time ahead would keep out what comes after it.
  const bool is_of_targets = of.name == "up" || of.name.starts_with("scrape_");
  const auto when = at && from_.honours_timestamps && !is_of_targets ? *at : at_;
  if (when > at_ + most_ahead) return true;
  auto& entry = into_.entries.emplace_back();
  entry.of = of;
  label_as(entry.of, from_);
  entry.what = {when, value};
  return true;
}

}  // namespace hondana::scraping
