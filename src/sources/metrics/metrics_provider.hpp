/// The provider of one metrics source.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/masking.hpp"
#include "sources/metrics/metric_names.hpp"
#include "sources/metrics/summary.hpp"
#include "sources/metrics/watcher.hpp"

namespace hondana::metrics {

struct provider_options {
  std::string name;  ///< A slug.
  std::shared_ptr<backend> from;
  bool has_query = false;   ///< PromQL may be asked.
  bool has_alerts = false;  ///< So may alerts and rules.
  bool redact = true;
  bool watch = true;
  limits most{};
  std::string zone{};
  std::size_t surveyed_metrics = 300;               ///< Of one round of the summary.
  std::chrono::milliseconds least_between{30'000};  ///< Of its rounds, which are not made more often than the interval either.
  std::chrono::milliseconds keeps_names{15'000};
  std::function<series::instant()> now{};       ///< Empty: the clock.
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// Values over time, charts, conditions, summaries. Threads: any.
class metrics_provider final : public provider {
 public:
  explicit metrics_provider(provider_options from);
  ~metrics_provider() override;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<reading> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  void watch(std::shared_ptr<change_listener> to) override;
  void attach(const std::string& uri) override;
  void detach(const std::string& uri) override;
  void attach_list() override;
  void detach_list() override;
  [[nodiscard]] bool tells_parts() const noexcept override { return true; }
  [[nodiscard]] hondana::needs needs() const override;
  [[nodiscard]] hondana::masking masking() const noexcept override;
  [[nodiscard]] hondana::health health() const override;

 private:
  struct rendered;
  struct list_listener;
  [[nodiscard]] series::instant now() const;
  [[nodiscard]] series::instant moment_of_relative() const;
  [[nodiscard]] result<address> find(const std::string& uri) const;
  [[nodiscard]] call bounded(const call& by) const;
  [[nodiscard]] result<rendered> render(const address& at, const call& by);
  [[nodiscard]] result<rendered> render_values(const address& asked, const call& by);
  [[nodiscard]] result<rendered> render_summary(const address& at, const call& by);
  [[nodiscard]] result<rendered> render_list(const address& at, const call& by);
  /// Whether there is what an address names, for the caller: to be read or, if not `is_read`, to be listed.
  [[nodiscard]] result<void> check(const address& at, const call& by, bool is_read);
  /// Whether it names no label whose values are masked.
  [[nodiscard]] result<void> check_secrets(const address& at, const call& by);
  [[nodiscard]] bool has(place of) const noexcept;
  [[nodiscard]] std::string mark(const address& at, const call& by);
  [[nodiscard]] resource entry_with_priority(resource entry) const;
  void follow_as_wanted();
  /// Of the source, as peers are told it: with how to ask for less, and masked, since a Prometheus quotes labels.
  [[nodiscard]] failure told(failure why) const;

  const provider_options options_;
  const std::shared_ptr<list_listener> list_;
  const std::shared_ptr<names> names_;
  secret_labels secret_labels_;
  const std::shared_ptr<watcher> watcher_;
  const std::shared_ptr<summaries> summaries_;

  std::mutex following_;  // held while the source is told to follow; never taken by what it calls
  std::set<std::string, std::less<>> summary_uris_;
  bool is_following_ = false;
};

struct metrics_provider::list_listener {
  void turn(std::shared_ptr<change_listener> next) {
    const std::lock_guard lock(mutex);
    to.swap(next);
  }
  void tell() {
    std::shared_ptr<change_listener> there;
    {
      const std::lock_guard lock(mutex);
      there = to;
    }
    if (there) there->list_changed();
  }

  std::mutex mutex;
  std::shared_ptr<change_listener> to;
};

}  // namespace hondana::metrics
