/// The provider of one metrics source.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/address.hpp"
#include "sources/metrics/backend.hpp"
#include "sources/metrics/masking.hpp"
#include "sources/metrics/metric_names.hpp"
#include "sources/metrics/summary.hpp"
#include "sources/metrics/watcher.hpp"

namespace hondana::metrics {

/// Options of a `metrics_provider`.
struct provider_options {
  std::string name;  ///< NAME in the URIs: a slug.
  std::shared_ptr<backend> metrics_backend;
  bool has_query = false;   ///< PromQL queries are available.
  bool has_alerts = false;  ///< Alerts and rules are available.
  bool redact = true;       ///< Mask secrets.
  bool watch = true;        ///< Notify the listener of changes.
  response_limits limits{};
  std::string zone{};                     ///< See `charts::chart::zone`.
  std::size_t max_scanned_metrics = 300;  ///< See `summary_options::max_metrics`.
  /// Minimum time between rounds of the summary. The scrape interval applies if it is longer.
  std::chrono::milliseconds min_summary_interval{30'000};
  std::chrono::milliseconds names_ttl{15'000};  ///< How long the list of metrics is cached.
  std::function<series::instant()> now{};       ///< Empty: the system clock.
  std::function<void(std::string_view)> log{};  ///< May be empty.
};

/// Serves the metrics of one source: values over time, charts, conditions and summaries. Threads: any.
class metrics_provider final : public provider,
                               public entry_source,
                               public template_source,
                               public completion_source,
                               public inventory_source,
                               public change_source,
                               public part_watch_source,
                               public list_watch_source,
                               public health_source {
 public:
  explicit metrics_provider(provider_options options);
  ~metrics_provider() override;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  /// Also says why the metrics are not listed, if the backend fails.
  [[nodiscard]] result<void> inventory(const request_context& request,
                                       const std::function<void(const inventory_item&)>& visitor) override;
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;
  void watch_list() override;
  void unwatch_list() override;
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override;
  [[nodiscard]] hondana::provider_health health() const override;

 private:
  struct rendered;
  struct list_notifier;
  [[nodiscard]] series::instant now() const;
  /// Returns `reference_time` for this source now.
  [[nodiscard]] series::instant current_reference_time() const;
  /// Parses a URI of this source. Errors: those of `parse_address`.
  [[nodiscard]] result<address> resolve(const std::string& uri) const;
  /// Limits the deadline to `response_limits::timeout`.
  [[nodiscard]] request_context with_timeout(const request_context& context) const;
  /// Renders any resource.
  [[nodiscard]] result<rendered> render(const address& address, const request_context& context);
  /// Renders a metric or query.
  [[nodiscard]] result<rendered> render_values(const address& requested, const request_context& context);
  [[nodiscard]] result<rendered> render_summary(const address& address, const request_context& context);
  /// Renders targets, alerts, rules, or the list of metrics.
  [[nodiscard]] result<rendered> render_list(const address& address, const request_context& context);
  /// Checks that a metric exists and that the caller may read it or, if not `is_read`, list it. If `is_read`, and for a query,
  /// also calls `check_secrets`.
  [[nodiscard]] result<void> check(const address& address, const request_context& context, bool is_read);
  /// Rejects addresses that match on labels whose values are masked. Errors: those of `secret_labels::check`.
  [[nodiscard]] result<void> check_secrets(const address& address, const request_context& context);
  /// Whether this source has resources of a kind.
  [[nodiscard]] bool has_resource(resource_kind kind) const noexcept;
  /// See `watcher_options::etag`.
  [[nodiscard]] std::string etag(const address& address, const request_context& context);
  /// Sets the priority of an entry by the last summary.
  [[nodiscard]] resource entry_with_priority(resource entry) const;
  /// Sets or removes the listener of the backend, as needed. The caller must hold `listener_mutex_`.
  void update_listener();
  /// Returns an error of the source for clients. Adds how to select less. Masks secrets, since Prometheus quotes labels.
  /// Replaces resource_not_found by source_unavailable, since the server would hide its text.
  [[nodiscard]] failure to_client_error(failure error) const;

  const provider_options options_;
  const std::shared_ptr<list_notifier> list_notifier_;
  const std::shared_ptr<metric_name_cache> names_;
  secret_labels secret_labels_;
  const std::shared_ptr<watcher> watcher_;
  const std::shared_ptr<summary_cache> summaries_;

  std::mutex listener_mutex_;  // held while `backend::set_listener` is called; the listener itself never takes this lock
  bool is_listening_ = false;  // whether the backend has a listener
};

/// Notifies the server that the list of resources has changed. Threads: any.
struct metrics_provider::list_notifier {
  void set_listener(std::shared_ptr<change_listener> next) {
    const std::lock_guard lock(mutex);
    listener.swap(next);
  }
  void notify() {
    std::shared_ptr<change_listener> current;
    {
      const std::lock_guard lock(mutex);
      current = listener;
    }
    if (current) current->list_changed();
  }

  std::mutex mutex;
  std::shared_ptr<change_listener> listener;
};

}  // namespace hondana::metrics
