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
constexpr std::chrono::seconds source_grace_period{5};
/// Schemes that change all the time or belong to other servers; indexed only if `include` names them.
constexpr std::array<std::string_view, 5> opt_in_schemes{"log:", "metrics:", "git:", "env:", "mcp:"};

}  // namespace

std::vector<std::string> indexer::claims() const {
  std::vector<std::string> out;
  const auto holder = index_->services();
  if (!holder) return out;
  const auto services = holder->current();
  for (const auto& source : services.catalog->sources()) {
    for (auto& claim : source->get_provider()->claims()) {
      const auto& include = index_->options.include;
      const bool is_named = std::any_of(include.begin(), include.end(), [&](const std::string& prefix) {
        return claim.starts_with(prefix) || prefix.starts_with(claim);
      });
      const bool is_opt_in = std::any_of(opt_in_schemes.begin(), opt_in_schemes.end(),
                                         [&](std::string_view scheme) { return claim.starts_with(scheme); });
      if (claim.starts_with("search:")) continue;
      if (include.empty() ? !is_opt_in : is_named) out.push_back(std::move(claim));
    }
  }
  return out;
}

bool indexer::is_included(std::string_view uri) const {
  const auto begins = [uri](const std::string& prefix) { return uri.starts_with(prefix); };
  const auto& include = index_->options.include;
  const auto& exclude = index_->options.exclude;
  if (!include.empty() && std::none_of(include.begin(), include.end(), begins)) return false;
  return std::none_of(exclude.begin(), exclude.end(), begins) && !uri.starts_with("search:");
}

void indexer::scan(const std::stop_token& stop) {
  ++scan_number_;
  std::uint64_t scan = 0;
  {
    const std::lock_guard lock(mutex_);
    scan = started_scans_;
  }
  next_scan_ = clock::now() + index_->options.scan_interval;
  remove_excess();
  if (needs_load_) return;
  const auto all_claims = claims();
  scan_claims(all_claims, stop);
  if (stop.stop_requested() || needs_load_) return;
  remove_unseen(all_claims);
  if (needs_load_) return;
  index_pending(stop);
  if (stop.stop_requested() || needs_load_) return;
  index_->has_scanned = true;
  store_failures_ = 0;
  publish_missing();
  {
    const std::lock_guard lock(mutex_);
    finished_scans_ = scan;
    if (is_scan_complete_) completed_scans_ = scan;
  }
  notify_progress();
}

void indexer::scan_claims(const std::vector<std::string>& claims, const std::stop_token& stop) {
  std::string reason;
  unlisted_.clear();
  for (const auto& claim : claims) {
    const auto status = scan_claim(claim, stop);
    if (stop.stop_requested()) return;
    if (status) continue;
    unlisted_.push_back(claim);
    reason += (reason.empty() ? "cannot list " : "; and ") + claim + ": " + status.error().public_text;
    if (!status.error().private_text.empty()) reason += " (" + status.error().private_text + ')';
    next_scan_ = std::min(next_scan_,
                          clock::now() + std::max<std::chrono::milliseconds>(retry_delay, index_->options.scan_interval / 4));
    // Keep all documents below this claim until it can be listed again.
    for (auto& [uri, known] : known_) {
      if (uri_covers(claim, uri)) known.last_scan = scan_number_;
    }
  }
  // Until here, `is_scan_complete_` describes the previous scan, because the listing was not complete yet.
  is_scan_complete_ = unlisted_.empty();
  if (reason.empty()) return problems_.resolve(problem_kind::lists);
  problems_.report(problem_kind::lists, reason);
}

void indexer::remove_unseen(const std::vector<std::string>& claims) {
  // A program adds its sources one after the other. Keep documents that no source serves until all sources can be there.
  const auto grace_end = started_at_ + source_grace_period;
  const bool has_grace_ended = clock::now() >= grace_end;
  std::vector<std::string> removed;
  for (const auto& [uri, known] : known_) {
    if (known.last_scan == scan_number_) continue;
    const auto is_served = [&uri](const std::string& claim) { return uri_covers(claim, uri); };
    if (has_grace_ended || std::any_of(claims.begin(), claims.end(), is_served)) {
      removed.push_back(uri);
    } else {
      next_scan_ = std::min(next_scan_, grace_end);
    }
  }
  for (const auto& uri : removed) {
    if (auto status = remove_document(uri); !status) return restart(status.error());
  }
  std::erase_if(omitted_, [this](const auto& entry) { return entry.second.last_scan != scan_number_; });
  std::erase_if(unread_, [this](const std::string& uri) { return !pending_.contains(uri) && !known_.contains(uri); });
  if (auto status = commit(); !status) restart(status.error());
}

result<void> indexer::scan_claim(const std::string& claim, const std::stop_token& stop) {
  const auto holder = index_->services();
  if (!holder) return fail(errc::cancelled, "the server is stopping");
  const auto services = holder->current();
  model::resource_filter prefix_filter;
  prefix_filter.uri_prefix = claim;
  const auto filter = std::make_shared<const catalog::list_filter>(prefix_filter);
  std::optional<std::string> cursor;
  do {
    const auto context = make_context(stop);
    auto page = tools::await<model::resource_page>(context, [&](catalog::completion<model::resource_page> completion) {
      services.catalog->list(context, cursor, filter, std::move(completion));
    });
    if (!page) return tl::unexpected(std::move(page.error()));
    for (auto& entry : page->resources) {
      if (!is_included(entry.uri)) continue;
      auto processing = processing_id(*services.catalog, entry.uri);
      if (!needs_reading(entry, processing)) continue;
      auto uri = entry.uri;
      pending_.insert_or_assign(std::move(uri), pending_entry{std::move(entry), std::move(processing)});
    }
    cursor = std::move(page->next_cursor);
    publish_state(false);
  } while (cursor && !stop.stop_requested());
  return {};
}

bool indexer::has_description(const known_entry& known, const resource& entry, std::uint64_t listed_digest) {
  // Reading may have given a better description than the source has before reading.
  return listed_digest == known.listed_digest ||
         (known.has_text && is_provisional(entry) && agree_except_content(listed_digest, known.listed_digest));
}

bool indexer::needs_reading(const resource& entry, const std::string& processing) {
  const auto listed_digest = digest_of(make_document(entry));
  if (const auto omitted = omitted_.find(entry.uri); omitted != omitted_.end()) {
    auto& record = omitted->second;
    record.last_scan = scan_number_;
    const bool is_same = !entry.version.empty() && entry.version == record.version && listed_digest == record.listed_digest;
    return !is_same || passages_ + record.passages <= index_->options.max_passages;
  }
  const auto position = known_.find(entry.uri);
  if (position == known_.end()) return true;
  auto& known = position->second;
  known.last_scan = scan_number_;
  // Also watch resources that were indexed before the start.
  watch(entry.uri, known);
  if (unread_.contains(entry.uri) || known.processing != processing) return true;
  const bool is_same_version =
      is_listing(entry) ? known.version == listing_version : !entry.version.empty() && entry.version == known.version;
  return !is_same_version || !has_description(known, entry, listed_digest);
}

bool indexer::process_changes(const std::stop_token& stop) {
  std::set<std::string> changed;
  {
    const std::lock_guard lock(mutex_);
    changed.swap(changed_uris_);
  }
  const auto holder = index_->services();
  if (!holder || changed.empty()) return false;
  std::vector<std::string> removed;
  for (const auto& uri : changed) {
    if (stop.stop_requested() || needs_load_) return false;
    const auto services = holder->current();
    const auto context = make_context(stop);
    auto entry = tools::await<resource>(context, [&](catalog::completion<resource> completion) {
      services.catalog->describe(context, uri, std::move(completion));
    });
    if (entry) {
      // A new resource may be readable but not listed. The list decides, and its change causes a scan.
      if (known_.contains(uri))
        pending_.insert_or_assign(uri, pending_entry{std::move(*entry), processing_id(*services.catalog, uri)});
    } else if (entry.error().code == errc::resource_not_found) {
      removed.push_back(uri);
    } else if (known_.contains(uri)) {
      // Read it with the next scan, even if the list gives the known version.
      log_problem(uri, "cannot be looked up", entry.error());
      unread_.insert(uri);
      next_scan_ = std::min(next_scan_, clock::now() + retry_delay);
    }
  }
  // From the first change to its commit, other writers and searches in memory wait. So no source is called in between.
  result<void> status{};
  for (const auto& uri : removed) {
    if (status) status = remove_document(uri);
  }
  if (status) status = commit();
  if (!status) restart(status.error());
  return status.has_value();
}

namespace {

using clock = monotonic_clock;

/// A commit costs about as much as indexing several documents. Searches wait for it only if the index is in memory.
constexpr std::chrono::milliseconds commit_interval{300};
constexpr std::chrono::seconds log_interval{10};

/// Limit of URIs whose problems have been logged. Beyond it all are cleared, so they may be logged again.
constexpr std::size_t max_logged = 10'000;

std::uint64_t passage_count(const chunked_document& chunked) { return std::max<std::size_t>(chunked.passages.size(), 1); }

/// Replaces malformed bytes by U+FFFD.
void replace_malformed(std::string& text) {
  if (json::is_utf8(text)) return;
  std::string out;
  json::append_replacing(out, text);
  text = std::move(out);
}

}  // namespace

void indexer::log_problem(const std::string& uri, std::string_view problem, const failure& error) {
  if (logged_.size() >= max_logged) logged_.clear();
  if (!logged_.insert(uri).second) return;
  auto line = uri + ' ' + std::string(problem) + ": " + error.public_text;
  if (!error.private_text.empty()) line += " (" + error.private_text + ')';
  index_->log_line(line);
}

void indexer::index_pending(const std::stop_token& stop) {
  const auto begin = clock::now();
  auto next_report = begin + log_interval;
  auto next_commit = begin + commit_interval;
  const auto total = pending_.size();
  std::size_t count = 0;
  bool has_deferred = false;
  while (!pending_.empty() && !stop.stop_requested()) {
    const auto node = pending_.extract(pending_.begin());
    const auto outcome = index_entry(node.mapped(), stop);
    if (!outcome) return restart(outcome.error());
    has_deferred = has_deferred || *outcome == indexer::outcome::deferred;
    ++count;
    const auto now = clock::now();
    if (is_in_memory() || now >= next_commit || pending_.empty()) {
      next_commit = now + commit_interval;
      if (auto committed = commit(); !committed) return restart(committed.error());
      // The state after the last commit is reported below, together with problems.
      if (!pending_.empty()) publish_state(now >= next_count_);
    }
    if (now >= next_report) {
      next_report = now + log_interval;
      index_->log_line(std::to_string(count) + " of " + std::to_string(total) + " resources indexed");
    }
  }
  if (has_deferred) {
    is_scan_complete_ = false;
    next_scan_ = std::min(next_scan_, clock::now() + retry_delay);
  }
  if (unread_.empty()) {
    problems_.resolve(problem_kind::resources);
  } else {
    problems_.report(problem_kind::resources, "some resources cannot be read now and are retried");
  }
  retry_omitted();
  if (total >= 100) {
    const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin).count();
    index_->log_line(std::to_string(count) + " resources indexed in " + std::to_string(elapsed) + " ms");
  }
  if (total > 0) publish_missing();
  publish_state(true);
}

result<indexer::outcome> indexer::index_entry(const pending_entry& pending, const std::stop_token& stop) {
  auto chunked = read_entry(pending, stop);
  if (stop.stop_requested()) return outcome::deferred;
  if (!chunked) return handle_read_failure(pending.entry, chunked.error());
  // If it fails again, log that again.
  if (unread_.erase(pending.entry.uri) > 0) logged_.erase(pending.entry.uri);
  return chunked->is_unchanged ? handle_unchanged(pending.entry) : store_document(std::move(*chunked), pending.entry);
}

result<chunked_document> indexer::read_entry(const pending_entry& pending, const std::stop_token& stop) {
  const auto holder = index_->services();
  if (!holder) return fail(errc::cancelled, "the server is stopping");
  const auto& entry = pending.entry;
  const auto services = holder->current();
  // The source that masks the text may have changed since the listing, and the listed title was masked by the old one.
  if (processing_id(*services.catalog, entry.uri) != pending.processing)
    return fail(errc::content_changed, "its source has changed");
  const auto position = known_.find(entry.uri);
  // A text that was made differently is read whole, even if its version is known.
  auto version =
      position != known_.end() && position->second.processing == pending.processing ? position->second.version : std::string();
  // The stored title may come from the content. A new description alone would lose it.
  const bool has_new_description =
      position != known_.end() && !has_description(position->second, entry, digest_of(make_document(entry)));
  if (has_new_description && (entry.title.empty() || is_provisional(entry))) version.clear();
  try {
    auto chunked = read_document(make_context(stop), services, entry, version, index_->options.max_resource_bytes);
    if (chunked) chunked->metadata.processing = pending.processing;
    if (chunked && chunked->error) log_problem(entry.uri, "cannot be read", *chunked->error);
    return chunked;
  } catch (const std::exception& error) {
    // The exception concerns only this resource.
    chunked_document chunked;
    chunked.metadata = make_document(entry);
    chunked.metadata.processing = pending.processing;
    chunked.metadata.problem = "it could not be indexed";
    log_problem(entry.uri, "could not be indexed", {errc::internal, error.what(), {}});
    return chunked;
  }
}

result<indexer::outcome> indexer::handle_read_failure(const resource& entry, const failure& error) {
  if (error.code == errc::resource_not_found) {
    HONDANA_TRY(remove_document(entry.uri));
    return outcome::removed;
  }
  log_problem(entry.uri, "cannot be read now", error);
  unread_.insert(entry.uri);
  return outcome::deferred;
}

result<indexer::outcome> indexer::handle_unchanged(const resource& entry) {
  auto& known = known_[entry.uri];
  auto document = make_document(entry);
  known.last_scan = scan_number_;
  // The stored title may come from the content; no list has it.
  const auto listed_digest = digest_of(document);
  if (has_description(known, entry, listed_digest)) return outcome::unchanged;
  document.version = known.version;
  known.listed_digest = listed_digest;
  auto status = index_->storage->describe(document);
  if (!status && status.error().code != errc::invalid_argument) return tl::unexpected(std::move(status.error()));
  if (!status) log_problem(entry.uri, "has a description that cannot be stored", status.error());
  // The title is part of the text that is embedded.
  has_more_vectors_ = has_more_vectors_ || index_->embedder != nullptr;
  return outcome::unchanged;
}

result<indexer::outcome> indexer::store_document(chunked_document chunked, const resource& entry) {
  const auto listed_digest = digest_of(make_document(entry));
  chunked.metadata.listed_digest = listed_digest;
  const auto passages = passage_count(chunked);
  HONDANA_TRY(const auto has_space, make_space(entry.uri, passages));
  if (!has_space) {
    omitted_.insert_or_assign(entry.uri, omitted_entry{chunked.metadata.version, listed_digest, scan_number_, passages});
    return outcome::omitted;
  }
  omitted_.erase(entry.uri);
  HONDANA_TRY(store_with_fallback(chunked));
  if (index_->embedder) {
    for (const auto& passage : chunked.passages)
      new_digests_.push_back(digest_of_text(text_to_embed(chunked.metadata, passage.heading, passage.text)));
    has_more_vectors_ = true;
  }
  auto& known = known_[entry.uri];
  known.version = std::move(chunked.metadata.version);
  known.processing = std::move(chunked.metadata.processing);
  known.listed_digest = listed_digest;
  known.has_text = chunked.metadata.problem.empty();
  known.was_read = true;
  known.last_scan = scan_number_;
  watch(entry.uri, known);
  return outcome::indexed;
}

result<bool> indexer::make_space(const std::string& uri, std::uint64_t passages) {
  if (passages_ + passages <= index_->options.max_passages) return true;
  // Removing the current passages of the document frees space.
  if (known_.contains(uri)) {
    HONDANA_TRY(auto removed, index_->storage->remove(uri));
    record_removed(removed);
    if (passages_ + passages <= index_->options.max_passages) return true;
    if (known_[uri].is_watched) unwatch(uri);
    known_.erase(uri);
  }
  return false;
}

result<void> indexer::store_with_fallback(chunked_document& chunked) {
  auto removed = index_->storage->put(chunked.metadata, chunked.passages);
  if (!removed && removed.error().code == errc::invalid_argument) {
    log_problem(chunked.metadata.uri, "is indexed by its name only", removed.error());
    chunked.passages.clear();
    chunked.metadata.problem = "its text cannot be stored";
    for (auto* text : {&chunked.metadata.name, &chunked.metadata.title, &chunked.metadata.description,
                       &chunked.metadata.mime_type, &chunked.metadata.kind, &chunked.metadata.language})
      replace_malformed(*text);
    removed = index_->storage->put(chunked.metadata, {});
  }
  if (removed) {
    passages_ += passage_count(chunked);
    record_removed(*removed);
    return {};
  }
  if (removed.error().code != errc::invalid_argument) return tl::unexpected(std::move(removed.error()));
  // Treat it as indexed, so that it is not retried forever.
  auto uri = chunked.metadata.uri;
  replace_malformed(uri);
  log_problem(uri, "cannot be indexed at all", removed.error());
  return {};
}

void indexer::record_removed(std::span<const passage_id> ids) {
  removed_.insert(removed_.end(), ids.begin(), ids.end());
  passages_ -= std::min<std::uint64_t>(passages_, ids.size());
}

result<void> indexer::remove_document(const std::string& uri) {
  pending_.erase(uri);
  omitted_.erase(uri);
  unread_.erase(uri);
  logged_.erase(uri);
  HONDANA_TRY(const auto removed, index_->storage->remove(uri));
  record_removed(removed);
  if (const auto position = known_.find(uri); position != known_.end()) {
    if (position->second.is_watched) unwatch(uri);
    known_.erase(position);
  }
  return {};
}

void indexer::remove_excess() {
  if (passages_ <= index_->options.max_passages) return;
  while (passages_ > index_->options.max_passages && !known_.empty()) {
    const auto uri = known_.begin()->first;
    auto omitted = omitted_entry{known_.begin()->second.version, known_.begin()->second.listed_digest, scan_number_, passages_};
    if (auto status = remove_document(uri); !status) return restart(status.error());
    omitted.passages -= passages_;
    omitted_.insert_or_assign(uri, std::move(omitted));
  }
  // Commit now, so that nothing waits for this transaction while sources are listed.
  if (auto status = commit(); !status) restart(status.error());
}

void indexer::retry_omitted() {
  if (omitted_.empty()) return problems_.resolve(problem_kind::capacity);
  problems_.report(problem_kind::capacity, "the index has reached its limit of " +
                                               std::to_string(index_->options.max_passages) +
                                               " passages (max_passages); resources that do not fit are not indexed, such as " +
                                               omitted_.begin()->first);
  const bool can_fit = std::any_of(omitted_.begin(), omitted_.end(), [this](const auto& entry) {
    // Resources that could not be read have a retry already.
    return !unread_.contains(entry.first) && passages_ + entry.second.passages <= index_->options.max_passages;
  });
  if (can_fit) next_scan_ = clock::now();
}

}  // namespace hondana::search
