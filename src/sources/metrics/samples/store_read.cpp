/// Reads the time-series store: samples, names, labels, metadata and statistics.

#include <algorithm>
#include <functional>

#include <hondana/clock.hpp>

#include "sources/metrics/samples/sample_encoding.hpp"
#include "sources/metrics/samples/store_state.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::samples {
namespace {

/// Readers to keep open for reuse.
constexpr std::size_t max_idle_readers = 4;

/// A time limit for completion, whose results are useless if late. Without matchers there is none: the search is fast, and the
/// results must be complete.
std::function<bool()> make_time_limit(const series::selector& selector) {
  constexpr std::chrono::seconds max_duration{1};
  if (selector.matchers.empty()) return {};
  return [deadline = monotonic_clock::now() + max_duration] { return monotonic_clock::now() >= deadline; };
}

/// The state of a series in memory at the time of a query.
struct series_snapshot {
  std::int64_t id = 0;
  series::identity identity{};
  series::instant first = max_instant, last = min_instant, newest = min_instant;
  bool may_overlap = false;
  std::vector<std::shared_ptr<const head_entry>> closed_heads{};
  std::optional<head> open_head{};
};

result<void> check_limits(const query_limits& limits) {
  if (limits.stop.stop_requested()) return fail(errc::cancelled, "reading metrics was cancelled");
  if (monotonic_clock::now() >= limits.deadline)
    return fail(errc::timed_out, "reading metrics timed out; request a shorter time range or fewer series");
  return {};
}

tl::unexpected<failure> too_many_series(std::size_t count, std::size_t max_count) {
  return series::too_large_with_advice(std::to_string(count) + " series match, and at most " + std::to_string(max_count) +
                                       " may be read at once; select fewer with a matcher, such as a label's value");
}

tl::unexpected<failure> too_many_samples(std::size_t count, std::size_t max_count) {
  return series::too_large_with_advice("the matching series have " + std::to_string(count) +
                                       " samples or more in that time range, and at most " + std::to_string(max_count) +
                                       " may be read at once; request a shorter time range or fewer series");
}

/// Reads the samples from `start` to `end` in the chunks of a series. Starts at the last chunk that begins at or before
/// `search_start`, which is `start` unless chunks overlap.
result<void> read_chunks(sqlite::statement& start_statement, sqlite::statement& chunk_statement, std::int64_t id,
                         series::instant search_start, series::instant start, series::instant end, const query_limits& limits,
                         std::vector<series::sample>& output) {
  HONDANA_TRY(const auto has_row, start_statement.bind(1, id).bind(2, search_start).step());
  const auto begin = has_row ? start_statement.number(0) : search_start;
  start_statement.reset();
  chunk_statement.bind(1, id).bind(2, begin).bind(3, end);
  for (std::size_t i = 0;; ++i) {
    HONDANA_TRY(const auto has_chunk, chunk_statement.step());
    if (!has_chunk) break;
    if (!decode_chunk(chunk_statement.bytes(0), start, end, output)) {
      chunk_statement.reset();
      return tl::unexpected(
          sqlite::corruption_failure("the metrics store is damaged; restart the server to remove the unreadable parts",
                                     "a chunk of series " + std::to_string(id)));
    }
    if (i % 64 == 63 || output.size() > limits.max_samples) {
      auto checked = check_limits(limits);
      if (checked && output.size() > limits.max_samples) checked = too_many_samples(output.size(), limits.max_samples);
      if (!checked) {
        chunk_statement.reset();
        return checked;
      }
    }
  }
  chunk_statement.reset();
  return {};
}

}  // namespace

result<void> store::state::reader::prepare(sqlite::connection& database) {
  const std::pair<sqlite::statement*, const char*> statements[]{
      {&chunks, "SELECT data FROM chunks WHERE series=? AND first>=? AND first<=? ORDER BY first"},
      {&coarse, "SELECT data FROM coarse WHERE series=? AND first>=? AND first<=? ORDER BY first"},
      {&chunk_start, "SELECT first FROM chunks WHERE series=? AND first<=? ORDER BY first DESC LIMIT 1"},
      {&coarse_start, "SELECT first FROM coarse WHERE series=? AND first<=? ORDER BY first DESC LIMIT 1"},
      {&last_chunk, "SELECT id,data,count FROM chunks WHERE series=? AND first<=? ORDER BY first DESC LIMIT 1"},
      {&last_coarse, "SELECT id,data,count FROM coarse WHERE series=? AND first<=? ORDER BY first DESC LIMIT 1"},
  };
  for (const auto& [target, sql] : statements) {
    HONDANA_TRY(auto prepared, database.prepare(sql));
    *target = std::move(prepared);
  }
  return {};
}

result<std::unique_ptr<store::state::reader>> store::state::new_reader() const {
  auto out = std::make_unique<reader>();
  if (is_in_memory) {
    // The lease holds the writers' lock, so it may use their connection.
    HONDANA_TRY(out->prepare(file.writer));
    return out;
  }
  HONDANA_TRY(auto connection, sqlite::connection::open(options.path, std::string(store_description)));
  out->connection = std::move(connection);
  HONDANA_TRY(out->connection.execute("PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-4096"));
  HONDANA_TRY(out->prepare(out->connection));
  return out;
}

result<store::state::reader_lease> store::state::reader_lease::acquire(const state& owner) {
  std::unique_lock<ticket_mutex> write_lock(owner.write_mutex, std::defer_lock);
  if (owner.is_in_memory) write_lock.lock();
  std::unique_ptr<reader> out;
  {
    const std::lock_guard lock(owner.idle_mutex);
    if (!owner.idle_readers.empty()) {
      out = std::move(owner.idle_readers.back());
      owner.idle_readers.pop_back();
    }
  }
  if (!out) {
    HONDANA_TRY(auto created, owner.new_reader());
    out = std::move(created);
  }
  return reader_lease(owner, std::move(out), std::move(write_lock));
}

store::state::reader_lease::~reader_lease() {
  if (!reader_) return;
  const std::lock_guard lock(owner_->idle_mutex);
  if (owner_->idle_readers.size() < max_idle_readers) owner_->idle_readers.push_back(std::move(reader_));
}

/// A read transaction: several statements see the same state of the file.
class read_transaction {
 public:
  explicit read_transaction(sqlite::connection& connection) noexcept
      : connection_(connection.is_open() ? &connection : nullptr) {}
  read_transaction(const read_transaction&) = delete;
  read_transaction& operator=(const read_transaction&) = delete;
  [[nodiscard]] result<void> begin() {
    if (connection_ == nullptr) return {};
    return connection_->execute("BEGIN");
  }
  ~read_transaction() {
    if (connection_ == nullptr || !connection_->is_in_transaction()) return;
    const auto outcome = connection_->execute("COMMIT");
    static_cast<void>(outcome);  // nothing was written
  }

 private:
  sqlite::connection* connection_;
};

namespace {

/// The series that match and are included, in order of identity, with their state in memory. `is_included` decides by the state
/// of a series.
template <class Predicate>
result<std::vector<series_snapshot>> snapshot_series(
    const series_index& index, const std::vector<series_state>& series_states,
    const std::unordered_map<slot, std::vector<std::shared_ptr<const head_entry>>>& closed_heads,
    const series::selector& selector, const query_limits& limits, const Predicate& is_included, bool is_last_only) {
  bool is_stopped = false;
  auto slots = index.select(selector, [&] { return is_stopped = !check_limits(limits).has_value(); });
  if (is_stopped) {
    HONDANA_TRY(check_limits(limits));
  }
  std::erase_if(slots, [&](slot slot_index) { return !is_included(series_states[slot_index]); });
  if (slots.size() > limits.max_series) return too_many_series(slots.size(), limits.max_series);
  std::vector<series_snapshot> out;
  out.reserve(slots.size());
  for (const auto matched_slot : slots) {
    const auto& state = series_states[matched_slot];
    series_snapshot snapshot{
        state.id, index.identity_of(matched_slot), state.first, state.last, state.newest, state.may_overlap, {}, {}};
    if (state.open_head) snapshot.open_head = state.open_head->samples;
    if (const auto heads = closed_heads.find(matched_slot);
        heads != closed_heads.end() && !(is_last_only && snapshot.open_head))
      snapshot.closed_heads = heads->second;
    out.push_back(std::move(snapshot));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.identity < b.identity; });
  return out;
}

}  // namespace

result<std::vector<series::time_series>> store::read(const series::selector& selector, series::instant start,
                                                     series::instant end, const query_limits& limits) const {
  std::vector<series_snapshot> snapshots;
  {
    const std::shared_lock lock(state_->memory_mutex);
    auto matches = snapshot_series(
        state_->index, state_->series_states, state_->closed_heads, selector, limits,
        [&](const series_state& entry) { return entry.first <= end && entry.last >= start; }, false);
    if (!matches) return tl::unexpected(std::move(matches.error()));
    snapshots = std::move(*matches);
  }
  std::vector<series::time_series> out;
  if (snapshots.empty() || start > end) return out;
  HONDANA_TRY(auto lease, state::reader_lease::acquire(*state_));
  read_transaction transaction(lease->connection);
  HONDANA_TRY(transaction.begin());
  std::size_t count = 0;
  for (auto& snapshot : snapshots) {
    HONDANA_TRY(check_limits(limits));
    series::time_series points{std::move(snapshot.identity), {}};
    auto remaining = limits;
    remaining.max_samples -= count;
    result<void> outcome{};
    if (state_->has_coarse)
      outcome = read_chunks(lease->coarse_start, lease->coarse, snapshot.id, snapshot.may_overlap ? min_instant : start, start,
                            end, remaining, points.samples);
    const auto search_start = snapshot.may_overlap ? subtract_clamped(start, max_chunk_duration) : start;
    // Ignore samples that were appended and written to chunks after the query began. Samples of other series in the same batch
    // might be missing.
    const auto read_end = std::min(end, snapshot.last);
    if (outcome)
      outcome =
          read_chunks(lease->chunk_start, lease->chunks, snapshot.id, search_start, start, read_end, remaining, points.samples);
    if (!outcome) {
      if (sqlite::is_corruption(outcome.error()) && !state_->is_in_memory) sqlite::mark_suspect(state_->options.path);
      return tl::unexpected(std::move(outcome.error()));
    }
    for (const auto& closed_head : snapshot.closed_heads) closed_head->samples.read(start, end, points.samples);
    if (snapshot.open_head) snapshot.open_head->read(start, end, points.samples);
    series::sort_samples(points.samples);
    count += points.samples.size();
    if (count > limits.max_samples) return too_many_samples(count, limits.max_samples);
    if (!points.samples.empty()) out.push_back(std::move(points));
  }
  return out;
}

result<std::vector<series::time_series>> store::last(const series::selector& selector, series::instant start,
                                                     const query_limits& limits) const {
  std::vector<series_snapshot> snapshots;
  {
    const std::shared_lock lock(state_->memory_mutex);
    auto matches = snapshot_series(
        state_->index, state_->series_states, state_->closed_heads, selector, limits,
        [&](const series_state& entry) { return entry.newest != min_instant && entry.newest >= start; }, true);
    if (!matches) return tl::unexpected(std::move(matches.error()));
    snapshots = std::move(*matches);
  }
  std::vector<series::time_series> out;
  std::optional<state::reader_lease> lease;
  for (auto& snapshot : snapshots) {
    if (snapshot.open_head || !snapshot.closed_heads.empty()) {
      out.push_back({std::move(snapshot.identity),
                     {snapshot.open_head ? snapshot.open_head->last() : snapshot.closed_heads.back()->samples.last()}});
      continue;
    }
    HONDANA_TRY(check_limits(limits));
    if (!lease) {
      HONDANA_TRY(auto acquired, state::reader_lease::acquire(*state_));
      lease.emplace(std::move(acquired));
    }
    std::vector<series::sample> samples;
    if (snapshot.may_overlap) {
      HONDANA_TRY(read_chunks((*lease)->chunk_start, (*lease)->chunks, snapshot.id,
                              subtract_clamped(snapshot.newest, max_chunk_duration), snapshot.newest, snapshot.newest, limits,
                              samples));
    }
    for (auto* statement : {&(*lease)->last_chunk, &(*lease)->last_coarse}) {
      if (!samples.empty()) break;
      HONDANA_TRY(const auto has_row, statement->bind(1, snapshot.id).bind(2, snapshot.newest).step());
      if (has_row && !decode_chunk(statement->bytes(1), start, snapshot.newest, samples)) samples.clear();
      statement->reset();
    }
    if (!samples.empty()) out.push_back({std::move(snapshot.identity), {samples.back()}});
  }
  return out;
}

std::vector<std::string> store::metric_names(std::string_view prefix, series::instant start, std::size_t max_count) const {
  const std::shared_lock lock(state_->memory_mutex);
  std::vector<std::string> out;
  const auto has_samples = [&](std::string_view name) {
    const auto* slots = state_->index.find_by_name(name);
    return slots != nullptr && std::any_of(slots->begin(), slots->end(), [&](slot slot_index) {
             return state_->series_states[slot_index].last != min_instant && state_->series_states[slot_index].last >= start;
           });
  };
  // If a name equals the prefix, it comes first. No search is needed then.
  if (max_count == 1 && has_samples(prefix)) {
    out.emplace_back(prefix);
    return out;
  }
  for (auto& name : state_->index.metric_names(prefix)) {
    if (out.size() >= max_count) break;
    if (has_samples(name)) out.push_back(std::move(name));
  }
  return out;
}

std::vector<std::string> store::label_names(const series::selector& selector, std::size_t max_count) const {
  const std::shared_lock lock(state_->memory_mutex);
  return state_->index.label_names(state_->index.select(selector, make_time_limit(selector)), max_count);
}

std::vector<std::string> store::label_values(const series::selector& selector, std::string_view label, std::string_view prefix,
                                             std::size_t max_count) const {
  const std::shared_lock lock(state_->memory_mutex);
  return state_->index.label_values(state_->index.select(selector, make_time_limit(selector)), label, prefix, max_count);
}

std::optional<series::metadata> store::find_metadata(std::string_view name) const {
  const std::shared_lock lock(state_->memory_mutex);
  const auto& families = state_->families;
  if (const auto exact = families.find(name); exact != families.end()) return exact->second;
  for (const std::string_view suffix : {"_bucket", "_count", "_sum", "_total", "_created", "_info"}) {
    if (!name.ends_with(suffix)) continue;
    const auto match = families.find(name.substr(0, name.size() - suffix.size()));
    if (match != families.end() && series::family_of(name, match->second.kind) == match->first) return match->second;
  }
  return std::nullopt;
}

statistics store::statistics() const {
  samples::statistics out;
  {
    const std::shared_lock lock(state_->memory_mutex);
    out.samples = state_->in_memory_samples;
    out.memory_bytes = state_->memory_used;
    for (slot slot_index = 0; slot_index < state_->index.end_slot(); ++slot_index) {
      if (!state_->index.has(slot_index)) continue;
      const auto& entry = state_->series_states[slot_index];
      if (entry.last == min_instant) continue;
      ++out.series;
      out.oldest = std::min(out.oldest.value_or(entry.first), entry.first);
      out.newest = std::max(out.newest.value_or(entry.last), entry.last);
    }
  }
  out.samples += static_cast<std::uint64_t>(std::max<std::int64_t>(state_->chunk_samples, 0));
  if (!state_->is_in_memory) out.bytes = sqlite::bytes_on_disk(state_->options.path);
  return out;
}

}  // namespace hondana::samples
