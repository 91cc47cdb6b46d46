/// The implementation of a server: its sources, the current snapshot, and orderly shutdown.
#include "server/core/core.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "server/catalog/secret_masking.hpp"
#include "server/tools/resource_tools.hpp"
#include "server/tools/scanning_search.hpp"
#include "server/tools/search_engine.hpp"

namespace hondana::inline v0 {
namespace {

constexpr std::size_t max_queued_calls = 4096;
constexpr std::size_t tool_threads = 4;  // they wait for sources, and must not delay the application's handlers

/// Like the pools of sources: one caller cannot fill the queue.
executor::pool_limits handler_pool_limits(std::size_t threads) {
  return {.max_threads = threads, .max_waiting = max_queued_calls, .max_waiting_per_caller = max_queued_calls / 4};
}

source_limits limits_of(const server_options& options, const provider& provider) {
  const auto entry = options.limits.sources.find(&provider);
  return entry == options.limits.sources.end() ? source_limits() : entry->second;
}

/// Charges callers for the bytes that were sent. Errors cost nothing.
std::function<void(const caller_info&, const session::request_completion&)> charge_bytes(
    std::shared_ptr<const rate_limit::rate_limiter> limiter) {
  return [meter = std::move(limiter)](const caller_info& caller, const session::request_completion& completion) {
    if (completion.error == 0) meter->charge_bytes(caller, completion.bytes);
  };
}

catalog::limits limits_of(const server_options& options) { return {options.page_size, options.max_read_bytes}; }

/// Sets what the server declares about its handlers.
void describe_handlers(session::server_snapshot& snapshot) {
  snapshot.server_info.has_tools = snapshot.handlers->has_tools();
  snapshot.server_info.has_prompts = snapshot.handlers->has_prompts();
  snapshot.server_info.announces_tools = snapshot.server_info.has_tools && snapshot.server_info.announces_resources;
  snapshot.server_info.announces_prompts = snapshot.server_info.has_prompts && snapshot.server_info.announces_resources;
  snapshot.server_info.has_logging = snapshot.handlers->may_log();
  snapshot.server_info.has_completions = snapshot.catalog->has_variables() || snapshot.handlers->has_completions();
}

/// Destroying a source may take long, so it does not happen on the timer thread. If the pool is busy, it gets a thread of its
/// own.
void destroy_later(std::shared_ptr<catalog::source> source, executor::thread_pool& pool) {
  constexpr std::chrono::minutes max_wait{1};
  const auto holder = std::make_shared<std::shared_ptr<catalog::source>>(std::move(source));
  if (pool.submit([holder] { holder->reset(); }, monotonic_clock::now() + max_wait)) return;
  const executor::signal_blocker blocked;
  std::thread([holder] { holder->reset(); }).detach();
}

}  // namespace

/// Outlives the core, because a source may report a change while the server is destroyed.
class server_core::change_forwarder final : public change_listener {
 public:
  change_forwarder(std::shared_ptr<catalog::coalescer> coalescer, const catalog::source& source)
      : coalescer_(std::move(coalescer)), masking_(source.masking()), is_exact_(source.capabilities().watches_parts) {}
  void list_changed() override {
    const std::shared_lock lock(mutex_);
    if (!is_stopped_) coalescer_->push({model::change::change_kind::resources});
  }
  void content_changed(std::string_view uri, std::string_view title) override { notify(uri, title, false); }
  void alias_changed(std::string_view uri, std::string_view title) override { notify(uri, title, true); }
  /// Stops notifications, and waits for running ones. A running notification may own the last reference to the server and thus
  /// to the source, which must not be destroyed on its own thread.
  void stop() {
    const std::unique_lock lock(mutex_);
    is_stopped_ = true;
  }

 private:
  void notify(std::string_view uri, std::string_view title, bool is_alias) {
    const std::shared_lock lock(mutex_);
    if (is_stopped_) return;
    model::change change{model::change::change_kind::content, std::string(uri), std::string(title)};
    change.is_exact = is_exact_;
    change.is_alias = is_alias;
    catalog::mask_secrets(masking_, change.title);
    coalescer_->push(change);
  }

  std::shared_mutex mutex_;
  bool is_stopped_ = false;
  const std::shared_ptr<catalog::coalescer> coalescer_;
  const hondana::secret_masking masking_;
  const bool is_exact_;
};

server_core::server_core(const server_options& options, std::shared_ptr<const seal::sealer> sealer)
    : timers_(std::make_shared<executor::timers>()),
      lookups_(std::make_shared<catalog::entry_lookups>(16, timers_)),
      coalescer_(std::make_shared<catalog::coalescer>(feed_, timers_, catalog::coalescer::window_durations())),
      source_watches_(std::make_shared<catalog::source_watches>(feed_, options.log)),
      handler_pool_(std::make_shared<executor::thread_pool>(
          "handlers", handler_pool_limits(std::max<std::size_t>(options.handler_threads, 1)))),
      tool_pool_(std::make_shared<executor::thread_pool>("resource tools", handler_pool_limits(tool_threads))),
      extensions_(services_holder_, feed_),
      handlers_(handlers::table::empty({handler_pool_, timers_}, options.page_size)),
      sealer_(std::move(sealer)),
      ledgers_(std::make_shared<rate_limit::bucket_tables>(options.limits.max_tracked_callers)) {
  feed_->on_interest([weak_watches = std::weak_ptr(source_watches_)](const std::string& uri) {
    if (const auto watches = weak_watches.lock()) watches->sync(uri);
  });
  feed_->on_list_interest([weak = std::weak_ptr(source_watches_)] {
    if (const auto watches = weak.lock()) watches->sync_lists();
  });
}

result<std::shared_ptr<server_core>> server_core::create(server_options options) {
  HONDANA_TRY(validate_scope_rules(options.scopes));
  HONDANA_TRY(validate_access_rules(options.access));
  HONDANA_TRY(validate_server_limits(options.limits));
  HONDANA_TRY(auto sealer, options.state_key ? seal::sealer::with_key(*options.state_key) : seal::sealer::with_random_key());
  std::shared_ptr<server_core> core(new server_core(options, std::move(sealer)));
  std::vector<std::shared_ptr<catalog::source>> own_sources;
  if (options.search) own_sources.push_back(std::make_shared<catalog::source>(options.search->source(), max_queued_calls));
  HONDANA_TRY(core->reconfigure(std::move(options), std::move(own_sources)));
  core->begin_indexing();
  core->handle_->target = core.get();
  return core;
}

server_core::~server_core() {
  {
    const std::unique_lock lock(handle_->mutex);
    handle_->target = nullptr;
  }
  if (index_) index_->shutdown();
  extensions_.sync({});
  update_forwarders(sources_, {});
  source_watches_->set_catalog(nullptr);
  // Later lookups, of callers that wait for a busy source, find nothing.
  lookups_->set_catalog(nullptr);
  close(monotonic_clock::now());
}

void server_core::update_forwarders(const std::vector<std::shared_ptr<catalog::source>>& previous,
                                    const std::vector<std::shared_ptr<catalog::source>>& current) {
  const auto lacks = [](const auto& sources, const auto& source) {
    return std::find(sources.begin(), sources.end(), source) == sources.end();
  };
  for (const auto& old_source : previous) {
    if (!lacks(current, old_source)) continue;
    if (auto* const changes = old_source->capabilities().changes) changes->set_listener(nullptr);
    if (const auto position = forwarders_.find(old_source.get()); position != forwarders_.end()) {
      position->second->stop();
      forwarders_.erase(position);
    }
  }
  for (const auto& new_source : current) {
    auto* const changes = new_source->capabilities().changes;
    if (changes == nullptr || !lacks(previous, new_source)) continue;
    const auto forwarder = std::make_shared<change_forwarder>(coalescer_, *new_source);
    forwarders_.insert_or_assign(new_source.get(), forwarder);
    changes->set_listener(forwarder);
  }
}

void server_core::announce(model::change change) {
  if (!change.title.empty()) {
    if (const auto source = current()->catalog->source_of(change.uri)) catalog::mask_secrets(source->masking(), change.title);
  }
  coalescer_->push(change);
}

std::shared_ptr<const session::server_snapshot> server_core::current() const { return snapshot_.read(); }

server_options server_core::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

result<void> server_core::add(std::shared_ptr<provider> provider) {
  const std::lock_guard configuration_lock(configuration_mutex_);
  std::unique_lock lock(mutex_);
  auto sources = sources_;
  auto options = options_;
  lock.unlock();
  sources.push_back(std::make_shared<catalog::source>(std::move(provider), max_queued_calls));
  return reconfigure(std::move(options), std::move(sources));
}

result<void> server_core::replace(server_options options, std::vector<std::shared_ptr<provider>> providers) {
  const std::lock_guard configuration_lock(configuration_mutex_);
  std::unique_lock lock(mutex_);
  const auto existing_sources = sources_;
  lock.unlock();
  if (index_ && options.search != index_)
    return fail(errc::invalid_argument,
                "The search index of a running server cannot be changed. Create a new server for another index.");
  if (options.search) providers.push_back(options.search->source());
  std::vector<std::shared_ptr<catalog::source>> sources;
  sources.reserve(providers.size());
  for (auto& provider : providers) {
    const auto existing = std::find_if(existing_sources.begin(), existing_sources.end(),
                                       [&provider](const auto& source) { return source->get_provider() == provider; });
    sources.push_back(existing != existing_sources.end()
                          ? *existing
                          : std::make_shared<catalog::source>(std::move(provider), max_queued_calls));
  }
  auto configured = reconfigure(std::move(options), std::move(sources));
  if (configured) begin_indexing();
  return configured;
}

void server_core::begin_indexing() {
  if (index_) return index_->refresh();
  const auto options = this->options();
  if (!options.search) return;
  index_ = options.search;
  index_->start(services_holder_, feed_);
}

result<server_core::handler_table> server_core::handlers_for(const server_options& options,
                                                             const provider_extensions::source_list& sources) const {
  auto extended_table = provider_extensions::tools(*handlers_->with_page_size(options.page_size), sources, tool_pool_);
  if (!extended_table) return extended_table;
  auto next = std::move(*extended_table);
  const bool has_built_in =
      next->find_tool(tools::tool_names.front()) != nullptr && next->find_tool(tools::tool_names.front())->options.is_built_in;
  if (has_built_in == options.has_resource_tools) return next;
  if (has_built_in) return next->without_built_in_tools();
  for (auto& tool : tools::tools(services_holder_, std::make_shared<const tools::scanning_engine>())) {
    auto extended = next->with_tool(std::move(tool.entry), std::move(tool.handler), {tool_pool_, true});
    if (!extended) return extended;
    next = std::move(*extended);
  }
  return next;
}

result<void> server_core::reconfigure(server_options options, std::vector<std::shared_ptr<catalog::source>> sources) {
  HONDANA_TRY(validate_server_limits(options.limits));
  HONDANA_TRY(auto gate, gate::gate::make(options.scopes, options.access, catalog::mounts_of(sources)));
  HONDANA_TRY(auto catalog, catalog::catalog::make(sources, limits_of(options), timers_, read_cache_, gate, sealer_));
  HONDANA_TRY(auto handlers, handlers_for(options, sources));
  auto snapshot = std::make_shared<session::server_snapshot>();
  snapshot->catalog = std::move(catalog);
  snapshot->feed = feed_;
  snapshot->lookups = lookups_;
  snapshot->gate = std::move(gate);
  const auto previous_snapshot = snapshot_.read();
  const auto had_rules = previous_snapshot && previous_snapshot->gate->distinguishes_callers();
  const bool has_rules = had_rules || snapshot->gate->distinguishes_callers();
  const bool has_other_tools =
      has_rules || options.has_resource_tools != options_.has_resource_tools || extensions_.have_changed(sources);
  handlers_ = std::move(handlers);
  snapshot->handlers = handlers_;
  services_holder_->put({snapshot->catalog, snapshot->gate, timers_, options.search ? options.search->engine() : nullptr});
  snapshot->sealer = sealer_;
  snapshot->timers = timers_;
  snapshot->batch_bytes = batch_bytes_;
  snapshot->server_info = {options.name,
                           options.version,
                           options.title,
                           options.instructions,
                           snapshot->catalog->has_variables(),
                           options.supports_subscriptions,
                           options.supports_list_changes};
  snapshot->server_info.has_skills = snapshot->catalog->has_skills();
  snapshot->server_info.lists_folders = snapshot->catalog->has_folders();
  describe_handlers(*snapshot);
  snapshot->call_timeout = options.call_timeout;
  snapshot->call_timeouts = options.limits.call_timeouts;
  snapshot->total_timeout = options.limits.total_timeout;
  ledgers_->identities.set_max_callers(options.limits.max_tracked_callers);
  ledgers_->addresses.set_max_callers(options.limits.max_tracked_callers);
  snapshot->meter = rate_limit::rate_limiter::make(options.limits, ledgers_);
  if (snapshot->meter && snapshot->meter->counts_bytes()) snapshot->on_request_end = charge_bytes(snapshot->meter);
  for (const auto& source : sources) {
    source->set_limits(limits_of(options, *source->get_provider()));
    source->set_tracer(options.traces);
  }
  snapshot->input_timeout = options.input_timeout;
  snapshot->audit = options.audit;
  snapshot->log = options.log;
  snapshot->rejections = rejection_log_;
  snapshot->pages = std::make_shared<session::page_cache>(options.page_cache_bytes);
  snapshot->traces = options.traces;
  snapshot->cached_requests = request_cache_;
  // Before the first call of a source: it needs its `provider_host` to look up other sources.
  extensions_.connect_new(sources);
  std::unique_lock lock(mutex_);
  const bool is_first = snapshot_.read() == nullptr;
  for (const auto& removed : sources_) {
    if (std::find(sources.begin(), sources.end(), removed) != sources.end()) continue;
    // Running calls have until their deadline. Calls that still wait behind stuck threads are then dropped.
    timers_->schedule(monotonic_clock::now() + options.call_timeout,
                      [removed_source = removed, pool = destruction_pool_]() mutable {
                        removed_source->close(monotonic_clock::now());
                        destroy_later(std::move(removed_source), *pool);
                      });
  }
  const auto previous_sources = std::exchange(sources_, std::move(sources));
  const auto new_sources = sources_;
  const auto current_catalog = snapshot->catalog;
  const auto current_gate = snapshot->gate;
  lookups_->set_catalog(snapshot->catalog);
  read_cache_->set_limit(options.read_cache_bytes);
  options_ = std::move(options);
  const auto replaced = snapshot_.read();
  const metrics_barrier barrier{handle_};  // destroyed before the old snapshot that metrics may use
  snapshot_.publish(std::move(snapshot));
  lock.unlock();
  if (replaced) replaced->pages->retire();
  update_forwarders(previous_sources, new_sources);
  source_watches_->set_catalog(current_catalog);
  extensions_.sync(new_sources);
  if (is_first) return {};
  if (has_rules) feed_->publish_rules(current_gate);
  announce({model::change::change_kind::resources});
  if (has_other_tools) tools_changed();
  if (has_rules) prompts_changed();
  return {};
}

bool server_core::deliver_webhook(std::string_view source_name, const webhook_request& request) const {
  std::unique_lock lock(mutex_);
  const auto sources = sources_;
  lock.unlock();
  for (const auto& source : sources) {
    auto* const receiver = source->capabilities().webhooks;
    if (receiver != nullptr && receiver->accepts_webhooks() && source->get_provider()->name() == source_name)
      return receiver->handle_webhook(request);
  }
  return false;
}

std::vector<std::pair<std::string, hondana::provider_health>> server_core::health() const {
  std::unique_lock lock(mutex_);
  const auto sources = sources_;
  lock.unlock();
  std::vector<std::pair<std::string, hondana::provider_health>> states;
  states.reserve(sources.size());
  for (const auto& source : sources) {
    const auto* const health = source->capabilities().health;
    states.emplace_back(source->get_provider()->name(), health == nullptr ? hondana::provider_health() : health->health());
  }
  return states;
}

result<void> server_core::add_tool(tool entry, tool_handler handler) {
  const std::lock_guard configuration_lock(configuration_mutex_);
  HONDANA_TRY(auto next, handlers_->with_tool(std::move(entry), std::move(handler)));
  exchange_handlers(std::move(next));
  tools_changed();
  return {};
}

bool server_core::remove_tool(std::string_view name) {
  const std::lock_guard configuration_lock(configuration_mutex_);
  auto next = handlers_->without_tool(name);
  if (!next) return false;
  exchange_handlers(std::move(next));
  tools_changed();
  return true;
}

result<void> server_core::add_prompt(prompt entry, prompt_handler handler) {
  const std::lock_guard configuration_lock(configuration_mutex_);
  HONDANA_TRY(auto next, handlers_->with_prompt(std::move(entry), std::move(handler)));
  exchange_handlers(std::move(next));
  prompts_changed();
  return {};
}

bool server_core::remove_prompt(std::string_view name) {
  const std::lock_guard configuration_lock(configuration_mutex_);
  auto next = handlers_->without_prompt(name);
  if (!next) return false;
  exchange_handlers(std::move(next));
  prompts_changed();
  return true;
}

void server_core::exchange_handlers(handler_table next) {
  handlers_ = std::move(next);
  const std::lock_guard lock(mutex_);
  auto snapshot = std::make_shared<session::server_snapshot>(*snapshot_.read());
  snapshot->handlers = handlers_;
  describe_handlers(*snapshot);
  snapshot_.publish(std::move(snapshot));
}

void server_core::tools_changed() { announce({model::change::change_kind::tools}); }
void server_core::prompts_changed() { announce({model::change::change_kind::prompts}); }

bool server_core::close(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  const auto sources = sources_;
  lock.unlock();
  bool all_finished = true;
  for (const auto& source : sources) all_finished = source->close(deadline) && all_finished;
  all_finished = tool_pool_->close(deadline) && all_finished;
  all_finished = destruction_pool_->close(deadline) && all_finished;
  all_finished = handler_pool_->close(deadline) && all_finished;
  return all_finished;
}

}  // namespace hondana::inline v0
