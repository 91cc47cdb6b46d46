/// Opens the time-series store, loads its file into memory, and appends batches.
#include "sources/metrics/samples/store.hpp"

#include <unistd.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/metrics/samples/sample_encoding.hpp"
#include "sources/metrics/samples/store_state.hpp"

namespace hondana::samples {
namespace {

// `upto`: the last row of `tail` whose samples of this series are all in chunks. `turned`: 1 if these chunks may overlap.
constexpr const char* schema = R"(
CREATE TABLE series(id INTEGER PRIMARY KEY, identity BLOB NOT NULL);
CREATE TABLE ends(series INTEGER PRIMARY KEY, upto INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, newest INTEGER NOT NULL, turned INTEGER NOT NULL);
CREATE TABLE families(name TEXT PRIMARY KEY, kind TEXT NOT NULL, unit TEXT NOT NULL, help TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tail(batch INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE chunks(id INTEGER PRIMARY KEY, series INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX chunks_of ON chunks(series, first);
CREATE INDEX chunks_by_last ON chunks(last);
CREATE TABLE coarse(id INTEGER PRIMARY KEY, series INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX coarse_of ON coarse(series, first);
CREATE INDEX coarse_by_last ON coarse(last);
CREATE TABLE totals(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO totals VALUES('samples', 0);
)";

// The store controls syncing. SQLite syncs at checkpoints, and the store syncs the log every `sync_interval`.
constexpr const char* settings =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; "
    "PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192";

}  // namespace

const sqlite::file_kind& store_file_kind() noexcept {
  static constexpr sqlite::file_kind kind{
      .name = store_description.data(),
      .purpose = "store metrics",
      .in_use_reason = "another process uses it for its metrics",
      .application_id = 0x686f6e64,  // "hond"
      .schema_version = 1,
      .schema = schema,
      .setup = "PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL",
      .settings = settings,
  };
  return kind;
}

namespace {

/// The most rows of the tail, so that a damaged row number cannot request much memory.
constexpr std::uint64_t max_tail_rows = 1u << 24;
/// Greater series IDs only occur in damaged files.
constexpr std::int64_t max_series_id = std::int64_t{1} << 53;

std::uint64_t random_seed() {
  std::uint64_t out = 0;
  if (::getentropy(&out, sizeof out) != 0) out = static_cast<std::uint64_t>(monotonic_clock::now().time_since_epoch().count());
  return out;
}

}  // namespace

store::state::state(store_options initial_options)
    : options(std::move(initial_options)), is_in_memory(options.path.empty()), index(random_seed()) {}

store::state::~state() {
  if (maintenance_thread.joinable()) {
    is_closing = is_urgent = true;
    maintenance_thread.request_stop();
    maintenance_thread.join();
  }
}

result<void> store::state::prepare() {
  const auto prepare_statement = [&](sqlite::statement& statement, const char* sql) -> result<void> {
    HONDANA_TRY(auto prepared, file.writer.prepare(sql));
    statement = std::move(prepared);
    return {};
  };
  const std::pair<sqlite::statement*, const char*> statements[]{
      {&insert_series, "INSERT INTO series VALUES(?,?)"},
      {&insert_tail, "INSERT INTO tail VALUES(?,?)"},
      {&insert_family, "INSERT OR REPLACE INTO families VALUES(?,?,?,?)"},
      {&insert_chunk, "INSERT INTO chunks(series,first,last,count,data) VALUES(?,?,?,?,?)"},
      {&insert_coarse, "INSERT INTO coarse(series,first,last,count,data) VALUES(?,?,?,?,?)"},
      {&upsert_ends,
       "INSERT INTO ends VALUES(?1,?2,?3,?4,?5,?6) ON CONFLICT(series) DO UPDATE SET upto=max(upto,?2), first=min(first,?3), "
       "last=max(last,?4), newest=?5, turned=max(turned,?6)"},
      {&add_total, "UPDATE totals SET value=value+? WHERE name='samples'"},
      {&delete_tail, "DELETE FROM tail WHERE batch<?"},
      {&delete_chunk, "DELETE FROM chunks WHERE id=?"},
      {&delete_coarse, "DELETE FROM coarse WHERE id=?"},
  };
  for (const auto& [target, sql] : statements) HONDANA_TRY(prepare_statement(*target, sql));
  return {};
}

result<void> store::state::drop_corrupt_chunks() {
  std::size_t count = 0;
  HONDANA_TRY(auto transaction, sqlite::transaction::begin(file.writer));
  for (const bool is_coarse : {false, true}) {
    HONDANA_TRY(auto rows,
                file.writer.prepare(is_coarse ? "SELECT id,count,data FROM coarse" : "SELECT id,count,data FROM chunks"));
    std::vector<std::pair<std::int64_t, std::int64_t>> corrupt;
    std::vector<series::sample> samples;
    for (;;) {
      HONDANA_TRY(const auto has_row, rows.step());
      if (!has_row) break;
      samples.clear();
      if (!decode_chunk(rows.bytes(2), min_instant, max_instant, samples)) corrupt.emplace_back(rows.number(0), rows.number(1));
    }
    rows.reset();
    for (const auto& [id, sample_count] : corrupt) {
      HONDANA_TRY((is_coarse ? delete_coarse : delete_chunk).bind(1, id).execute());
      HONDANA_TRY(add_total.bind(1, -sample_count).execute());
    }
    count += corrupt.size();
  }
  HONDANA_TRY(transaction.commit());
  if (count > 0) write_log(std::to_string(count) + " damaged chunks were removed from the metrics store");
  sqlite::clear_suspect(options.path);
  return {};
}

result<void> store::state::load() {
  std::unordered_map<std::int64_t, slot> by_id;
  std::unordered_map<std::int64_t, std::uint64_t> flushed_through;
  HONDANA_TRY(
      auto series_rows,
      file.writer.prepare(
          "SELECT s.id,s.identity,e.upto,e.first,e.last,e.newest,e.turned FROM series s LEFT JOIN ends e ON e.series=s.id"));
  for (;;) {
    HONDANA_TRY(const auto has_series, series_rows.step());
    if (!has_series) break;
    const auto identity = decode_identity(series_rows.bytes(1));
    const auto id = series_rows.number(0);
    if (id < max_series_id) next_id = std::max(next_id, id + 1);
    if (!identity || id >= max_series_id || index.find(*identity)) {
      write_log("an unreadable series of the metrics store is left out");
      continue;
    }
    const auto slot_index = add_series(*identity, id, true);
    by_id.emplace(id, slot_index);
    if (series_rows.is_null(2)) continue;
    flushed_through.emplace(id, static_cast<std::uint64_t>(series_rows.number(2)));
    next_batch = std::max(next_batch, static_cast<std::uint64_t>(series_rows.number(2)) + 1);
    auto& entry = series_states[slot_index];
    entry.first = series_rows.number(3);
    entry.last = series_rows.number(4);
    entry.newest = last_accepted[slot_index] = series_rows.number(5);
    entry.may_overlap = series_rows.number(6) != 0;
    newest = std::max(newest, entry.last);
  }
  HONDANA_TRY(auto family_rows, file.writer.prepare("SELECT name,kind,unit,help FROM families"));
  for (;;) {
    HONDANA_TRY(const auto has_family, family_rows.step());
    if (!has_family) break;
    families.insert_or_assign(std::string(family_rows.bytes(0)),
                              series::metadata{series::parse_kind(family_rows.bytes(1)), std::string(family_rows.bytes(2)),
                                               std::string(family_rows.bytes(3))});
  }
  HONDANA_TRY(auto total, file.writer.number("SELECT value FROM totals WHERE name='samples'"));
  chunk_samples = total;
  HONDANA_TRY(auto coarse, file.writer.number("SELECT EXISTS(SELECT 1 FROM coarse)"));
  has_coarse = coarse != 0;

  std::vector<numbered_sample> row;
  std::int64_t batch_number = 0;
  for (bool is_first = true;; is_first = false) {
    // One row at a time: between rows, `ensure_capacity` may write on the same connection.
    HONDANA_TRY(auto row_query, file.writer.prepare("SELECT batch,data FROM tail WHERE batch>? ORDER BY batch LIMIT 1"));
    HONDANA_TRY(const auto has_row, row_query.bind(1, batch_number).step());
    if (!has_row) break;
    batch_number = row_query.number(0);
    const auto number = static_cast<std::uint64_t>(batch_number);
    if (batch_number <= 0 || (!tail_rows.empty() && number - first_tail_row > max_tail_rows))
      return tl::unexpected(
          sqlite::corruption_failure("the metrics store is damaged", "row " + std::to_string(batch_number) + " of the tail"));
    if (is_first) tail_start = number;
    next_batch = std::max(next_batch, number + 1);
    row.clear();
    if (!decode_tail_row(row_query.bytes(1), row)) write_log("an unreadable batch of the metrics store is left out");
    begin_batch(number, row_query.bytes(1).size());
    for (const auto& item : row) {
      // A new series must not get the ID of a deleted one whose samples are still in the tail.
      if (item.series_id < max_series_id) next_id = std::max(next_id, item.series_id + 1);
      const auto match = by_id.find(item.series_id);
      if (match == by_id.end()) continue;
      if (const auto flushed = flushed_through.find(item.series_id);
          flushed != flushed_through.end() && flushed->second >= number)
        continue;
      add_sample(match->second, item.sample, number);
      last_accepted[match->second] = item.sample.time;
    }
    row_query.reset();
    if (memory_used >= options.max_memory_bytes) {
      HONDANA_TRY(ensure_capacity());
    }
  }
  if (tail_rows.empty()) first_tail_row = next_batch;
  if (batch_number == 0) tail_start = next_batch;  // the tail is empty, so there are no rows to delete from the first on
  trusted_newest = newest;
  return {};
}

namespace {

constexpr std::size_t max_identity_bytes = 64u << 10;
constexpr std::size_t max_families = 100'000;
constexpr std::size_t max_help_bytes = 1000;
/// Series that are added per lock, so that readers wait for less than a millisecond.
constexpr std::size_t insert_batch_size = 256;
/// Limits of a head, in samples, bytes and milliseconds. The number of samples depends on the series, so that the heads of one
/// scrape do not all end at the same time.
constexpr std::size_t min_head_samples = 96, head_size_spread = 48;
constexpr std::size_t max_head_bytes = 1500;
constexpr series::duration max_head_duration = 2LL * 3'600'000;
constexpr std::size_t no_slot = static_cast<std::size_t>(-1);

bool is_within_limits(const series::identity& identity) noexcept {
  std::size_t bytes = identity.name.size();
  for (const auto& [name, value] : identity.labels) bytes += name.size() + value.size();
  return identity.labels.size() <= series_index::max_labels && bytes <= max_identity_bytes;
}

/// Cuts the help text at the end of a UTF-8 character.
series::metadata truncate_help(series::metadata metadata) {
  if (metadata.help.size() <= max_help_bytes) return metadata;
  auto end = max_help_bytes;
  while (end > 0 && (static_cast<unsigned char>(metadata.help[end]) & 0xc0) == 0x80) --end;
  metadata.help.resize(end);
  return metadata;
}

}  // namespace

/// The state of one append.
struct store::state::append_state {
  std::vector<std::size_t> slots{};  // of each entry; `no_slot`: ignored
  std::vector<numbered_sample> row{};
  std::vector<slot> row_slots{};
  std::vector<std::pair<slot, series::instant>> undo{};
  std::vector<std::pair<slot, const series::identity*>> unwritten{};
  std::vector<std::pair<std::string_view, series::metadata>> families{};
  std::size_t row_bytes = 0;
  append_result result{};
};

series::instant store::state::now() const {
  if (options.clock) return options.clock();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

slot store::state::add_series(const series::identity& identity, std::int64_t id, bool is_written) {
  const auto slot_index = index.add(identity);
  if (slot_index >= series_states.size()) {
    series_states.resize(slot_index + 1);
    last_accepted.resize(slot_index + 1, min_instant);
  }
  series_states[slot_index] = series_state{};
  series_states[slot_index].id = id;
  series_states[slot_index].is_written = is_written;
  last_accepted[slot_index] = min_instant;
  return slot_index;
}

void store::state::begin_batch(std::uint64_t number, std::size_t bytes) {
  if (tail_rows.empty()) first_tail_row = number;
  tail_rows.resize(static_cast<std::size_t>(number - first_tail_row) + 1);
  tail_rows.back().bytes = static_cast<std::uint32_t>(std::min<std::size_t>(bytes, 0xffffffffu));
  tail_bytes += tail_rows.back().bytes;
}

void store::state::close_head(slot slot_index) {
  auto& entry = series_states[slot_index];
  if (!entry.open_head) return;
  closed_heads[slot_index].push_back(std::move(entry.open_head));
  flush_queue.push_back(slot_index);
}

void store::state::add_sample(slot slot_index, series::sample sample, std::uint64_t batch) {
  auto& entry = series_states[slot_index];
  if (entry.open_head && (sample.time <= entry.open_head->samples.last().time ||
                          sample.time > add_clamped(entry.open_head->samples.first(), max_head_duration)))
    close_head(slot_index);
  std::size_t previous_bytes = 0;
  if (!entry.open_head) {
    entry.open_head = std::make_unique<head_entry>();
    entry.open_head->first_batch = batch;
    ++tail_rows[static_cast<std::size_t>(batch - first_tail_row)].head_count;
  } else {
    previous_bytes = entry.open_head->samples.memory_bytes();
  }
  auto& head = *entry.open_head;
  head.samples.add(sample);
  head.last_batch = batch;
  memory_used += head.samples.memory_bytes() - previous_bytes;
  ++in_memory_samples;
  entry.may_overlap = entry.may_overlap || sample.time <= entry.last;
  entry.first = std::min(entry.first, sample.time);
  entry.last = std::max(entry.last, sample.time);
  entry.newest = sample.time;
  newest = std::max(newest, sample.time);
  const auto max_samples =
      min_head_samples + static_cast<std::size_t>(static_cast<std::uint64_t>(entry.id) * 0x9e3779b1u >> 8) % head_size_spread;
  if (head.samples.count() >= max_samples || head.samples.size() >= max_head_bytes) close_head(slot_index);
}

void store::state::find_slots(const batch& batch, append_state& pending) {
  pending.slots.assign(batch.entries.size(), no_slot);
  std::vector<std::size_t> new_entries;
  for (std::size_t i = 0; i < batch.entries.size(); ++i) {
    if (const auto existing = index.find(batch.entries[i].identity)) {
      pending.slots[i] = *existing;
    } else {
      new_entries.push_back(i);
    }
  }
  for (std::size_t i = 0; i < new_entries.size(); i += insert_batch_size) {
    const std::lock_guard lock(memory_mutex);
    for (std::size_t j = i; j < std::min(i + insert_batch_size, new_entries.size()); ++j) {
      const auto& identity = batch.entries[new_entries[j]].identity;
      if (const auto existing = index.find(identity)) {  // twice in this batch
        pending.slots[new_entries[j]] = *existing;
      } else if (index.size() < options.max_series && is_within_limits(identity)) {
        pending.slots[new_entries[j]] = add_series(identity, next_id++, false);
      } else {
        ++pending.result.over_limit;
      }
    }
  }
}

void store::state::accept(const batch& batch, append_state& pending) {
  const auto max_time = add_clamped(now(), options.max_ahead);
  pending.row.reserve(batch.entries.size());
  pending.row_slots.reserve(batch.entries.size());
  for (std::size_t i = 0; i < batch.entries.size(); ++i) {
    if (pending.slots[i] == no_slot) continue;
    const auto slot_index = static_cast<slot>(pending.slots[i]);
    const auto& sample = batch.entries[i].sample;
    if (sample.time > max_time || sample.time == min_instant) {
      ++pending.result.too_far_ahead;
      continue;
    }
    // A last sample beyond `max_time` was stored while the clock was ahead. It must not block current samples.
    if (sample.time <= last_accepted[slot_index] && last_accepted[slot_index] <= max_time) {
      ++pending.result.out_of_order;
      continue;
    }
    pending.undo.emplace_back(slot_index, last_accepted[slot_index]);
    last_accepted[slot_index] = sample.time;
    if (!series_states[slot_index].is_written) pending.unwritten.emplace_back(slot_index, &batch.entries[i].identity);
    pending.row.push_back({series_states[slot_index].id, sample});
    pending.row_slots.push_back(slot_index);
  }
  pending.result.stored = pending.row.size();
}

result<void> store::state::write(const batch& batch, append_state& pending) {
  for (const auto& [name, metadata] : batch.families) {
    auto truncated = truncate_help(metadata);
    const auto existing = families.find(name);
    if (existing == families.end() ? families.size() + pending.families.size() >= max_families : existing->second == truncated)
      continue;
    pending.families.emplace_back(name, std::move(truncated));
  }
  if (pending.row.empty() && pending.families.empty()) return {};
  auto transaction = sqlite::transaction::begin(file.writer);
  if (!transaction) return tl::unexpected(std::move(transaction.error()));
  for (const auto& [slot_index, identity] : pending.unwritten) {
    if (series_states[slot_index].is_written) continue;
    const auto bytes = encode_identity(*identity);
    HONDANA_TRY(insert_series.bind(1, series_states[slot_index].id).bind(2, bytes).execute());
  }
  for (const auto& [name, family_metadata] : pending.families) {
    HONDANA_TRY(insert_family.bind_text(1, name)
                    .bind_text(2, series::name_of(family_metadata.kind))
                    .bind_text(3, family_metadata.unit)
                    .bind_text(4, family_metadata.help)
                    .execute());
  }
  if (!pending.row.empty()) {
    const auto bytes = encode_tail_row(pending.row);
    pending.row_bytes = bytes.size();
    HONDANA_TRY(insert_tail.bind(1, static_cast<std::int64_t>(next_batch)).bind(2, bytes).execute());
  }
  return transaction->commit();
}

result<void> store::state::ensure_capacity() {
  if (memory_used < options.max_memory_bytes) return {};
  is_urgent = true;
  const std::lock_guard lock(compaction_mutex);
  is_urgent = false;
  if (memory_used < options.max_memory_bytes) return {};
  close_due_heads(false);
  while (memory_used >= options.max_memory_bytes) {
    const auto has_flushed = flush_batch();
    if (!has_flushed) return tl::unexpected(has_flushed.error());
    if (!*has_flushed && memory_used >= options.max_memory_bytes)
      return fail(errc::overloaded, "no memory left for more samples; scrape fewer series, or less often");
  }
  return {};
}

result<append_result> store::state::append(const batch& batch) {
  HONDANA_TRY(ensure_capacity());
  const std::lock_guard write_lock(write_mutex);
  append_state pending;
  find_slots(batch, pending);
  accept(batch, pending);
  // A new series that occurs twice in the batch is written once.
  std::sort(pending.unwritten.begin(), pending.unwritten.end());
  pending.unwritten.erase(std::unique(pending.unwritten.begin(), pending.unwritten.end(),
                                      [](const auto& a, const auto& b) { return a.first == b.first; }),
                          pending.unwritten.end());
  if (auto written = write(batch, pending); !written) {
    for (auto it = pending.undo.rbegin(); it != pending.undo.rend(); ++it) last_accepted[it->first] = it->second;
    if (sqlite::is_corruption(written.error()) && !is_in_memory) sqlite::mark_suspect(options.path);
    return tl::unexpected(std::move(written.error()));
  }
  const std::lock_guard memory_lock(memory_mutex);
  for (const auto& [slot_index, unused] : pending.unwritten) series_states[slot_index].is_written = true;
  for (auto& [name, metadata] : pending.families) families.insert_or_assign(std::string(name), std::move(metadata));
  if (!pending.row.empty()) {
    begin_batch(next_batch, pending.row_bytes);
    for (std::size_t i = 0; i < pending.row.size(); ++i) add_sample(pending.row_slots[i], pending.row[i].sample, next_batch);
    ++next_batch;
    is_unsynced = true;
  }
  return pending.result;
}

store::store(std::unique_ptr<state> new_state) noexcept : state_(std::move(new_state)) {}
store::~store() = default;

result<std::unique_ptr<store>> store::open(store_options options) {
  for (bool is_second = false;; is_second = true) {
    auto file = sqlite::open_owned(options.path, store_file_kind(), options.log);
    if (!file) return tl::unexpected(std::move(file.error()));
    auto opened = std::make_unique<state>(options);
    opened->file = std::move(*file);
    auto ready = opened->prepare();
    if (ready && opened->file.was_suspect) ready = opened->drop_corrupt_chunks();
    if (ready) ready = opened->load();
    if (ready) {
      opened->start();
      return std::unique_ptr<store>(new store(std::move(opened)));
    }
    if (is_second || opened->is_in_memory || !sqlite::is_corruption(ready.error()))
      return tl::unexpected(std::move(ready.error()));
    // SQLite found the damage only while loading. The lock stays held while the file is moved.
    auto lock = std::move(opened->file.lock);
    opened.reset();
    HONDANA_TRY(sqlite::quarantine(options.path, store_file_kind(), ready.error().private_text, options.log));
  }
}

result<append_result> store::append(const batch& batch) { return state_->append(batch); }

result<void> store::compact(series::instant now) {
  const std::lock_guard lock(state_->compaction_mutex);
  return state_->compact(now, true);
}

}  // namespace hondana::samples
