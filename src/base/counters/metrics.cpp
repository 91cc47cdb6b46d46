/// Counters, gauges and histograms of this process, and the registry that collects them.
#include "base/counters/metrics.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

namespace hondana::counters {
namespace {

struct told_sample {
  std::string suffix;
  std::vector<label> labels;
  double value = 0;
};

/// The samples of one family, in the order of their first report. Samples with equal labels are added up.
class told_samples {
 public:
  void take(std::string_view suffix, std::span<const label> labels, double value) {
    std::string key(suffix);
    for (const auto& one : labels) key += '\0' + one.name + '\0' + one.value;
    const auto [place, is_new] = places_.try_emplace(std::move(key), all_.size());
    if (is_new) {
      all_.push_back({std::string(suffix), {labels.begin(), labels.end()}, value});
    } else {
      all_[place->second].value += value;
    }
  }
  [[nodiscard]] const std::vector<told_sample>& all() const noexcept { return all_; }

 private:
  std::map<std::string, std::size_t> places_;
  std::vector<told_sample> all_;
};

class function_part final : public part {
 public:
  function_part(const head& of, std::function<void(const teller&)> tells) : of_(of), tells_(std::move(tells)) {}
  [[nodiscard]] head of() const override { return of_; }
  void tell(const teller& to) const override { tells_(to); }

 private:
  const head of_;
  const std::function<void(const teller&)> tells_;
};

}  // namespace

registry& registry::here() {
  // Never destroyed, because threads may count until the process ends.
  static auto& all = *new registry;
  return all;
}

void registry::add(std::weak_ptr<const part> what) {
  const std::lock_guard lock(mutex_);
  std::erase_if(parts_, [](const auto& one) { return one.expired(); });
  parts_.push_back(std::move(what));
}

void registry::collect(sink& into) const {
  std::map<std::string_view, std::vector<std::shared_ptr<const part>>> families;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& one : parts_) {
      if (auto there = one.lock()) families[there->of().name].push_back(std::move(there));
    }
  }
  for (const auto& [name, parts] : families) {
    told_samples told;
    for (const auto& one : parts) {
      one->tell(
          [&told](std::string_view suffix, std::span<const label> labels, double value) { told.take(suffix, labels, value); });
    }
    if (told.all().empty()) continue;
    into.family(parts.front()->of());
    for (const auto& one : told.all()) into.sample(one.suffix, one.labels, one.value);
  }
}

std::shared_ptr<const part> asked(const head& of, std::function<void(const part::teller&)> tells, registry& at) {
  auto made = std::make_shared<function_part>(of, std::move(tells));
  at.add(made);
  return made;
}

namespace {

constexpr double nanoseconds_a_second = 1e9;

/// Formats a bucket bound in seconds: "0.00005", "2.5". Never uses an exponent.
std::string bound_text(std::int64_t nanoseconds) {
  // to_chars is independent of the locale's decimal point.
  std::array<char, 32> text{};
  const auto done = std::to_chars(text.data(), text.data() + text.size(),
                                  static_cast<double>(nanoseconds) / nanoseconds_a_second, std::chars_format::fixed);
  std::string out(text.data(), done.ptr);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

std::string_view suffix_of(kind what) noexcept { return what == kind::counter ? "_total" : what == kind::info ? "_info" : ""; }

}  // namespace

std::size_t series_of(const std::vector<dimension>& by) noexcept {
  std::size_t out = 1;
  for (const auto& one : by) out *= one.values.size();
  return out;
}

std::vector<label> labels_at(const std::vector<dimension>& by, std::size_t which) {
  std::vector<label> out(by.size());
  for (std::size_t i = by.size(); i-- > 0;) {
    out[i] = {by[i].name, by[i].values[which % by[i].values.size()]};
    which /= by[i].values.size();
  }
  return out;
}

std::shared_ptr<sums> sums::make(const head& of, std::vector<dimension> by, double scale, registry& at) {
  auto made = std::make_shared<sums>(of, std::move(by), scale);
  at.add(made);
  return made;
}

void sums::tell(const teller& to) const {
  for (std::size_t which = 0; which < all_.size(); ++which) {
    const auto now = all_.sum(which);
    if (now == 0 && !by_.empty()) continue;
    // A gauge can be negative for a moment: one shard has been decreased, another one has not been increased yet.
    const auto value = of_.kind == kind::gauge ? static_cast<double>(static_cast<std::int64_t>(now)) : static_cast<double>(now);
    to(suffix_of(of_.kind), labels_at(by_, which), value * scale_);
  }
}

std::shared_ptr<times> times::make(const head& of, std::vector<dimension> by, registry& at) {
  auto made = std::make_shared<times>(of, std::move(by));
  at.add(made);
  return made;
}

std::uint64_t times::count(std::size_t which) const noexcept {
  std::uint64_t out = 0;
  for (std::size_t i = 0; i + 1 < cells_each; ++i) out += all_.sum(which * cells_each + i);
  return out;
}

void times::tell(const teller& to) const {
  const auto series = all_.size() / cells_each;
  for (std::size_t which = 0; which < series; ++which) {
    // Computed from a single read of the buckets, so that the last bucket equals the count.
    std::array<std::uint64_t, time_bounds.size() + 1> up_to{};
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < up_to.size(); ++i) up_to[i] = total += all_.sum(which * cells_each + i);
    if (total == 0 && !by_.empty()) continue;
    auto labels = labels_at(by_, which);
    labels.push_back({"le", {}});
    for (std::size_t i = 0; i < up_to.size(); ++i) {
      labels.back().value = i < time_bounds.size() ? bound_text(time_bounds[i]) : "+Inf";
      to("_bucket", labels, static_cast<double>(up_to[i]));
    }
    labels.pop_back();
    to("_sum", labels, static_cast<double>(all_.sum(which * cells_each + cells_each - 1)) / nanoseconds_a_second);
    to("_count", labels, static_cast<double>(total));
  }
}

}  // namespace hondana::counters
