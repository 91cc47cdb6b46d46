/// The provider of one log.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/capabilities.hpp>
#include <hondana/provider.hpp>

#include "base/executor/timers.hpp"
#include "sources/logs/address.hpp"
#include "sources/logs/records/log_backend.hpp"
#include "sources/logs/summary_cache.hpp"

namespace hondana::logs {

/// Notifies a listener that the contents of a resource changed: at once, and then at most every `min_interval`. Changes in that
/// time are reported at its end. Must be owned by a `std::shared_ptr`. Threads: any.
class change_notifier : public std::enable_shared_from_this<change_notifier> {
 public:
  static constexpr std::chrono::milliseconds min_interval{20};

  change_notifier(std::string uri, std::string title) : uri_(std::move(uri)), title_(std::move(title)) {}

  /// Null: no listener.
  void set_listener(std::shared_ptr<change_listener> listener);
  /// Sets whether changes are reported. Default: no.
  void set_enabled(bool is_enabled);
  /// Reports a change.
  void notify();

 private:
  void notify_delayed();

  const std::string uri_, title_;
  executor::timers timers_;
  std::mutex mutex_;
  std::shared_ptr<change_listener> listener_;
  bool is_enabled_ = false;
  bool is_scheduled_ = false;  // a timer is set
  executor::clock::time_point notified_at_{};
};

/// Options of a `log_provider`.
struct provider_options {
  std::string name;                               ///< NAME in the URIs: a slug.
  std::shared_ptr<records::log_backend> backend;  ///< Must mask secrets if `redact`.
  bool is_journal = false;                        ///< If so, the texts of records lack time, source and level.
  bool redact = true;                             ///< Secrets are masked.
  bool watch = true;                              ///< Notify the listener of changes.
  std::size_t lines = default_lines;              ///< Records of a page if the URI does not say.
  std::uint64_t max_scanned_bytes = 256u << 20;   ///< For one answer.
  std::chrono::milliseconds timeout{2000};        ///< For one answer.
  records::instant lookback = 0;                  ///< Time range of the summary, in microseconds. 0: one day.
  summary_cache_options summary_options{};        ///< Members of the same names here override it.
  std::function<records::instant()> clock{};      ///< Empty: the system clock.
  std::function<void(std::string_view)> log{};    ///< May be empty.
};

/// Serves the records of a log in pages (`log://NAME/`), and a summary (`log://NAME/summary`). Threads: any.
class log_provider final : public provider,
                           public entry_source,
                           public template_source,
                           public completion_source,
                           public change_source,
                           public watch_source,
                           public list_watch_source,
                           public health_source {
 public:
  explicit log_provider(provider_options options);
  ~log_provider() override;

  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::vector<std::string> claims() const override;
  [[nodiscard]] scheme_documentation documentation() const override;
  [[nodiscard]] result<list_result> list(const list_request& request) override;
  [[nodiscard]] result<read_result> read(const read_request& request) override;
  [[nodiscard]] result<resource> describe(const describe_request& request) override;
  [[nodiscard]] std::vector<resource_template> templates() const override;
  [[nodiscard]] result<complete_result> complete(const complete_request& request) override;
  void set_listener(std::shared_ptr<change_listener> listener) override;
  void watch(const std::string& uri) override;
  void unwatch(const std::string& uri) override;
  void watch_list() override;
  void unwatch_list() override;
  [[nodiscard]] hondana::system_requirements requirements() const override;
  [[nodiscard]] provider_traits traits() const noexcept override;
  [[nodiscard]] hondana::provider_health health() const override;

  /// Checks whether the log can be read, and reports a new problem to `provider_options::log`. May block on disk access.
  void check();

 private:
  struct rendered_content;
  [[nodiscard]] records::instant now() const;
  /// Parses a URI of this log. Errors: those of `parse_address`.
  [[nodiscard]] result<log_address> resolve(const std::string& uri) const;
  /// Returns the limits of an answer with at most `max_bytes` bytes.
  [[nodiscard]] records::read_budget make_budget(const request_context& context, std::uint64_t max_bytes) const;
  /// Renders a page or the summary. Leaves out the text if its version is `known_version`. Errors: those of the log, and
  /// response_too_large.
  [[nodiscard]] result<rendered_content> render(const log_address& address, const request_context& context,
                                                std::uint64_t max_bytes, const std::optional<std::string>& known_version);
  [[nodiscard]] result<rendered_content> render_page(const log_address& address, const request_context& context,
                                                     std::uint64_t max_bytes, const std::optional<std::string>& known_version);
  [[nodiscard]] result<rendered_content> render_summary(const log_address& address, const request_context& context);
  /// Applies changed `watches_` members. The caller must hold `watch_mutex_`.
  void update_watching();
  /// Reports an error of the log to `failure_log_`, and returns it for clients. Replaces the codes resource_not_found and
  /// access_denied by source_unavailable, since the server would hide their texts.
  [[nodiscard]] failure to_client_error(failure error) const;

  const provider_options options_;
  const std::shared_ptr<change_notifier> record_notifier_, summary_notifier_;
  struct list_notifier;
  const std::shared_ptr<list_notifier> list_notifier_;
  struct failure_log;
  const std::shared_ptr<failure_log> failure_log_;
  const std::shared_ptr<summary_cache> summary_cache_;

  std::mutex watch_mutex_;  // held while `log_backend::follow` is called; the function passed to it never takes this lock
  bool watches_records_ = false, watches_summary_ = false, watches_list_ = false, is_watching_ = false;
};

}  // namespace hondana::logs
