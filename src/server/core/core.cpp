/// The implementation of a server: its sources, the current context, and orderly shutdown.
#include "server/core/core.hpp"

#include <algorithm>
#include <stdexcept>
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

constexpr std::size_t queue_limit = 4096;
constexpr std::size_t bridge_threads = 4;  // they wait for sources, and must not delay the application's handlers

/// Like the pools of sources: one caller cannot fill the queue.
executor::pool_limits shared_by_callers(std::size_t threads) {
  return {.threads = threads, .waiting = queue_limit, .waiting_each = queue_limit / 4};
}

source_limits limits_of(const server_options& options, const provider& of) {
  const auto found = options.limits.sources.find(&of);
  return found == options.limits.sources.end() ? source_limits() : found->second;
}

/// Charges callers for the bytes that were sent. Errors cost nothing.
std::function<void(const caller&, const session::completion&)> charging(std::shared_ptr<const rate_limit::meter> by) {
  return [by = std::move(by)](const caller& who, const session::completion& what) {
    if (what.error == 0) by->written(who, what.bytes);
  };
}

catalog::limits limits_of(const server_options& options) { return {options.page_size, options.read_limit, queue_limit}; }

/// Sets what the server declares about its handlers.
void describe_handlers(session::context& of) {
  of.self.has_tools = of.handlers->has_tools();
  of.self.has_prompts = of.handlers->has_prompts();
  of.self.announces_tools = of.self.has_tools && of.self.announces_resources;
  of.self.announces_prompts = of.self.has_prompts && of.self.announces_resources;
  of.self.has_logging = of.handlers->may_log();
  of.self.has_completions = of.catalog->has_variables() || of.handlers->has_completions();
}

/// Destroying a source may take long, so it does not happen on the timer thread. If the pool is busy, it gets a thread of its
/// own.
void let_end(std::shared_ptr<catalog::source> last, executor::pool& where) {
  constexpr std::chrono::minutes longest{1};
  const auto held = std::make_shared<std::shared_ptr<catalog::source>>(std::move(last));
  if (where.submit([held] { held->reset(); }, monotonic_clock::now() + longest)) return;
  const executor::signals_blocked blocked;
  std::thread([held] { held->reset(); }).detach();
}

}  // namespace

/// Outlives the core, because a source may report a change while the server is destroyed.
class core::hearer final : public change_listener {
 public:
  hearer(std::shared_ptr<catalog::coalescer> to, const provider& of)
      : to_(std::move(to)), by_(of.masking()), is_exact_(of.tells_parts()) {}
  void list_changed() override {
    const std::shared_lock telling(telling_);
    if (!is_silent_) to_->take({model::change::what::resources});
  }
  void content_changed(std::string_view uri, std::string_view title) override { tell(uri, title, false); }
  void alias_changed(std::string_view uri, std::string_view title) override { tell(uri, title, true); }
  /// Stops notifications, and waits for running ones. A running notification may own the last reference to the server and thus
  /// to the source, which must not be destroyed on its own thread.
  void silence() {
    const std::unique_lock nobody(telling_);
    is_silent_ = true;
  }

 private:
  void tell(std::string_view uri, std::string_view title, bool is_alias) {
    const std::shared_lock telling(telling_);
    if (is_silent_) return;
    model::change what{model::change::what::content, std::string(uri), std::string(title)};
    what.is_exact = is_exact_;
    what.is_alias = is_alias;
    catalog::mask_secrets(by_, what.title);
    to_->take(what);
  }

  std::shared_mutex telling_;
  bool is_silent_ = false;
  const std::shared_ptr<catalog::coalescer> to_;
  const hondana::masking by_;
  const bool is_exact_;
};

core::core(server_options options)
    : timers_(std::make_shared<executor::timers>()),
      lookups_(std::make_shared<catalog::lookups>(16, timers_)),
      coalescer_(std::make_shared<catalog::coalescer>(feed_, timers_, catalog::coalescer::windows())),
      attachments_(std::make_shared<catalog::attachments>(feed_, options.log)),
      handler_pool_(
          std::make_shared<executor::pool>("handlers", shared_by_callers(std::max<std::size_t>(options.handler_threads, 1)))),
      bridge_pool_(std::make_shared<executor::pool>("resource tools", shared_by_callers(bridge_threads))),
      neighbours_(bridge_place_, feed_),
      handlers_(handlers::table::empty({handler_pool_, timers_}, options.page_size)),
      ledgers_(std::make_shared<rate_limit::ledgers>(options.limits.callers)) {
  auto sealer = options.state_key.empty() ? seal::sealer::with_random_key() : seal::sealer::with_key(options.state_key);
  if (!sealer) throw std::invalid_argument(sealer.error().public_text);
  sealer_ = std::move(*sealer);
  feed_->on_interest([to = std::weak_ptr(attachments_)](const std::string& uri) {
    if (const auto there = to.lock()) there->sync(uri);
  });
  feed_->on_list_interest([to = std::weak_ptr(attachments_)] {
    if (const auto there = to.lock()) there->sync_lists();
  });
  for (const auto& sound : {check(options.scopes), check(options.access), check(options.limits)}) {
    if (!sound) throw std::invalid_argument(sound.error().public_text);
  }
  std::vector<std::shared_ptr<catalog::source>> own;
  if (options.search) own.push_back(std::make_shared<catalog::source>(options.search->source(), queue_limit));
  const auto arranged = arrange(std::move(options), std::move(own));
  if (!arranged) throw std::logic_error("a server without sources was rejected: " + arranged.error().public_text);
  begin_indexing();
  door_->inside = this;
}

core::~core() {
  {
    const std::unique_lock nobody(door_->mutex);
    door_->inside = nullptr;
  }
  if (indexed_) indexed_->leave();
  neighbours_.settle({});
  listen_to(sources_, {});
  attachments_->rearrange(nullptr);
  // Later lookups, of callers that wait for a busy source, find nothing.
  lookups_->use(nullptr);
  close(monotonic_clock::now());
}

void core::listen_to(const std::vector<std::shared_ptr<catalog::source>>& before,
                     const std::vector<std::shared_ptr<catalog::source>>& now) {
  const auto lacks = [](const auto& all, const auto& one) { return std::find(all.begin(), all.end(), one) == all.end(); };
  for (const auto& one : before) {
    if (!lacks(now, one)) continue;
    one->what()->watch(nullptr);
    if (const auto by = hearers_.find(one.get()); by != hearers_.end()) {
      by->second->silence();
      hearers_.erase(by);
    }
  }
  for (const auto& one : now) {
    if (!lacks(before, one)) continue;
    const auto by = std::make_shared<hearer>(coalescer_, *one->what());
    hearers_.insert_or_assign(one.get(), by);
    one->what()->watch(by);
  }
}

void core::announce(model::change what) {
  if (!what.title.empty()) {
    if (const auto from = current()->catalog->source_of(what.uri)) catalog::mask_secrets(from->what()->masking(), what.title);
  }
  coalescer_->take(what);
}

std::shared_ptr<const session::context> core::current() const { return context_.read(); }

server_options core::options() const {
  const std::lock_guard lock(mutex_);
  return options_;
}

result<void> core::add(std::shared_ptr<provider> what) {
  const std::lock_guard one_change(arranging_);
  std::unique_lock lock(mutex_);
  auto sources = sources_;
  auto options = options_;
  lock.unlock();
  sources.push_back(std::make_shared<catalog::source>(std::move(what), queue_limit));
  return arrange(std::move(options), std::move(sources));
}

result<void> core::replace(server_options options, std::vector<std::shared_ptr<provider>> providers) {
  const std::lock_guard one_change(arranging_);
  std::unique_lock lock(mutex_);
  const auto present = sources_;
  lock.unlock();
  if (indexed_ && options.search != indexed_)
    return fail(errc::invalid_argument,
                "The search index of a running server cannot be changed. Create a new server for another index.");
  if (options.search) providers.push_back(options.search->source());
  std::vector<std::shared_ptr<catalog::source>> sources;
  sources.reserve(providers.size());
  for (auto& one : providers) {
    const auto kept =
        std::find_if(present.begin(), present.end(), [&one](const auto& source) { return source->what() == one; });
    sources.push_back(kept != present.end() ? *kept : std::make_shared<catalog::source>(std::move(one), queue_limit));
  }
  auto arranged = arrange(std::move(options), std::move(sources));
  if (arranged) begin_indexing();
  return arranged;
}

void core::begin_indexing() {
  if (indexed_) return indexed_->refresh();
  const auto options = this->options();
  if (!options.search) return;
  indexed_ = options.search;
  indexed_->serve(bridge_place_, feed_);
}

result<core::handler_table> core::handlers_for(const server_options& options, const neighbours::source_list& sources) const {
  auto with_sources = neighbours::tools(*handlers_->with_page_size(options.page_size), sources, bridge_pool_);
  if (!with_sources) return with_sources;
  auto next = std::move(*with_sources);
  const bool has_them =
      next->find_tool(tools::tool_names.front()) != nullptr && next->find_tool(tools::tool_names.front())->manners.is_built_in;
  if (has_them == options.resource_tools) return next;
  if (has_them) return next->without_built_in_tools();
  for (auto& one : tools::tools(bridge_place_, std::make_shared<const tools::scanning_engine>())) {
    auto more = next->with(std::move(one.entry), std::move(one.handler), {bridge_pool_, true});
    if (!more) return more;
    next = std::move(*more);
  }
  return next;
}

result<void> core::arrange(server_options options, std::vector<std::shared_ptr<catalog::source>> sources) {
  HONDANA_TRY(check(options.limits));
  HONDANA_TRY(auto gate, gate::gate::make(options.scopes, options.access, catalog::mounts_of(sources)));
  HONDANA_TRY(auto catalog, catalog::catalog::make(sources, limits_of(options), timers_, read_cache_, gate, sealer_));
  HONDANA_TRY(auto handlers, handlers_for(options, sources));
  auto context = std::make_shared<session::context>();
  context->catalog = std::move(catalog);
  context->feed = feed_;
  context->lookups = lookups_;
  context->gate = std::move(gate);
  const auto before_this = context_.read();
  const auto had_rules = before_this && before_this->gate->tells_callers_apart();
  const bool has_rules = had_rules || context->gate->tells_callers_apart();
  const bool has_other_tools =
      has_rules || options.resource_tools != options_.resource_tools || neighbours_.are_others(sources);
  handlers_ = std::move(handlers);
  context->handlers = handlers_;
  bridge_place_->put({context->catalog, context->gate, timers_, options.search ? options.search->engine() : nullptr});
  context->sealer = sealer_;
  context->timers = timers_;
  context->batch_bytes = batch_bytes_;
  context->self = {options.name,
                   options.version,
                   options.title,
                   options.instructions,
                   context->catalog->has_variables(),
                   options.announces_contents,
                   options.announces_lists};
  context->self.has_skills = context->catalog->has_skills();
  context->self.lists_folders = context->catalog->lists_folders();
  describe_handlers(*context);
  context->call_deadline = options.call_deadline;
  context->deadlines = options.limits.deadlines;
  context->longest_call = options.limits.longest_call;
  ledgers_->identities.limit_to(options.limits.callers);
  ledgers_->addresses.limit_to(options.limits.callers);
  context->meter = rate_limit::meter::make(options.limits, ledgers_);
  if (context->meter && context->meter->counts_bytes()) context->ended = charging(context->meter);
  for (const auto& one : sources) {
    one->limit_to(limits_of(options, *one->what()));
    one->trace_by(options.traces);
  }
  context->input_deadline = options.input_deadline;
  context->audit = options.audit;
  context->log = options.log;
  context->refusals = refusals_;
  context->pages = std::make_shared<session::kept_pages>(options.page_cache);
  context->traces = options.traces;
  context->known = known_;
  // Before the first call of a source: it needs the neighbourhood to look up other sources.
  neighbours_.settle_new(sources);
  std::unique_lock lock(mutex_);
  const bool is_first = context_.read() == nullptr;
  for (const auto& gone : sources_) {
    if (std::find(sources.begin(), sources.end(), gone) != sources.end()) continue;
    // Running calls have until their deadline. Calls that still wait behind stuck threads are then dropped.
    timers_->at(monotonic_clock::now() + options.call_deadline, [last = gone, to = ending_pool_]() mutable {
      last->close(monotonic_clock::now());
      let_end(std::move(last), *to);
    });
  }
  const auto before = std::exchange(sources_, std::move(sources));
  const auto now = sources_;
  const auto present = context->catalog;
  const auto gate_now = context->gate;
  lookups_->use(context->catalog);
  read_cache_->limit_to(options.read_cache);
  options_ = std::move(options);
  const auto replaced = context_.read();
  const tellers_waited_for done{door_};  // destroyed before the old context that metrics may use
  context_.post(std::move(context));
  lock.unlock();
  if (replaced) replaced->pages->retire();
  listen_to(before, now);
  attachments_->rearrange(present);
  neighbours_.settle(now);
  if (is_first) return {};
  if (has_rules) feed_->rules_changed(gate_now);
  announce({model::change::what::resources});
  if (has_other_tools) tools_changed();
  if (has_rules) prompts_changed();
  return {};
}

bool core::take_notice(std::string_view to, const notice& what) const {
  std::unique_lock lock(mutex_);
  const auto sources = sources_;
  lock.unlock();
  for (const auto& one : sources) {
    auto* const taker = dynamic_cast<takes_notices*>(one->what().get());
    if (taker != nullptr && taker->expects_notices() && one->what()->name() == to) return taker->take_notice(what);
  }
  return false;
}

std::vector<std::pair<std::string, hondana::health>> core::health() const {
  std::unique_lock lock(mutex_);
  const auto sources = sources_;
  lock.unlock();
  std::vector<std::pair<std::string, hondana::health>> all;
  all.reserve(sources.size());
  for (const auto& one : sources) all.emplace_back(one->what()->name(), one->what()->health());
  return all;
}

result<void> core::add_tool(tool entry, tool_handler handler) {
  const std::lock_guard one_change(arranging_);
  HONDANA_TRY(auto next, handlers_->with(std::move(entry), std::move(handler)));
  exchange_handlers(std::move(next));
  tools_changed();
  return {};
}

bool core::remove_tool(std::string_view name) {
  const std::lock_guard one_change(arranging_);
  auto next = handlers_->without_tool(name);
  if (!next) return false;
  exchange_handlers(std::move(next));
  tools_changed();
  return true;
}

result<void> core::add_prompt(prompt entry, prompt_handler handler) {
  const std::lock_guard one_change(arranging_);
  HONDANA_TRY(auto next, handlers_->with(std::move(entry), std::move(handler)));
  exchange_handlers(std::move(next));
  prompts_changed();
  return {};
}

bool core::remove_prompt(std::string_view name) {
  const std::lock_guard one_change(arranging_);
  auto next = handlers_->without_prompt(name);
  if (!next) return false;
  exchange_handlers(std::move(next));
  prompts_changed();
  return true;
}

void core::exchange_handlers(handler_table next) {
  handlers_ = std::move(next);
  const std::lock_guard lock(mutex_);
  auto context = std::make_shared<session::context>(*context_.read());
  context->handlers = handlers_;
  describe_handlers(*context);
  context_.post(std::move(context));
}

void core::tools_changed() { announce({model::change::what::tools}); }
void core::prompts_changed() { announce({model::change::what::prompts}); }

bool core::close(std::chrono::steady_clock::time_point until) {
  std::unique_lock lock(mutex_);
  const auto sources = sources_;
  lock.unlock();
  bool all_left = true;
  for (const auto& one : sources) all_left = one->close(until) && all_left;
  all_left = bridge_pool_->close(until) && all_left;
  all_left = ending_pool_->close(until) && all_left;
  all_left = handler_pool_->close(until) && all_left;
  return all_left;
}

}  // namespace hondana::inline v0
