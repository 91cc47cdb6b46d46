/// The implementation of a server: its sources, the current context, and orderly shutdown.
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

#include <hondana/notice.hpp>
#include <hondana/server.hpp>

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

/// Shared by a server and its transports. Threads: any.
class core final : public session::context_source, public std::enable_shared_from_this<core> {
 public:
  explicit core(server_options options);
  ~core() override;

  [[nodiscard]] std::shared_ptr<const session::context> current() const override;
  [[nodiscard]] server_options options() const;

  result<void> add(std::shared_ptr<provider> what);
  /// Access of metrics to the core. A metrics callback holds the lock, shared, as long as it holds anything of the core.
  /// Otherwise it could own the last reference to a source on a thread of that source, which must not destroy the source.
  struct door {
    std::shared_mutex mutex{};
    const core* inside = nullptr;  ///< Null after the core was destroyed.
  };
  [[nodiscard]] const std::shared_ptr<door>& entrance() const noexcept { return door_; }
  /// Registers metrics for the lifetime of the core. Call once.
  void tell_figures(std::vector<std::shared_ptr<const counters::part>> those) { figures_ = std::move(those); }
  result<void> replace(server_options options, std::vector<std::shared_ptr<provider>> providers);

  /// Notifies all listeners. The title is masked by the rules of the resource's source.
  void announce(model::change what);
  void announce(const model::log_message& what) { feed_->publish(what); }
  result<void> add_tool(tool entry, tool_handler handler);
  bool remove_tool(std::string_view name);
  result<void> add_prompt(prompt entry, prompt_handler handler);
  bool remove_prompt(std::string_view name);

  [[nodiscard]] read_cache_counts cached_reads() const { return read_cache_->counts(); }
  /// Passes a notice to the source with this name. Returns false if no source wants it, or the source rejects it. Must not
  /// block.
  [[nodiscard]] bool take_notice(std::string_view to, const notice& what) const;
  /// The state of each provider, by name.
  [[nodiscard]] std::vector<std::pair<std::string, hondana::health>> health() const;
  /// Waits until `until` for running calls, then abandons them. Returns true if none was abandoned.
  bool close(std::chrono::steady_clock::time_point until);

 private:
  using handler_table = std::shared_ptr<const handlers::table>;

  /// Replaces the table of handlers.
  void exchange_handlers(handler_table next);
  void tools_changed();
  void prompts_changed();
  /// `handlers_` with the tools of sources, and with or without the server's own tools. Errors: invalid_argument if two owners
  /// (application, server, sources) use the same tool name.
  [[nodiscard]] result<handler_table> handlers_for(const server_options& options, const neighbours::source_list& sources) const;
  result<void> arrange(server_options options, std::vector<std::shared_ptr<catalog::source>> sources);

  /// Starts the index the first time; later requests a new scan. Requires `arranging_`, or that no other thread uses the core.
  void begin_indexing();

  class hearer;  // receives changes of sources
  /// Its destructor waits for all running metrics callbacks.
  struct tellers_waited_for {
    std::shared_ptr<door> of;
    ~tellers_waited_for() { const std::unique_lock nobody(of->mutex); }
  };

  /// Starts to receive changes of new sources. Stops for removed ones, and waits for their running notifications.
  void listen_to(const std::vector<std::shared_ptr<catalog::source>>& before,
                 const std::vector<std::shared_ptr<catalog::source>>& now);

  const std::shared_ptr<catalog::feed> feed_ = std::make_shared<catalog::feed>();
  const std::shared_ptr<catalog::read_cache> read_cache_ = std::make_shared<catalog::read_cache>(0);
  std::shared_ptr<executor::timers> timers_;
  const std::shared_ptr<catalog::lookups> lookups_;
  const std::shared_ptr<catalog::coalescer> coalescer_;
  const std::shared_ptr<catalog::attachments> attachments_;
  std::mutex arranging_;  // held for a whole configuration change; locked before `mutex_`
  mutable std::mutex mutex_;
  server_options options_;
  std::vector<std::shared_ptr<catalog::source>> sources_;
  std::map<const catalog::source*, std::shared_ptr<hearer>> hearers_;  // changed under `arranging_`, and by the destructor
  executor::posted<session::context> context_;                         // changed under `mutex_`
  std::shared_ptr<executor::pool> handler_pool_;
  std::shared_ptr<executor::pool> bridge_pool_;
  const std::shared_ptr<executor::pool> ending_pool_ = std::make_shared<executor::pool>("sources that end", 1);
  const std::shared_ptr<tools::place> bridge_place_ = std::make_shared<tools::place>();
  neighbours neighbours_;                  // changed under `arranging_`, and by the destructor
  handler_table handlers_;                 // changed under `arranging_`
  std::shared_ptr<search_index> indexed_;  // set once
  std::shared_ptr<const seal::sealer> sealer_;
  std::vector<std::shared_ptr<const counters::part>> figures_;
  const std::shared_ptr<door> door_ = std::make_shared<door>();
  const std::shared_ptr<rate_limit::ledgers> ledgers_;  // outlive configurations, because balances must
  const std::shared_ptr<session::refusal_log> refusals_ = std::make_shared<session::refusal_log>();
  const std::shared_ptr<std::atomic<std::size_t>> batch_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
  const std::shared_ptr<session::known_requests> known_ = std::make_shared<session::known_requests>();
};

}  // namespace hondana::inline v0
