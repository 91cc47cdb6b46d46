/// What the thread that indexes looks at: lists, and what sources tell of.
#include <algorithm>
#include <array>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "search/index/alone.hpp"
#include "search/index/indexer.hpp"
#include "search/index/making.hpp"

namespace hondana::search {
namespace {

using clock = monotonic_clock;

/// After the start.
constexpr std::chrono::seconds sources_come{5};
/// What changes all the time, or belongs to others, unless it is named.
constexpr std::array<std::string_view, 5> left_out_unless_named{"log:", "metrics:", "git:", "env:", "mcp:"};

}  // namespace

std::vector<std::string> indexer::claims() const {
  std::vector<std::string> out;
  const auto where = on_->where();
  if (!where) return out;
  const auto in = where->now();
  for (const auto& source : in.catalog->sources()) {
    for (auto& claim : source->what()->claims()) {
      const auto& include = on_->options.include;
      const bool is_named = std::any_of(include.begin(), include.end(), [&](const std::string& prefix) {
        return claim.starts_with(prefix) || prefix.starts_with(claim);
      });
      const bool is_left_out = std::any_of(left_out_unless_named.begin(), left_out_unless_named.end(),
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
  }
  next_look_ = clock::now() + on_->options.interval;
  shed();
  if (has_to_load_) return;
  const auto all = claims();
  list_all(all, stop);
  if (stop.stop_requested() || has_to_load_) return;
  forget_unseen(all);
  if (has_to_load_) return;
  index_pending(stop);
  if (stop.stop_requested() || has_to_load_) return;
  on_->has_looked = true;
  store_failures_ = 0;
  tell_missing();
  {
    const std::lock_guard lock(mutex_);
    ended_looks_ = this_look;
    if (is_look_whole_) complete_looks_ = this_look;
  }
  step();
}

void indexer::list_all(const std::vector<std::string>& all, const std::stop_token& stop) {
  std::string why;
  unlisted_.clear();
  for (const auto& claim : all) {
    const auto looked = look_at(claim, stop);
    if (stop.stop_requested()) return;
    if (looked) continue;
    unlisted_.push_back(claim);
    why += (why.empty() ? "cannot list " : "; and ") + claim + ": " + looked.error().public_text;
    if (!looked.error().private_text.empty()) why += " (" + looked.error().private_text + ')';
    next_look_ =
        std::min(next_look_, clock::now() + std::max<std::chrono::milliseconds>(after_failure, on_->options.interval / 4));
    // What there was of it stays until it can be listed again.
    for (auto& [uri, known] : known_) {
      if (covers(claim, uri)) known.seen = look_;
    }
  }
  // Until here what is told is how the look before this one ended: what has been listed so far is not all.
  is_look_whole_ = unlisted_.empty();
  if (why.empty()) return troubles_.end(trouble::lists);
  troubles_.have(trouble::lists, why);
}

void indexer::forget_unseen(const std::vector<std::string>& all) {
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
    if (auto done = forget(uri); !done) return begin_anew(done.error());
  }
  std::erase_if(left_out_, [this](const auto& one) { return one.second.seen != look_; });
  std::erase_if(unread_, [this](const std::string& uri) { return !pending_.contains(uri) && !known_.contains(uri); });
  if (auto done = commit(); !done) begin_anew(done.error());
}

result<void> indexer::look_at(const std::string& claim, const std::stop_token& stop) {
  const auto where = on_->where();
  if (!where) return fail(errc::cancelled, "the server is stopping");
  const auto in = where->now();
  model::resource_filter within;
  within.uri_prefix = claim;
  const auto filter = std::make_shared<const catalog::filter>(within);
  std::optional<std::string> cursor;
  do {
    const auto by = own_call(stop);
    auto page = tools::await<model::resource_page>(
        by, [&](catalog::completion<model::resource_page> done) { in.catalog->list(by, cursor, filter, std::move(done)); });
    if (!page) return tl::unexpected(std::move(page.error()));
    for (auto& entry : page->resources) {
      if (!is_wanted(entry.uri)) continue;
      auto made = making_of(*in.catalog, entry.uri);
      if (!is_to_be_read(entry, made)) continue;
      auto uri = entry.uri;
      pending_.insert_or_assign(std::move(uri), listed{std::move(entry), std::move(made)});
    }
    cursor = std::move(page->next_cursor);
    tell_state(false);
  } while (cursor && !stop.stop_requested());
  return {};
}

bool indexer::is_described(const entry_known& known, const resource& entry, std::uint64_t described) {
  // What was read of it said more than its source knows by now.
  return described == known.described ||
         (known.has_text && is_provisional(entry) && are_alike_outside(described, known.described));
}

bool indexer::is_to_be_read(const resource& entry, const std::string& made) {
  const auto described = digest_of(document_of(entry));
  if (const auto out = left_out_.find(entry.uri); out != left_out_.end()) {
    auto& one = out->second;
    one.seen = look_;
    const bool is_same = !entry.version.empty() && entry.version == one.version && described == one.described;
    return !is_same || passages_ + one.passages <= on_->options.most_passages;
  }
  const auto found = known_.find(entry.uri);
  if (found == known_.end()) return true;
  auto& known = found->second;
  known.seen = look_;
  // Also what was indexed before the start.
  watch(entry.uri, known);
  if (unread_.contains(entry.uri) || known.made != made) return true;
  const bool is_same_version =
      is_list_of_others(entry) ? known.version == version_of_lists : !entry.version.empty() && entry.version == known.version;
  return !is_same_version || !is_described(known, entry, described);
}

bool indexer::take_changed(const std::stop_token& stop) {
  std::set<std::string> changed;
  {
    const std::lock_guard lock(mutex_);
    changed.swap(changed_uris_);
  }
  const auto where = on_->where();
  if (!where || changed.empty()) return false;
  std::vector<std::string> gone;
  for (const auto& uri : changed) {
    if (stop.stop_requested() || has_to_load_) return false;
    const auto in = where->now();
    const auto by = own_call(stop);
    auto entry =
        tools::await<resource>(by, [&](catalog::completion<resource> done) { in.catalog->describe(by, uri, std::move(done)); });
    if (entry) {
      // What is new may be read and not be listed; the list decides, and changes with it.
      if (known_.contains(uri)) pending_.insert_or_assign(uri, listed{std::move(*entry), making_of(*in.catalog, uri)});
    } else if (entry.error().code == errc::resource_not_found) {
      gone.push_back(uri);
    } else if (known_.contains(uri)) {
      // With the next look it is read, whatever version the list says it has.
      say_of(uri, "cannot be looked up", entry.error());
      unread_.insert(uri);
      next_look_ = std::min(next_look_, clock::now() + after_failure);
    }
  }
  // From the first change to its commit others wait, as they must not for a source.
  result<void> done{};
  for (const auto& uri : gone) {
    if (done) done = forget(uri);
  }
  if (done) done = commit();
  if (!done) begin_anew(done.error());
  return done.has_value();
}

}  // namespace hondana::search
