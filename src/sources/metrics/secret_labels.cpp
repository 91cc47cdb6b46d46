/// All values of a label are looked at before it is matched.
#include "sources/metrics/secret_labels.hpp"

#include <algorithm>

#include <hondana/clock.hpp>

#include "sources/metrics/masked.hpp"
#include "sources/metrics/promql_labels.hpp"

namespace hondana::metrics {
namespace {

constexpr std::chrono::seconds remembered{60};
constexpr std::size_t most_remembered = 1000;

}  // namespace

result<bool> secret_labels::has_secrets(const std::string& metric, const std::string& label, const call& by) {
  if (tells_secret(label)) return true;
  const auto now = monotonic_clock::now();
  const std::pair key(metric, label);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end() && found->second.until > now) return found->second.has_secrets;
  }
  const auto values = from_->label_values({metric, {}}, label, {}, by);
  if (!values) return tl::unexpected(values.error());
  // Of more values than are looked at, the others may hold some.
  const bool has_some = values->size() >= most_label_values ||
                        std::any_of(values->begin(), values->end(), [&](const auto& one) { return holds_secret(label, one); });
  const std::lock_guard lock(mutex_);
  if (known_.size() >= most_remembered) known_.clear();
  known_[key] = {has_some, now + remembered};
  return has_some;
}

result<void> secret_labels::check(const std::string& metric, const std::vector<series::matcher>& matchers, const call& by) {
  for (const auto& one : matchers) {
    HONDANA_TRY(const auto has_some, has_secrets(metric, one.label_name(), by));
    if (has_some)
      return fail(errc::invalid_argument,
                  "match: the label " + one.label_name() +
                      " contains secrets, which are masked, so it cannot be matched. Match other labels.");
  }
  return {};
}

result<bool> secret_labels::is_there(const std::string& label, const call& by) {
  const auto now = monotonic_clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (names_.until > now) return names_.all.contains(label);
  }
  HONDANA_TRY(const auto all, from_->label_names({}, by));
  const std::lock_guard lock(mutex_);
  names_ = {{all.begin(), all.end()}, now + remembered};
  return names_.all.contains(label);
}

result<void> secret_labels::check_query(std::string_view promql, const call& by) {
  const auto refuse = [](const std::string& label) {
    return fail(errc::invalid_argument, "promql: the label " + label +
                                            " contains secrets, which are masked, so expressions cannot use it. Leave it out.");
  };
  const auto all = labels_in(promql);
  if (!all) return tl::unexpected(all.error());
  for (const auto& label : *all)
    if (tells_secret(label)) return refuse(label);
  for (const auto& label : *all) {
    HONDANA_TRY(const auto there, is_there(label, by));
    if (!there) continue;
    HONDANA_TRY(const auto has_some, has_secrets({}, label, by));
    if (has_some) return refuse(label);
  }
  return {};
}

}  // namespace hondana::metrics
