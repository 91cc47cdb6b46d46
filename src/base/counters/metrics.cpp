/// Counters, gauges and histograms of this process, and the registry that collects them.
#include "base/counters/metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

namespace hondana::counters {
namespace {

struct collected_sample {
  std::string suffix;
  std::vector<label> labels;
  double value = 0;
};

/// The samples of one family, in the order of their first report. Samples with equal labels are added up.
class sample_accumulator {
 public:
  void add(std::string_view suffix, std::span<const label> labels, double value) {
    std::string key(suffix);
    for (const auto& label : labels) key += '\0' + label.name + '\0' + label.value;
    const auto [position, is_new] = positions_.try_emplace(std::move(key), samples_.size());
    if (is_new) {
      samples_.push_back({std::string(suffix), {labels.begin(), labels.end()}, value});
    } else {
      samples_[position->second].value += value;
    }
  }
  [[nodiscard]] const std::vector<collected_sample>& samples() const noexcept { return samples_; }

 private:
  std::map<std::string, std::size_t> positions_;
  std::vector<collected_sample> samples_;
};

class function_collector final : public collector {
 public:
  function_collector(const metric_family& family, std::function<void(const sample_callback&)> collect)
      : family_(family), collect_(std::move(collect)) {}
  [[nodiscard]] metric_family describe() const override { return family_; }
  void collect(const sample_callback& on_sample) const override { collect_(on_sample); }

 private:
  const metric_family family_;
  const std::function<void(const sample_callback&)> collect_;
};

}  // namespace

registry& registry::global() {
  // Never destroyed, because threads may count until the process ends.
  static auto& instance = *new registry;
  return instance;
}

void registry::add(std::weak_ptr<const collector> collector) {
  const std::lock_guard lock(mutex_);
  std::erase_if(collectors_, [](const auto& entry) { return entry.expired(); });
  collectors_.push_back(std::move(collector));
}

void registry::collect(sink& target) const {
  std::map<std::string_view, std::vector<std::shared_ptr<const collector>>> families;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& entry : collectors_) {
      if (auto collector = entry.lock()) families[collector->describe().name].push_back(std::move(collector));
    }
  }
  for (const auto& [name, collectors] : families) {
    sample_accumulator samples;
    for (const auto& collector : collectors) {
      collector->collect([&samples](std::string_view suffix, std::span<const label> labels, double value) {
        samples.add(suffix, labels, value);
      });
    }
    if (samples.samples().empty()) continue;
    target.family(collectors.front()->describe());
    for (const auto& sample : samples.samples()) target.sample(sample.suffix, sample.labels, sample.value);
  }
}

std::shared_ptr<const collector> register_collector(const metric_family& family,
                                                    std::function<void(const collector::sample_callback&)> collect,
                                                    registry& target) {
  auto collector = std::make_shared<function_collector>(family, std::move(collect));
  target.add(collector);
  return collector;
}

namespace {

constexpr double nanoseconds_per_second = 1e9;

/// Formats a bucket bound in seconds: "0.00005", "2.5". Never uses an exponent.
std::string bound_text(std::int64_t nanoseconds) {
  // to_chars is independent of the locale's decimal point.
  std::array<char, 32> text{};
  const auto converted = std::to_chars(text.data(), text.data() + text.size(),
                                       static_cast<double>(nanoseconds) / nanoseconds_per_second, std::chars_format::fixed);
  std::string out(text.data(), converted.ptr);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string_view suffix_of(kind family_kind) noexcept {
  return family_kind == kind::counter ? "_total" : family_kind == kind::info ? "_info" : "";
}

}  // namespace

std::size_t series_count(const std::vector<dimension>& dimensions) noexcept {
  std::size_t out = 1;
  for (const auto& dimension : dimensions) out *= dimension.values.size();
  return out;
}

std::vector<label> labels_at(const std::vector<dimension>& dimensions, std::size_t series) {
  std::vector<label> out(dimensions.size());
  for (std::size_t i = dimensions.size(); i-- > 0;) {
    out[i] = {dimensions[i].name, dimensions[i].values[series % dimensions[i].values.size()]};
    series /= dimensions[i].values.size();
  }
  return out;
}

std::shared_ptr<counter_family> counter_family::make(const metric_family& family, std::vector<dimension> dimensions,
                                                     double scale, registry& target) {
  auto created = std::make_shared<counter_family>(family, std::move(dimensions), scale);
  target.add(created);
  return created;
}

void counter_family::collect(const sample_callback& on_sample) const {
  for (std::size_t series = 0; series < cells_.size(); ++series) {
    const auto sum = cells_.sum(series);
    if (sum == 0 && !dimensions_.empty()) continue;
    // A gauge can be negative for a moment: one shard has been decreased, another one has not been increased yet.
    const auto value =
        family_.kind == kind::gauge ? static_cast<double>(static_cast<std::int64_t>(sum)) : static_cast<double>(sum);
    on_sample(suffix_of(family_.kind), labels_at(dimensions_, series), value * scale_);
  }
}

std::shared_ptr<duration_histogram> duration_histogram::make(const metric_family& family, std::vector<dimension> dimensions,
                                                             registry& target) {
  auto histogram = std::make_shared<duration_histogram>(family, std::move(dimensions));
  target.add(histogram);
  return histogram;
}

std::uint64_t duration_histogram::count(std::size_t series) const noexcept {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i + 1 < cells_per_series; ++i) out += cells_.sum(series * cells_per_series + i);
  return out;
}

void duration_histogram::collect(const sample_callback& on_sample) const {
  const auto series_end = cells_.size() / cells_per_series;
  for (std::size_t series = 0; series < series_end; ++series) {
    // Computed from a single read of the buckets, so that the last bucket equals the count.
    std::array<std::uint64_t, bucket_bounds.size() + 1> cumulative{};
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < cumulative.size(); ++i) cumulative[i] = total += cells_.sum(series * cells_per_series + i);
    if (total == 0 && !dimensions_.empty()) continue;
    auto labels = labels_at(dimensions_, series);
    labels.push_back({"le", {}});
    for (std::size_t i = 0; i < cumulative.size(); ++i) {
      labels.back().value = i < bucket_bounds.size() ? bound_text(bucket_bounds[i]) : "+Inf";
      on_sample("_bucket", labels, static_cast<double>(cumulative[i]));
    }
    labels.pop_back();
    on_sample("_sum", labels,
              static_cast<double>(cells_.sum(series * cells_per_series + cells_per_series - 1)) / nanoseconds_per_second);
    on_sample("_count", labels, static_cast<double>(total));
  }
}

}  // namespace hondana::counters
