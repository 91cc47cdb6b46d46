/// Collecting from all parts.
#include "base/counters/registry.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace hondana::counters {
namespace {

struct told_sample {
  std::string suffix;
  std::vector<label> labels;
  double value = 0;
};

/// Samples of one family, those that are alike added up, in the order in which they were told first.
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
  // Never destroyed: threads may count until the process ends.
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

}  // namespace hondana::counters
