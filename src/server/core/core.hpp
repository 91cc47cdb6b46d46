/// The implementation of a server: its sources, the current snapshot, and orderly shutdown.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/server.hpp>
#include <hondana/webhook.hpp>

#include "base/counters/metrics.hpp"
#include "base/executor/published.hpp"
#include "base/rate_limit/rate_limiter.hpp"
#include "base/seal/seal.hpp"
#include "server/catalog/attachments.hpp"
#include "server/catalog/catalog.hpp"
#include "server/catalog/change_feed.hpp"
#include "server/catalog/entry_lookups.hpp"
#include "server/core/neighbours.hpp"
#include "server/handlers/handler_table.hpp"
#include "server/session/answer_cache.hpp"
#include "server/session/session.hpp"
#include "server/tools/tool_context.hpp"

namespace hondana::inline v0 {

/// The implementation of `server`, which its transports share. Threads: any.
class server_core final : public session::snapshot_source, public std::enable_shared_from_this<server_core> {
 public:
  /// See `server::create`.
  [[nodiscard]] static result<std::shared_ptr<server_core>> create(server_options options);
  ~server_core() override;

  /// The current snapshot; never null.
  [[nodiscard]] std::shared_ptr<const session::server_snapshot> current() const override;
  [[nodiscard]] server_options options() const;

  /// See `server::add`.
  [[nodiscard]] result<void> add(std::shared_ptr<provider> provider);
  /// Lets metrics callbacks use the core. A callback must hold the mutex, shared, while it uses `target` or anything obtained
  /// from it. Otherwise it could own the last reference to a source on a thread of that source, which must not destroy the
  /// source.
  struct core_handle {
    std::shared_mutex mutex{};
    const server_core* target = nullptr;  ///< Null after the core was destroyed.
  };
  [[nodiscard]] const std::shared_ptr<core_handle>& handle() const noexcept { return handle_; }
  /// Holds registered metrics for the lifetime of the core. Call once.
  void register_metrics(std::vector<std::shared_ptr<const counters::collector>> metrics) { metrics_ = std::move(metrics); }
  /// See `server::replace`.
  [[nodiscard]] result<void> replace(server_options options, std::vector<std::shared_ptr<provider>> providers);

  /// Notifies listeners of a change, combined with others if they are frequent. Masks secrets in its title if the server does
  /// so for the source.
  void announce(model::change change);
  /// Passes a log message to all listeners before it returns.
  void announce(const model::log_message& message) { feed_->publish(message); }
  /// See `server::add_tool`.
  [[nodiscard]] result<void> add_tool(tool entry, tool_handler handler);
  /// See `server::remove_tool`.
  bool remove_tool(std::string_view name);
  /// See `server::add_prompt`.
  [[nodiscard]] result<void> add_prompt(prompt entry, prompt_handler handler);
  /// See `server::remove_prompt`.
  bool remove_prompt(std::string_view name);

  [[nodiscard]] read_cache_statistics read_statistics() const { return read_cache_->statistics(); }
  /// Passes a webhook request to the source with this name. Returns false if it does not exist, does not accept webhooks, or
  /// rejects the request. Does not block.
  [[nodiscard]] bool deliver_webhook(std::string_view source_name, const webhook_request& request) const;
  /// Name and state of each provider.
  [[nodiscard]] std::vector<std::pair<std::string, hondana::provider_health>> health() const;
  /// Waits until `deadline` for running calls of sources and handlers, then abandons them. Later calls fail. Returns true if
  /// none was abandoned.
  bool close(std::chrono::steady_clock::time_point deadline);

 private:
  using handler_table = std::shared_ptr<const handlers::table>;

  server_core(const server_options& options, std::shared_ptr<const seal::sealer> sealer);
  /// Sets the table of handlers, and publishes a snapshot with it. Requires `configuration_mutex_`.
  void exchange_handlers(handler_table next);
  void tools_changed();
  void prompts_changed();
  /// `handlers_` with the tools of sources, and with or without the server's own tools. Errors: invalid_argument if two owners
  /// (application, server, sources) use the same tool name.
  [[nodiscard]] result<handler_table> handlers_for(const server_options& options,
                                                   const provider_extensions::source_list& sources) const;
  /// Replaces options and sources, or returns an error without effect. Requires `configuration_mutex_`, or that no other thread
  /// uses the core.
  [[nodiscard]] result<void> reconfigure(server_options options, std::vector<std::shared_ptr<catalog::source>> sources);

  /// Starts the search index at the first call; later calls start a new scan. Requires `configuration_mutex_`, or that no other
  /// thread uses the core.
  void begin_indexing();

  class change_forwarder;  // receives changes of sources
  /// Its destructor waits for all running metrics callbacks.
  struct metrics_barrier {
    std::shared_ptr<core_handle> handle;
    ~metrics_barrier() { const std::unique_lock lock(handle->mutex); }
  };

  /// Starts to receive changes of new sources. Stops for removed ones, and waits for their running notifications.
  void update_forwarders(const std::vector<std::shared_ptr<catalog::source>>& previous,
                         const std::vector<std::shared_ptr<catalog::source>>& current);

  const std::shared_ptr<catalog::change_feed> feed_ = std::make_shared<catalog::change_feed>();
  const std::shared_ptr<catalog::read_cache> read_cache_ = std::make_shared<catalog::read_cache>(0);
  std::shared_ptr<executor::timers> timers_;
  const std::shared_ptr<catalog::entry_lookups> lookups_;
  const std::shared_ptr<catalog::coalescer> coalescer_;
  const std::shared_ptr<catalog::source_watches> source_watches_;
  std::mutex configuration_mutex_;  // held for a whole configuration change; locked before `mutex_`
  mutable std::mutex mutex_;
  server_options options_;
  std::vector<std::shared_ptr<catalog::source>> sources_;
  std::map<const catalog::source*, std::shared_ptr<change_forwarder>>
      forwarders_;                                          // changed under `configuration_mutex_`, and by the destructor
  executor::published<session::server_snapshot> snapshot_;  // changed under `mutex_`
  std::shared_ptr<executor::thread_pool> handler_pool_;
  std::shared_ptr<executor::thread_pool> tool_pool_;
  const std::shared_ptr<executor::thread_pool> destruction_pool_ =
      std::make_shared<executor::thread_pool>("sources that end", 1);
  const std::shared_ptr<tools::services_holder> services_holder_ = std::make_shared<tools::services_holder>();
  provider_extensions extensions_;       // changed under `configuration_mutex_`, and by the destructor
  handler_table handlers_;               // changed under `configuration_mutex_`
  std::shared_ptr<search_index> index_;  // set once
  const std::shared_ptr<const seal::sealer> sealer_;
  std::vector<std::shared_ptr<const counters::collector>> metrics_;
  const std::shared_ptr<core_handle> handle_ = std::make_shared<core_handle>();
  const std::shared_ptr<rate_limit::bucket_tables> ledgers_;  // rate limit balances, which outlive configurations
  const std::shared_ptr<session::rejection_log> rejection_log_ = std::make_shared<session::rejection_log>();
  const std::shared_ptr<std::atomic<std::size_t>> batch_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
  const std::shared_ptr<session::request_cache> request_cache_ = std::make_shared<session::request_cache>();
};

}  // namespace hondana::inline v0
