/// The engine behind a server: its sources, the current context, and orderly shutdown.
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
  /// How figures get at this. Who tells them holds the lock, shared, for as long as anything of this is held: that may be a
  /// source, on a thread of its own, which must not be the last to let go of itself.
  struct door {
    std::shared_mutex mutex{};
    const core* inside = nullptr;  ///< Null once it is gone.
  };
  [[nodiscard]] const std::shared_ptr<door>& entrance() const noexcept { return door_; }
  /// They are told as long as this lives. Once.
  void tell_figures(std::vector<std::shared_ptr<const counters::part>> those) { figures_ = std::move(those); }
  result<void> replace(server_options options, std::vector<std::shared_ptr<provider>> providers);

  /// Tells every peer that asked to hear of it. A title is masked as the source of the resource is.
  void announce(model::change what);
  void announce(const model::log_message& what) { feed_->publish(what); }
  result<void> add_tool(tool entry, tool_handler handler);
  bool remove_tool(std::string_view name);
  result<void> add_prompt(prompt entry, prompt_handler handler);
  bool remove_prompt(std::string_view name);

  [[nodiscard]] read_cache_counts cached_reads() const { return read_cache_->counts(); }
  /// Hands a notice to the source of this name. False: there is none that wants it, or it was refused. Must not block.
  [[nodiscard]] bool take_notice(std::string_view to, const notice& what) const;
  /// How each provider says it is, by name.
  [[nodiscard]] std::vector<std::pair<std::string, hondana::health>> health() const;
  /// Waits for calls under way until `until`, then abandons them. True when none was abandoned.
  bool close(std::chrono::steady_clock::time_point until);

 private:
  using handler_table = std::shared_ptr<const handlers::table>;

  /// Puts another table in place of the present one.
  void exchange_handlers(handler_table next);
  void tools_changed();
  void prompts_changed();
  /// `handlers_` with or without the server's own tools. Errors: invalid_argument when the application has one of their names.
  /// Also when a source has one of another's, or of the application's.
  [[nodiscard]] result<handler_table> handlers_for(const server_options& options, const neighbours::source_list& sources) const;
  result<void> arrange(server_options options, std::vector<std::shared_ptr<catalog::source>> sources);

  /// Hands the index what it is to index, the first time, and else has it look again. `arranging_` is held, or nobody else is
  /// there.
  void begin_indexing();

  class hearer;  // what sources tell
  /// At its end nobody tells figures who has begun before.
  struct tellers_waited_for {
    std::shared_ptr<door> of;
    ~tellers_waited_for() { const std::unique_lock nobody(of->mutex); }
  };

  /// Lets the sources that are new tell us what changes, and those that have gone no more; waits for what these are telling.
  void listen_to(const std::vector<std::shared_ptr<catalog::source>>& before,
                 const std::vector<std::shared_ptr<catalog::source>>& now);

  const std::shared_ptr<catalog::feed> feed_ = std::make_shared<catalog::feed>();
  const std::shared_ptr<catalog::read_cache> read_cache_ = std::make_shared<catalog::read_cache>(0);
  std::shared_ptr<executor::timers> timers_;
  const std::shared_ptr<catalog::lookups> lookups_;
  const std::shared_ptr<catalog::coalescer> coalescer_;
  const std::shared_ptr<catalog::attachments> attachments_;
  std::mutex arranging_;  // held for one whole change; taken before `mutex_`
  mutable std::mutex mutex_;
  server_options options_;
  std::vector<std::shared_ptr<catalog::source>> sources_;
  std::map<const catalog::source*, std::shared_ptr<hearer>> hearers_;  // changed under `arranging_`, and at the end
  executor::posted<session::context> context_;                         // changed under `mutex_`
  std::shared_ptr<executor::pool> handler_pool_;
  std::shared_ptr<executor::pool> bridge_pool_;
  const std::shared_ptr<executor::pool> ending_pool_ = std::make_shared<executor::pool>("sources that end", 1);
  const std::shared_ptr<tools::place> bridge_place_ = std::make_shared<tools::place>();
  neighbours neighbours_;                  // changed under `arranging_`, and at the end
  handler_table handlers_;                 // changed under `arranging_`
  std::shared_ptr<search_index> indexed_;  // set once
  std::shared_ptr<const seal::sealer> sealer_;
  std::vector<std::shared_ptr<const counters::part>> figures_;
  const std::shared_ptr<door> door_ = std::make_shared<door>();
  const std::shared_ptr<rate_limit::ledgers> ledgers_;  // outlive configurations, with what callers owe
  const std::shared_ptr<session::refusal_log> refusals_ = std::make_shared<session::refusal_log>();
  const std::shared_ptr<std::atomic<std::size_t>> batch_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
  const std::shared_ptr<session::known_requests> known_ = std::make_shared<session::known_requests>();
};

}  // namespace hondana::inline v0
