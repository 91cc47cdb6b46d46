/// Names, families and kinds.
#include "sources/metrics/prometheus_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace hondana::metrics {
namespace {

constexpr std::array<std::string_view, 3> parts{"_bucket", "_sum", "_count"};

std::string joined(std::string_view name, std::string_view ending) { return std::string(name).append(ending); }

/// `x` of `x_bucket`, `x_sum`, `x_count`; empty: it is no such name.
std::string_view whole_of(std::string_view name) noexcept {
  for (const auto part : parts) {
    if (name.ends_with(part)) return name.substr(0, name.size() - part.size());
  }
  return {};
}

series::metadata with_unit(series::metadata of, std::string_view name) {
  if (of.unit.empty()) of.unit = series::unit_in(name);
  return of;
}

}  // namespace

prometheus_names::prometheus_names(std::vector<std::string> names, families of)
    : names_(std::move(names)), families_(std::move(of)) {
  std::erase_if(names_, [](const auto& one) { return !series::is_metric_name(one); });
  for (const auto& name : names_) {
    const auto whole = whole_of(name);
    if (!whole.empty() && (is_histogram(whole) || is_summary(whole))) {
      listed_.push_back({std::string(whole), metadata_of(whole)});
    } else {
      listed_.push_back({name, metadata_of(name)});
    }
  }
  const auto before = [](const metric& a, const metric& b) { return a.name < b.name; };
  std::sort(listed_.begin(), listed_.end(), before);
  listed_.erase(std::unique(listed_.begin(), listed_.end(), [](const metric& a, const metric& b) { return a.name == b.name; }),
                listed_.end());
}

std::vector<metric> prometheus_names::page(std::string_view prefix, std::string_view after, std::size_t limit) const {
  auto from = std::lower_bound(listed_.begin(), listed_.end(), prefix,
                               [](const metric& one, std::string_view wanted) { return one.name < wanted; });
  if (!after.empty() && after >= prefix) {
    from = std::upper_bound(from, listed_.end(), after,
                            [](std::string_view wanted, const metric& one) { return wanted < one.name; });
  }
  std::vector<metric> out;
  for (; from != listed_.end() && out.size() < limit && from->name.starts_with(prefix); ++from) out.push_back(*from);
  return out;
}

std::optional<metric> prometheus_names::find(std::string_view name) const {
  if (!has(name) && !is_histogram(name) && !is_summary(name)) return std::nullopt;
  return metric{std::string(name), metadata_of(name)};
}

std::string prometheus_names::series_name(std::string_view name) const {
  if (has(name)) return std::string(name);
  if (is_histogram(name)) return joined(name, "_bucket");
  if (is_summary(name)) return joined(name, "_count");
  return std::string(name);
}

bool prometheus_names::has(std::string_view name) const { return std::binary_search(names_.begin(), names_.end(), name); }

const series::metadata* prometheus_names::family(std::string_view name) const {
  const auto found = families_.find(name);
  return found == families_.end() || found->second.kind == series::kind::unknown ? nullptr : &found->second;
}

bool prometheus_names::is_histogram(std::string_view name) const {
  if (has(name) || !has(joined(name, "_bucket"))) return false;
  const auto* const known = family(name);
  return known != nullptr ? known->kind == series::kind::histogram : has(joined(name, "_count"));
}

bool prometheus_names::is_summary(std::string_view name) const {
  const auto* const known = family(name);
  return known != nullptr && known->kind == series::kind::summary && has(joined(name, "_count"));
}

series::metadata prometheus_names::metadata_of(std::string_view name) const {
  if (const auto* const known = family(name); known != nullptr) return with_unit(*known, name);
  if (is_histogram(name)) return with_unit({series::kind::histogram, {}, {}}, name);
  const auto whole = whole_of(name);
  if (!whole.empty() && (is_histogram(whole) || is_summary(whole))) {
    auto out = metadata_of(whole);
    out.kind = series::kind::counter;
    if (!name.ends_with("_sum")) out.unit.clear();
    return out;
  }
  // OpenMetrics has its metadata under the family's name.
  for (const auto kind : {series::kind::counter, series::kind::info}) {
    const auto shorter = series::family_of(name, kind);
    const auto* const known = shorter == name ? nullptr : family(shorter);
    if (known != nullptr && known->kind == kind) return with_unit(*known, name);
  }
  const auto untyped = families_.find(name);
  auto out = untyped == families_.end() ? series::metadata() : untyped->second;
  out.kind = series::kind_of_series(name, series::kind::unknown);
  return with_unit(std::move(out), name);
}

}  // namespace hondana::metrics
