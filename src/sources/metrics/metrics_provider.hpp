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
  bool has_query = false;   ///< PromQL queries are available.
  bool has_alerts = false;  ///< Alerts and rules are available.
  bool redact = true;
  bool watch = true;
  limits most{};
  std::string zone{};
  std::size_t surveyed_metrics = 300;  ///< The most metrics examined in one round of the summary.
  /// Minimum time between rounds of the summary. The scrape interval applies if it is longer.
  std::chrono::milliseconds least_between{30'000};
  std::chrono::milliseconds keeps_names{15'000};
  std::function<series::instant()> now{};       ///< Empty: the system clock.
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// Serves values over time, charts, conditions and summaries of one source. Threads: any.
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
  /// Checks that the resource exists and that the caller may read it or, if not `is_read`, list it.
  [[nodiscard]] result<void> check(const address& at, const call& by, bool is_read);
  /// Rejects addresses that match on labels whose values are masked.
  [[nodiscard]] result<void> check_secrets(const address& at, const call& by);
  [[nodiscard]] bool has(place of) const noexcept;
  [[nodiscard]] std::string mark(const address& at, const call& by);
  [[nodiscard]] resource entry_with_priority(resource entry) const;
  void follow_as_wanted();
  /// Prepares an error of the source for clients. Adds how to select less, and masks secrets, since Prometheus quotes labels.
  [[nodiscard]] failure told(failure why) const;

  const provider_options options_;
  const std::shared_ptr<list_listener> list_;
  const std::shared_ptr<names> names_;
  secret_labels secret_labels_;
  const std::shared_ptr<watcher> watcher_;
  const std::shared_ptr<summaries> summaries_;

  std::mutex following_;  // held while the backend's `follow` is called; the function passed to it never takes this lock
  std::set<std::string, std::less<>> summary_uris_;
  bool is_following_ = false;
};

/// Notifies the server that the list of resources has changed. Threads: any.
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
