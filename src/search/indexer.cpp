/// The thread that indexes: when it looks, and what it does with what it finds.
#include "search/indexer.hpp"

#include <algorithm>
#include <utility>

#include <hondana/uri.hpp>

#include "work/signals_blocked.hpp"

namespace hondana::search {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::hours between_tidyings{1};
constexpr std::chrono::seconds longest_call{60};
/// Watches of single resources; the feed lets one listener have about twice as many.
constexpr std::size_t most_watched = 8'000;
/// After the start.
constexpr std::chrono::seconds sources_come{5};

}  // namespace

/// Outlives the indexer where a change is being told while it goes.
class indexer::ears final : public catalog::listener {
 public:
  explicit ears(indexer& of) : of_(&of) {}
  void heard(const model::change& what) override {
    const std::lock_guard lock(mutex_);
    if (of_ == nullptr) return;
    if (what.kind == model::change::what::resources) static_cast<void>(of_->ask_for_look());
    if (what.kind == model::change::what::content) of_->heard_of(what.uri);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    of_ = nullptr;
  }

 private:
  std::mutex mutex_;
  indexer* of_;
};

indexer::indexer(std::shared_ptr<ground> on) : on_(std::move(on)) {}

indexer::~indexer() { end(); }

void indexer::begin(std::shared_ptr<catalog::feed> changes) {
  feed_ = std::move(changes);
  began_ = clock::now();
  ears_ = std::make_shared<ears>(*this);
  feed_->join(ears_);
  const work::signals_blocked blocked;
  thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void indexer::end() {
  if (ears_) {
    ears_->close();
    feed_->leave(*ears_);
  }
  if (thread_.joinable()) {
    thread_.request_stop();
    thread_.join();
  }
  ears_.reset();
}

void indexer::watch(const std::string& uri, entry_known& known) {
  if (known.is_watched || watched_ >= most_watched || !ears_) return;
  if (!feed_->watch(ears_, uri)) return;
  known.is_watched = true;
  ++watched_;
}

void indexer::unwatch(const std::string& uri) {
  feed_->unwatch(*ears_, uri);
  --watched_;
}

std::uint64_t indexer::ask_for_look() {
  const std::lock_guard lock(mutex_);
  // A look that has begun may have seen a list as it was before.
  asked_looks_ = begun_looks_ + 1;
  changed_.notify_all();
  return asked_looks_;
}

void indexer::heard_of(std::string_view uri) {
  const auto resource = catalog::resource_of(uri);
  if (!is_wanted(resource)) return;
  const std::lock_guard lock(mutex_);
  changed_uris_.insert(resource);
  changed_.notify_all();
}

std::uint64_t indexer::complete_looks() const {
  const std::lock_guard lock(mutex_);
  return complete_looks_;
}

bool indexer::wait_for_change(clock::time_point until, const std::stop_token& stop) const {
  std::unique_lock lock(mutex_);
  const auto before = steps_;
  return changed_.wait_until(lock, stop, until, [&] { return steps_ != before; });
}

void indexer::problem(std::string what) {
  if (!what.empty() && what != said_) on_->say(what);
  said_ = what;
  on_->change_state([&](search_state& state) { state.problem = what; });
}

call indexer::own_call(const std::stop_token& stop) const {
  call out;
  out.who.identity = "search";
  out.deadline = clock::now() + longest_call;
  out.stop = stop;
  return out;
}

void indexer::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto loaded = load();
    if (loaded) break;
    problem(loaded.error().public_text + " (" + loaded.error().private_text + ')');
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, after_failure, [] { return false; });
  }
  while (!stop.stop_requested()) {
    bool has_to_look = false;
    {
      std::unique_lock lock(mutex_);
      const auto due = has_more_vectors_ ? std::min(next_look_, next_vectors_) : next_look_;
      changed_.wait_until(lock, stop, due, [&] { return asked_looks_ > begun_looks_ || !changed_uris_.empty(); });
      has_to_look = asked_looks_ > begun_looks_ || clock::now() >= next_look_;
      if (has_to_look) begun_looks_ = asked_looks_ = std::max(asked_looks_, begun_looks_ + 1);
    }
    if (stop.stop_requested()) break;
    try {
      if (has_to_look) {
        look(stop);
      } else {
        take_changed();
        index_pending(stop);
      }
      while (has_more_vectors_ && clock::now() >= next_vectors_ && !stop.stop_requested()) {
        {
          const std::lock_guard lock(mutex_);
          if (asked_looks_ > begun_looks_ || !changed_uris_.empty()) break;
        }
        if (!make_vectors(stop)) break;
      }
      if (clock::now() >= next_tidying_) {
        next_tidying_ = clock::now() + between_tidyings;
        if (auto done = on_->kept->tidy(); !done) problem(done.error().public_text);
      }
      tell_state(true);
      if (auto done = commit(); !done) problem(done.error().public_text);
    } catch (const std::exception& error) {
      roll_back();
      problem(std::string("indexing failed: ") + error.what());
      next_look_ = clock::now() + after_failure;
    }
  }
  const auto done = commit();
  if (!done) problem(done.error().public_text);
}

result<void> indexer::load() {
  known_.clear();
  auto done = on_->kept->each_document(
      [this](store::known one) { known_.emplace(std::move(one.uri), entry_known{std::move(one.version), one.described}); });
  if (!done) return done;
  if (auto set = on_->kept->use_model(on_->embedder ? on_->embedder->id() : std::string()); !set) return set;
  if (on_->embedder) load_vectors();
  has_more_vectors_ = on_->embedder != nullptr;
  next_tidying_ = clock::now() + between_tidyings;
  tell_state(true);
  return {};
}

std::vector<std::string> indexer::claims() const {
  static constexpr std::string_view left_out[]{"search:", "log:", "metrics:", "git:", "env:", "mcp:"};
  std::vector<std::string> out;
  for (const auto& source : on_->where()->now().catalog->sources()) {
    for (auto& claim : source->what()->claims()) {
      const auto& include = on_->options.include;
      const bool is_named = std::any_of(include.begin(), include.end(), [&](const std::string& prefix) {
        return claim.starts_with(prefix) || prefix.starts_with(claim);
      });
      const bool is_left_out = std::any_of(std::begin(left_out), std::end(left_out),
                                           [&](std::string_view scheme) { return claim.starts_with(scheme); });
      if (claim.starts_with("search:")) continue;
      if (include.empty() ? !is_left_out : is_named) out.push_back(std::move(claim));
    }
  }
  return out;
}

bool indexer::is_wanted(std::string_view uri) const {
  const auto begins = [uri](const std::string& prefix) { return uri.starts_with(prefix); };
  const auto& include = on_->options.include;
  const auto& exclude = on_->options.exclude;
  if (!include.empty() && std::none_of(include.begin(), include.end(), begins)) return false;
  return std::none_of(exclude.begin(), exclude.end(), begins) && !uri.starts_with("search:");
}

void indexer::look(const std::stop_token& stop) {
  ++look_;
  std::uint64_t this_look = 0;
  {
    const std::lock_guard lock(mutex_);
    this_look = begun_looks_;
    changed_uris_.clear();
  }
  next_look_ = clock::now() + on_->options.interval;
  is_look_whole_ = true;
  const auto all = claims();
  for (const auto& claim : all) {
    auto looked = look_at(claim, stop);
    if (stop.stop_requested()) return;
    if (looked) continue;
    is_look_whole_ = false;
    problem("cannot list " + claim + ": " + looked.error().public_text);
    next_look_ =
        std::min(next_look_, clock::now() + std::max<std::chrono::milliseconds>(after_failure, on_->options.interval / 4));
    // What there was of it stays until it can be listed again.
    for (auto& [uri, known] : known_) {
      if (covers(claim, uri)) known.seen = look_;
    }
  }
  // A program adds its sources one after the other: what none serves yet is kept until they can all be there.
  const auto settled = began_ + sources_come;
  const bool are_all_there = clock::now() >= settled;
  std::vector<std::string> gone;
  for (const auto& [uri, known] : known_) {
    if (known.seen == look_) continue;
    const auto is_served = [&uri](const std::string& claim) { return covers(claim, uri); };
    if (are_all_there || std::any_of(all.begin(), all.end(), is_served)) {
      gone.push_back(uri);
    } else {
      next_look_ = std::min(next_look_, settled);
    }
  }
  for (const auto& uri : gone) {
    if (auto done = forget(uri); !done) {
      roll_back();
      is_look_whole_ = false;
      return problem(done.error().public_text);
    }
  }
  index_pending(stop);
  if (stop.stop_requested()) return;
  if (is_look_whole_) problem({});
  const std::lock_guard lock(mutex_);
  if (is_look_whole_) complete_looks_ = this_look;
  ++steps_;
  changed_.notify_all();
}

result<void> indexer::look_at(const std::string& claim, const std::stop_token& stop) {
  const auto in = on_->where()->now();
  model::resource_filter within;
  within.uri_prefix = claim;
  const auto filter = std::make_shared<const catalog::filter>(within);
  std::optional<std::string> cursor;
  do {
    const auto by = own_call(stop);
    auto page = bridge::await<model::resource_page>(
        by, [&](catalog::completion<model::resource_page> done) { in.catalog->list(by, cursor, filter, std::move(done)); });
    if (!page) return tl::unexpected(std::move(page.error()));
    for (auto& entry : page->resources) {
      if (!is_wanted(entry.uri)) continue;
      const auto found = known_.find(entry.uri);
      if (found != known_.end()) {
        found->second.seen = look_;
        const auto& known = found->second;
        const bool is_same_version = !entry.version.empty() && entry.version == known.version;
        if (is_same_version && digest_of(document_of(entry)) == known.described) continue;
      }
      auto uri = entry.uri;
      pending_.insert_or_assign(std::move(uri), std::move(entry));
    }
    cursor = std::move(page->next_cursor);
    tell_state(false);
  } while (cursor && !stop.stop_requested());
  return {};
}

void indexer::take_changed() {
  std::set<std::string> changed;
  {
    const std::lock_guard lock(mutex_);
    changed.swap(changed_uris_);
  }
  for (const auto& uri : changed) {
    const auto in = on_->where()->now();
    const auto by = own_call({});
    auto entry = bridge::await<resource>(
        by, [&](catalog::completion<resource> done) { in.catalog->describe(by, uri, std::move(done)); });
    if (entry) {
      if (known_.contains(uri)) pending_.insert_or_assign(uri, std::move(*entry));
      // What is new may be read and not be listed; the list decides, and changes with it.
    } else if (entry.error().code == errc::resource_not_found) {
      if (auto done = forget(uri); !done) {
        roll_back();
        problem(done.error().public_text);
      }
    }
  }
}

}  // namespace hondana::search
