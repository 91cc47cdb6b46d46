/// The indexer: lists resources, reads them and writes them to the store.

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "search/index/document_reader.hpp"
#include "search/index/indexer.hpp"

namespace hondana::search {
namespace {

using clock = monotonic_clock;

/// Time after the start in which sources may still be added.
constexpr std::chrono::seconds sources_come{5};
/// Schemes that change all the time or belong to other servers; indexed only if `include` names them.
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
    // Keep all documents below this claim until it can be listed again.
    for (auto& [uri, known] : known_) {
      if (covers(claim, uri)) known.seen = look_;
    }
  }
  // Until here, `is_look_whole_` describes the previous scan, because the listing was not complete yet.
  is_look_whole_ = unlisted_.empty();
  if (why.empty()) return troubles_.end(trouble::lists);
  troubles_.have(trouble::lists, why);
}

void indexer::forget_unseen(const std::vector<std::string>& all) {
  // A program adds its sources one after the other. Keep documents that no source serves until all sources can be there.
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
  // Reading may have given a better description than the source has before reading.
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
  // Also watch resources that were indexed before the start.
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
      // A new resource may be readable but not listed. The list decides, and its change causes a scan.
      if (known_.contains(uri)) pending_.insert_or_assign(uri, listed{std::move(*entry), making_of(*in.catalog, uri)});
    } else if (entry.error().code == errc::resource_not_found) {
      gone.push_back(uri);
    } else if (known_.contains(uri)) {
      // Read it with the next scan, even if the list gives the known version.
      say_of(uri, "cannot be looked up", entry.error());
      unread_.insert(uri);
      next_look_ = std::min(next_look_, clock::now() + after_failure);
    }
  }
  // From the first change to its commit, other writers and searches in memory wait. So no source is called in between.
  result<void> done{};
  for (const auto& uri : gone) {
    if (done) done = forget(uri);
  }
  if (done) done = commit();
  if (!done) begin_anew(done.error());
  return done.has_value();
}

namespace {

using clock = monotonic_clock;

/// A commit costs about as much as indexing several documents. Searches wait for it only if the index is in memory.
constexpr std::chrono::milliseconds between_commits{300};
constexpr std::chrono::seconds between_reports{10};

/// Limit of URIs whose problems have been logged. Beyond it all are cleared, so they may be logged again.
constexpr std::size_t most_said_of = 10'000;

std::uint64_t kept_of(const cut_document& one) { return std::max<std::size_t>(one.passages.size(), 1); }

/// Replaces malformed bytes by U+FFFD.
void mend(std::string& text) {
  if (json::is_utf8(text)) return;
  std::string out;
  json::append_replacing(out, text);
  text = std::move(out);
}

}  // namespace

void indexer::say_of(const std::string& uri, std::string_view what, const failure& why) {
  if (said_of_.size() >= most_said_of) said_of_.clear();
  if (!said_of_.insert(uri).second) return;
  auto line = uri + ' ' + std::string(what) + ": " + why.public_text;
  if (!why.private_text.empty()) line += " (" + why.private_text + ')';
  on_->say(line);
}

void indexer::index_pending(const std::stop_token& stop) {
  const auto begin = clock::now();
  auto next_report = begin + between_reports;
  auto next_commit = begin + between_commits;
  const auto all = pending_.size();
  std::size_t done = 0;
  bool has_later = false;
  while (!pending_.empty() && !stop.stop_requested()) {
    const auto node = pending_.extract(pending_.begin());
    const auto outcome = index_one(node.mapped(), stop);
    if (!outcome) return begin_anew(outcome.error());
    has_later = has_later || *outcome == indexer::outcome::later;
    ++done;
    const auto now = clock::now();
    if (is_in_memory() || now >= next_commit || pending_.empty()) {
      next_commit = now + between_commits;
      if (auto committed = commit(); !committed) return begin_anew(committed.error());
      // The state after the last commit is reported below, together with problems.
      if (!pending_.empty()) tell_state(now >= next_count_);
    }
    if (now >= next_report) {
      next_report = now + between_reports;
      on_->say(std::to_string(done) + " of " + std::to_string(all) + " resources indexed");
    }
  }
  if (has_later) {
    is_look_whole_ = false;
    next_look_ = std::min(next_look_, clock::now() + after_failure);
  }
  if (unread_.empty()) {
    troubles_.end(trouble::resources);
  } else {
    troubles_.have(trouble::resources, "some resources cannot be read now and are retried");
  }
  look_for_what_fits();
  if (all >= 100) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin).count();
    on_->say(std::to_string(done) + " resources indexed in " + std::to_string(took) + " ms");
  }
  if (all > 0) tell_missing();
  tell_state(true);
}

result<indexer::outcome> indexer::index_one(const listed& one, const std::stop_token& stop) {
  auto made = cut_one(one, stop);
  if (stop.stop_requested()) return outcome::later;
  if (!made) return cannot_be_read(one.entry, made.error());
  // If it fails again, log that again.
  if (unread_.erase(one.entry.uri) > 0) said_of_.erase(one.entry.uri);
  return made->is_unchanged ? has_not_changed(one.entry) : put(std::move(*made), one.entry);
}

result<cut_document> indexer::cut_one(const listed& one, const std::stop_token& stop) {
  const auto where = on_->where();
  if (!where) return fail(errc::cancelled, "the server is stopping");
  const auto& entry = one.entry;
  const auto in = where->now();
  // The source that masks the text may have changed since the listing, and the listed title was masked by the old one.
  if (making_of(*in.catalog, entry.uri) != one.made) return fail(errc::content_changed, "its source has changed");
  const auto found = known_.find(entry.uri);
  // A text that was made differently is read whole, even if its version is known.
  auto version = found != known_.end() && found->second.made == one.made ? found->second.version : std::string();
  // The stored title may come from the content. A new description alone would lose it.
  const bool is_described_anew = found != known_.end() && !is_described(found->second, entry, digest_of(document_of(entry)));
  if (is_described_anew && (entry.title.empty() || is_provisional(entry))) version.clear();
  try {
    auto made = cut(own_call(stop), in, entry, version, on_->options.largest);
    if (made) made->what.made = one.made;
    if (made && made->failed) say_of(entry.uri, "cannot be read", *made->failed);
    return made;
  } catch (const std::exception& error) {
    // The exception concerns only this resource.
    cut_document made;
    made.what = document_of(entry);
    made.what.made = one.made;
    made.what.problem = "it could not be indexed";
    say_of(entry.uri, "could not be indexed", {errc::internal, error.what(), {}});
    return made;
  }
}

result<indexer::outcome> indexer::cannot_be_read(const resource& entry, const failure& why) {
  if (why.code == errc::resource_not_found) {
    HONDANA_TRY(forget(entry.uri));
    return outcome::gone;
  }
  say_of(entry.uri, "cannot be read now", why);
  unread_.insert(entry.uri);
  return outcome::later;
}

result<indexer::outcome> indexer::has_not_changed(const resource& entry) {
  auto& known = known_[entry.uri];
  auto what = document_of(entry);
  known.seen = look_;
  // The stored title may come from the content; no list has it.
  const auto described = digest_of(what);
  if (is_described(known, entry, described)) return outcome::same;
  what.version = known.version;
  known.described = described;
  auto done = on_->kept->describe(what);
  if (!done && done.error().code != errc::invalid_argument) return tl::unexpected(std::move(done.error()));
  if (!done) say_of(entry.uri, "has a description that cannot be stored", done.error());
  // The title is part of the text that is embedded.
  has_more_vectors_ = has_more_vectors_ || on_->embedder != nullptr;
  return outcome::same;
}

result<indexer::outcome> indexer::put(cut_document made, const resource& entry) {
  const auto listed = digest_of(document_of(entry));
  made.what.listed = listed;
  const auto passages = kept_of(made);
  HONDANA_TRY(const auto has_room, make_room(entry.uri, passages));
  if (!has_room) {
    left_out_.insert_or_assign(entry.uri, left_out{made.what.version, listed, look_, passages});
    return outcome::left_out;
  }
  left_out_.erase(entry.uri);
  HONDANA_TRY(put_what_can_be(made));
  if (on_->embedder) {
    for (const auto& one : made.passages)
      new_digests_.push_back(digest_of_text(text_to_embed(made.what, one.heading, one.text)));
    has_more_vectors_ = true;
  }
  auto& known = known_[entry.uri];
  known.version = std::move(made.what.version);
  known.made = std::move(made.what.made);
  known.described = listed;
  known.has_text = made.what.problem.empty();
  known.is_tried = true;
  known.seen = look_;
  watch(entry.uri, known);
  return outcome::indexed;
}

result<bool> indexer::make_room(const std::string& uri, std::uint64_t passages) {
  if (passages_ + passages <= on_->options.most_passages) return true;
  // Removing the current passages of the document frees space.
  if (known_.contains(uri)) {
    HONDANA_TRY(auto gone, on_->kept->remove(uri));
    take_gone(gone);
    if (passages_ + passages <= on_->options.most_passages) return true;
    if (known_[uri].is_watched) unwatch(uri);
    known_.erase(uri);
  }
  return false;
}

result<void> indexer::put_what_can_be(cut_document& made) {
  auto gone = on_->kept->put(made.what, made.passages);
  if (!gone && gone.error().code == errc::invalid_argument) {
    say_of(made.what.uri, "is indexed by its name only", gone.error());
    made.passages.clear();
    made.what.problem = "its text cannot be stored";
    for (auto* text : {&made.what.name, &made.what.title, &made.what.description, &made.what.mime_type, &made.what.kind,
                       &made.what.language})
      mend(*text);
    gone = on_->kept->put(made.what, {});
  }
  if (gone) {
    passages_ += kept_of(made);
    take_gone(*gone);
    return {};
  }
  if (gone.error().code != errc::invalid_argument) return tl::unexpected(std::move(gone.error()));
  // Treat it as indexed, so that it is not retried forever.
  auto uri = made.what.uri;
  mend(uri);
  say_of(uri, "cannot be indexed at all", gone.error());
  return {};
}

void indexer::take_gone(std::span<const passage_id> those) {
  gone_.insert(gone_.end(), those.begin(), those.end());
  passages_ -= std::min<std::uint64_t>(passages_, those.size());
}

result<void> indexer::forget(const std::string& uri) {
  pending_.erase(uri);
  left_out_.erase(uri);
  unread_.erase(uri);
  said_of_.erase(uri);
  HONDANA_TRY(const auto gone, on_->kept->remove(uri));
  take_gone(gone);
  if (const auto found = known_.find(uri); found != known_.end()) {
    if (found->second.is_watched) unwatch(uri);
    known_.erase(found);
  }
  return {};
}

void indexer::shed() {
  if (passages_ <= on_->options.most_passages) return;
  while (passages_ > on_->options.most_passages && !known_.empty()) {
    const auto uri = known_.begin()->first;
    auto out = left_out{known_.begin()->second.version, known_.begin()->second.described, look_, passages_};
    if (auto done = forget(uri); !done) return begin_anew(done.error());
    out.passages -= passages_;
    left_out_.insert_or_assign(uri, std::move(out));
  }
  // Commit now, so that nothing waits for this transaction while sources are listed.
  if (auto done = commit(); !done) begin_anew(done.error());
}

void indexer::look_for_what_fits() {
  if (left_out_.empty()) return troubles_.end(trouble::room);
  troubles_.have(trouble::room, "the index has reached its limit of " + std::to_string(on_->options.most_passages) +
                                    " passages (most_passages); resources that do not fit are not indexed, such as " +
                                    left_out_.begin()->first);
  const bool is_room_for_some = std::any_of(left_out_.begin(), left_out_.end(), [this](const auto& one) {
    // Resources that could not be read have a retry already.
    return !unread_.contains(one.first) && passages_ + one.second.passages <= on_->options.most_passages;
  });
  if (is_room_for_some) next_look_ = clock::now();
}

}  // namespace hondana::search
