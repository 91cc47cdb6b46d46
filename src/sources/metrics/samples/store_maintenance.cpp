/// The background work of the time-series store: flushes to chunks, syncs, retention and size limits.

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <map>

#include <hondana/clock.hpp>

#include "base/executor/thread_guards.hpp"
#include "sources/metrics/samples/bit_stream.hpp"
#include "sources/metrics/samples/downsampling.hpp"
#include "sources/metrics/samples/sample_encoding.hpp"
#include "sources/metrics/samples/store_state.hpp"
#include "sources/metrics/series/data_model.hpp"

namespace hondana::samples {
namespace {

/// Series whose chunks are written in one transaction, which takes about 5 ms.
constexpr std::size_t flush_batch_size = 192;
/// Series that are checked while readers wait.
constexpr slot sweep_batch_size = 8192;
constexpr std::int64_t tail_batch_size = 32;
/// A chunk with fewer samples is merged with the previous one, up to this many samples.
constexpr std::size_t small_chunk_samples = 60, max_merged_samples = 240;
constexpr series::duration max_open_duration = 2LL * 3'600'000;
constexpr std::uint64_t max_log_bytes = 4u << 20;
constexpr std::uint64_t max_tail_bytes = 64u << 20;
constexpr std::chrono::seconds sweep_interval{10}, expiry_interval{60};

/// The contents of a new chunk, and the chunk that it replaces.
struct pending_chunk {
  std::vector<series::sample> samples{};
  std::string bytes{};
  std::int64_t replaced = 0;  // 0: none
  std::size_t replaced_count = 0;
};

struct series_chunks {
  std::int64_t id = 0;
  std::uint64_t flushed_through = 0;
  series::instant newest = min_instant;
  bool may_overlap = false;
  std::vector<pending_chunk> chunks{};
};

bool can_merge(const pending_chunk& previous, const std::vector<series::sample>& next) {
  return previous.samples.size() + next.size() <= max_merged_samples && previous.samples.back().time < next.front().time &&
         wrapped_difference(next.back().time, previous.samples.front().time) <= max_chunk_duration &&
         wrapped_difference(next.back().time, previous.samples.front().time) > 0 &&
         (previous.samples.size() < small_chunk_samples || next.size() < small_chunk_samples);
}

}  // namespace

void store::state::write_log(const std::string& line) const {
  if (options.log) options.log(line);
}

void store::state::close_due_heads(bool is_all) {
  // If the tail is too large, close the heads that began in the older half of its rows.
  std::uint64_t min_open_row = 0;
  {
    const std::shared_lock lock(memory_mutex);
    if (tail_bytes > max_tail_bytes) min_open_row = first_tail_row + tail_rows.size() / 2;
  }
  std::size_t min_samples = 64;  // of samples, when memory is short
  do {
    const bool is_memory_low = memory_used > options.max_memory_bytes / 4 * 3;
    std::size_t closed_count = 0;
    for (slot begin = 0;; begin += sweep_batch_size) {
      const std::lock_guard write_lock(write_mutex);
      const std::lock_guard lock(memory_mutex);
      if (begin >= series_states.size()) break;
      for (slot slot_index = begin; slot_index < std::min<std::size_t>(begin + sweep_batch_size, series_states.size());
           ++slot_index) {
        const auto* head = series_states[slot_index].open_head.get();
        if (head == nullptr) continue;
        if (is_all || head->first_batch < min_open_row || newest > add_clamped(head->samples.first(), max_open_duration) ||
            (is_memory_low && head->samples.count() >= min_samples)) {
          close_head(slot_index);
          ++closed_count;
        }
      }
    }
    if (!is_memory_low || closed_count > 0) break;
    min_samples /= 8;
  } while (min_samples > 0);
}

result<bool> store::state::flush_batch() {
  std::vector<std::pair<slot, std::shared_ptr<const head_entry>>> flushed;
  // for each of these: the last row whose samples of the series are all in this head or earlier ones
  std::vector<std::uint64_t> completed_rows;
  std::map<slot, series_chunks> by_slot;
  {
    const std::shared_lock lock(memory_mutex);
    std::map<slot, std::size_t> taken_counts;
    for (std::size_t i = 0; i < flush_queue.size() && i < flush_batch_size; ++i) {
      const auto slot_index = flush_queue[i];
      const auto& heads = closed_heads.at(slot_index);
      flushed.emplace_back(slot_index, heads[taken_counts[slot_index]++]);
      const auto* const next = taken_counts[slot_index] < heads.size() ? heads[taken_counts[slot_index]].get()
                                                                       : series_states[slot_index].open_head.get();
      const auto last = flushed.back().second->last_batch;
      // If a batch has a series twice, it may end one head and begin the next.
      completed_rows.push_back(next != nullptr && next->first_batch == last ? last - 1 : last);
      by_slot[slot_index].id = series_states[slot_index].id;
      by_slot[slot_index].may_overlap = series_states[slot_index].may_overlap;
    }
  }
  if (flushed.empty()) return false;
  {
    // Encode, and read the previous chunks, without blocking writers: only the holder of `compaction_mutex` changes chunks.
    HONDANA_TRY(auto lease, reader_lease::acquire(*this));
    for (std::size_t i = 0; i < flushed.size(); ++i) {
      const auto& [slot_index, head] = flushed[i];
      std::vector<series::sample> samples;
      head->samples.read(min_instant, max_instant, samples);
      auto& target = by_slot[slot_index];
      target.flushed_through = std::max(target.flushed_through, completed_rows[i]);
      target.newest = samples.back().time;
      if (target.chunks.empty() && samples.size() < small_chunk_samples) {
        auto& query = lease->last_chunk;
        query.bind(1, target.id).bind(2, samples.front().time);
        HONDANA_TRY(const auto has_row, query.step());
        pending_chunk last;
        if (has_row && query.number(2) < static_cast<std::int64_t>(small_chunk_samples) &&
            decode_chunk(query.bytes(1), min_instant, max_instant, last.samples) && can_merge(last, samples)) {
          last.replaced = query.number(0);
          last.replaced_count = last.samples.size();
          target.chunks.push_back(std::move(last));
        }
        query.reset();
      }
      if (!target.chunks.empty() && can_merge(target.chunks.back(), samples)) {
        auto& last = target.chunks.back().samples;
        last.insert(last.end(), samples.begin(), samples.end());
      } else {
        target.chunks.push_back({std::move(samples), {}, 0, 0});
      }
    }
    for (auto& [slot_index, group] : by_slot)
      for (auto& chunk : group.chunks) chunk.bytes = encode_chunk(chunk.samples);
  }
  const std::lock_guard write_lock(write_mutex);
  HONDANA_TRY(auto transaction, sqlite::transaction::begin(file.writer));
  std::int64_t change = 0;
  for (auto& [slot_index, group] : by_slot) {
    auto first = max_instant, last = min_instant;
    for (const auto& chunk : group.chunks) {
      if (chunk.replaced != 0) {
        HONDANA_TRY(delete_chunk.bind(1, chunk.replaced).execute());
      }
      HONDANA_TRY(insert_chunk.bind(1, group.id)
                      .bind(2, chunk.samples.front().time)
                      .bind(3, chunk.samples.back().time)
                      .bind(4, static_cast<std::int64_t>(chunk.samples.size()))
                      .bind(5, chunk.bytes)
                      .execute());
      change += static_cast<std::int64_t>(chunk.samples.size()) - static_cast<std::int64_t>(chunk.replaced_count);
      first = std::min(first, chunk.samples.front().time);
      last = std::max(last, chunk.samples.back().time);
    }
    HONDANA_TRY(upsert_ends.bind(1, group.id)
                    .bind(2, static_cast<std::int64_t>(group.flushed_through))
                    .bind(3, first)
                    .bind(4, last)
                    .bind(5, group.newest)
                    .bind(6, group.may_overlap ? 1 : 0)
                    .execute());
  }
  HONDANA_TRY(add_total.bind(1, change).execute());
  HONDANA_TRY(transaction.commit());
  chunk_samples += change;
  remove_written(flushed);
  return true;
}

void store::state::remove_written(const std::vector<std::pair<slot, std::shared_ptr<const head_entry>>>& flushed) {
  const std::lock_guard lock(memory_mutex);
  for (const auto& [slot_index, head] : flushed) {
    auto& heads = closed_heads.at(slot_index);
    heads.erase(heads.begin());
    if (heads.empty()) closed_heads.erase(slot_index);
    flush_queue.pop_front();
    memory_used -= head->samples.memory_bytes();
    in_memory_samples -= head->samples.count();
    --tail_rows[static_cast<std::size_t>(head->first_batch - first_tail_row)].head_count;
  }
  while (!tail_rows.empty() && tail_rows.front().head_count == 0) {
    tail_bytes -= tail_rows.front().bytes;
    tail_rows.pop_front();
    ++first_tail_row;
  }
  is_unsynced = true;
}

result<void> store::state::flush_all() {
  while (!is_closing) {
    HONDANA_TRY(const auto has_more, flush_batch());
    if (!has_more) return drop_tail();
  }
  return {};
}

result<void> store::state::drop_tail() {
  for (;;) {
    const std::lock_guard write_lock(write_mutex);
    const auto end_row = tail_rows.empty() ? next_batch : first_tail_row;
    if (tail_start >= end_row) return {};
    const auto next = std::min(end_row, tail_start + static_cast<std::uint64_t>(tail_batch_size));
    HONDANA_TRY(delete_tail.bind(1, static_cast<std::int64_t>(next)).execute());
    tail_start = next;
  }
}

result<void> store::state::checkpoint(bool is_forced) {
  if (is_in_memory) return {};
  const auto log_bytes = sqlite::bytes_on_disk(options.path + "-wal");
  if (!is_forced && log_bytes < max_log_bytes) return {};
  HONDANA_TRY(auto lease, reader_lease::acquire(*this));
  // Never while a writer is active: before SQLite 3.51.3, the file can be damaged if one of two connections restarts the log.
  const std::lock_guard write_lock(write_mutex);
  return lease->connection.checkpoint();
}

result<void> store::state::compact(series::instant time, bool is_all) {
  const auto now_steady = monotonic_clock::now();
  if (is_all || is_urgent || last_sweep == std::chrono::steady_clock::time_point{} ||
      now_steady - last_sweep >= sweep_interval || memory_used > options.max_memory_bytes / 4 * 3) {
    last_sweep = now_steady;
    close_due_heads(is_all);
  }
  HONDANA_TRY(flush_all());
  if (is_all || last_expiry == std::chrono::steady_clock::time_point{} || now_steady - last_expiry >= expiry_interval) {
    last_expiry = now_steady;
    series::instant latest = min_instant;
    if (is_all) {
      const std::shared_lock lock(memory_mutex);
      latest = std::min(time, newest);
      trusted_newest = newest;
    } else {
      latest = update_trusted_newest(time);
    }
    if (latest != min_instant) {
      HONDANA_TRY(expire(latest));
    }
  }
  return checkpoint(is_all);
}

void store::state::start() {
  if (!is_in_memory) {
    // SQLite takes no locks on this file, so closing this descriptor releases none.
    log_file = disk::handle(::open((options.path + "-wal").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!log_file.is_open())
      write_log("the write-ahead log of the metrics store cannot be synced: " + std::string(std::strerror(errno)));
  }
  const executor::signal_blocker blocked;
  maintenance_thread = std::jthread([this](const std::stop_token& stop) { run_maintenance(stop); });
}

/// Turns exceptions, such as out of memory, into a failure of this round.
result<void> store::state::compact_safely() {
  try {
    return compact(now(), false);
  } catch (const std::exception& error) {
    return fail(errc::source_unavailable, "samples cannot be compacted", error.what());
  }
}

void store::state::run_maintenance(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock wakeup_lock(wakeup_mutex);
      monotonic_clock::wait_for(wakeup, wakeup_lock, stop, std::max(options.sync_interval, std::chrono::milliseconds(10)),
                                [] { return false; });
    }
    if (log_file.is_open() && is_unsynced.exchange(false) && ::fdatasync(log_file.get()) != 0) {
      is_unsynced = true;
      write_log("the write-ahead log of the metrics store cannot be synced: " + std::string(std::strerror(errno)));
    }
    if (stop.stop_requested()) break;
    const std::lock_guard lock(compaction_mutex);
    auto outcome = compact_safely();
    const auto message = outcome ? std::string() : outcome.error().public_text + " (" + outcome.error().private_text + ')';
    if (!outcome && sqlite::is_corruption(outcome.error()) && !is_in_memory) sqlite::mark_suspect(options.path);
    // Log a repeated problem only once.
    if (message != last_logged && !message.empty()) write_log(message);
    last_logged = message;
  }
}

namespace {

using steady = monotonic_clock;

/// The longest time that a part of this work may block writers.
constexpr std::chrono::milliseconds max_block_time{5};
constexpr std::size_t downsample_batch_size = 64;
constexpr std::size_t max_coarse_samples = 240;
constexpr std::size_t trim_batch_size = 50;
constexpr std::size_t removal_batch_size = 128;
constexpr series::duration one_day = 86'400'000;
constexpr std::chrono::minutes trust_delay{10};
/// Free pages to keep in the file for later samples.
constexpr std::int64_t spare_pages = 256;

}  // namespace

series::instant store::state::update_trusted_newest(series::instant time) {
  const std::shared_lock lock(memory_mutex);
  if (newest == min_instant) return min_instant;
  const auto latest = std::min(time, newest);
  if (trusted_newest == min_instant || latest <= add_clamped(trusted_newest, one_day)) {
    trusted_newest = std::max(trusted_newest, latest);
    doubtful_newest = min_instant;
    return std::min(latest, trusted_newest);
  }
  if (doubtful_newest == min_instant) doubtful_since = steady::now();
  doubtful_newest = latest;
  if (steady::now() - doubtful_since >= trust_delay) {
    trusted_newest = latest;
    doubtful_newest = min_instant;
  }
  return std::min(time, trusted_newest);
}

bool store::state::is_counter(slot slot_index) const {
  const auto name = index.name_of(slot_index);
  const auto family_kind = [&](std::string_view suffix) -> std::optional<series::kind> {
    if (!name.ends_with(suffix)) return std::nullopt;
    const auto match = families.find(name.substr(0, name.size() - suffix.size()));
    return match == families.end() ? std::nullopt : std::optional(match->second.kind);
  };
  if (const auto exact = families.find(name); exact != families.end() && exact->second.kind != series::kind::unknown)
    return exact->second.kind == series::kind::counter;
  for (const std::string_view suffix : {"_bucket", "_count", "_sum"}) {
    const auto kind = family_kind(suffix);
    if (kind == series::kind::histogram || (kind == series::kind::summary && suffix != "_bucket")) return true;
  }
  return name.ends_with("_total") || name.ends_with("_bucket");
}

result<void> store::state::expire(series::instant time) {
  // Round down to multiples of `grain`, so that down-sampled chunks have a reasonable size.
  const auto grain = std::max<series::duration>(options.retention / 64, std::max<series::duration>(options.coarse_step, 1));
  auto raw_cutoff = subtract_clamped(time, options.retention);
  if (raw_cutoff > min_instant + grain) raw_cutoff -= ((raw_cutoff % grain) + grain) % grain;
  const auto coarse_cutoff =
      std::min(raw_cutoff, subtract_clamped(time, std::max(options.coarse_retention, options.retention)));
  for (bool is_more = true; is_more && !is_urgent;) {
    HONDANA_TRY(auto has_expired, expire_batch(raw_cutoff, coarse_cutoff));
    is_more = has_expired;
  }
  for (bool is_more = true; is_more && !is_urgent;) {
    HONDANA_TRY(auto has_trimmed, trim_batch());
    is_more = has_trimmed;
  }
  std::size_t count = 0;
  {
    const std::shared_lock lock(memory_mutex);
    count = index.size();
  }
  // If the limit of series is nearly reached, also remove series that only have down-sampled samples.
  HONDANA_TRY(remove_expired_series(count > options.max_series / 10 * 9 ? raw_cutoff : coarse_cutoff));
  return shrink();
}

result<bool> store::state::expire_batch(series::instant raw_cutoff, series::instant coarse_cutoff) {
  const auto deadline = steady::now() + max_block_time;
  const std::lock_guard write_lock(write_mutex);
  HONDANA_TRY(auto transaction, sqlite::transaction::begin(file.writer));
  HONDANA_TRY(auto oldest, file.writer.prepare("SELECT series FROM chunks WHERE last<? ORDER BY last LIMIT 1"));
  std::int64_t change = 0;
  bool is_more = true, is_changed = false;
  do {
    HONDANA_TRY(const auto has_row, oldest.bind(1, raw_cutoff).step());
    const auto id = has_row ? oldest.number(0) : 0;
    oldest.reset();
    if (!has_row) {
      is_more = false;
      break;
    }
    HONDANA_TRY(downsample_series(id, raw_cutoff, change));
    is_changed = true;
  } while (steady::now() < deadline);
  if (!is_more && has_coarse) {
    HONDANA_TRY(auto rows, file.writer.prepare("SELECT id,count FROM coarse WHERE last<? ORDER BY last LIMIT 200"));
    std::vector<std::pair<std::int64_t, std::int64_t>> removed;
    rows.bind(1, coarse_cutoff);
    for (;;) {
      HONDANA_TRY(const auto has_row, rows.step());
      if (!has_row) break;
      removed.emplace_back(rows.number(0), rows.number(1));
    }
    rows.reset();
    for (const auto& [id, count] : removed) {
      HONDANA_TRY(delete_coarse.bind(1, id).execute());
      change -= count;
    }
    is_more = !removed.empty();
    is_changed = is_changed || is_more;
  }
  if (!is_changed) return is_more;  // nothing has been written; the transaction ends without effect
  HONDANA_TRY(add_total.bind(1, change).execute());
  HONDANA_TRY(transaction.commit());
  chunk_samples += change;
  is_unsynced = true;
  return is_more;
}

result<void> store::state::downsample_series(std::int64_t id, series::instant cutoff, std::int64_t& change) {
  HONDANA_TRY(
      auto rows,
      file.writer.prepare("SELECT id,count,data FROM chunks WHERE series=?1 AND first<?2 AND last<?2 ORDER BY first LIMIT ?3"));
  rows.bind(1, id).bind(2, cutoff).bind(3, static_cast<std::int64_t>(downsample_batch_size));
  std::vector<std::int64_t> removed_ids;
  std::vector<series::sample> raw;
  for (;;) {
    HONDANA_TRY(const auto has_row, rows.step());
    if (!has_row) break;
    removed_ids.push_back(rows.number(0));
    change -= rows.number(1);
    if (!decode_chunk(rows.bytes(2), min_instant, max_instant, raw))
      write_log("unreadable samples are removed from the metrics store");
  }
  rows.reset();
  for (const auto removed_id : removed_ids) HONDANA_TRY(delete_chunk.bind(1, removed_id).execute());
  if (raw.empty() || options.coarse_step <= 0 || options.coarse_retention <= options.retention) return {};
  series::sort_samples(raw);
  bool is_counter_series = false;
  {
    HONDANA_TRY(auto identity_row, file.writer.prepare("SELECT identity FROM series WHERE id=?"));
    HONDANA_TRY(const auto has_identity, identity_row.bind(1, id).step());
    const auto identity = has_identity ? decode_identity(identity_row.bytes(0)) : std::nullopt;
    if (!identity) return {};  // no such series
    const auto match = index.find(*identity);
    is_counter_series = match && is_counter(*match);
  }
  auto coarse = downsample(raw, is_counter_series, options.coarse_step);
  HONDANA_TRY(auto last,
              file.writer.prepare("SELECT id,count,data,last FROM coarse WHERE series=? ORDER BY first DESC LIMIT 1"));
  HONDANA_TRY(const auto has_last, last.bind(1, id).step());
  std::vector<series::sample> merged;
  if (has_last && static_cast<std::size_t>(last.number(1)) + coarse.size() <= max_coarse_samples &&
      last.number(3) < coarse.front().time && decode_chunk(last.bytes(2), min_instant, max_instant, merged)) {
    change -= last.number(1);
    HONDANA_TRY(delete_coarse.bind(1, last.number(0)).execute());
  }
  last.reset();
  merged.insert(merged.end(), coarse.begin(), coarse.end());
  for (std::size_t i = 0; i < merged.size(); i += max_coarse_samples) {
    const std::vector<series::sample> part(
        merged.begin() + static_cast<std::ptrdiff_t>(i),
        merged.begin() + static_cast<std::ptrdiff_t>(std::min(i + max_coarse_samples, merged.size())));
    const auto bytes = encode_chunk(part);
    HONDANA_TRY(insert_coarse.bind(1, id)
                    .bind(2, part.front().time)
                    .bind(3, part.back().time)
                    .bind(4, static_cast<std::int64_t>(part.size()))
                    .bind(5, bytes)
                    .execute());
    change += static_cast<std::int64_t>(part.size());
  }
  has_coarse = true;
  return {};
}

result<bool> store::state::trim_batch() {
  const std::lock_guard write_lock(write_mutex);
  const auto pages = file.writer.number("PRAGMA page_count");
  const auto spare = file.writer.number("PRAGMA freelist_count");
  const auto size = file.writer.number("PRAGMA page_size");
  if (!pages || !spare || !size) return tl::unexpected(!pages ? pages.error() : !spare ? spare.error() : size.error());
  const auto max_bytes = options.max_bytes - options.max_bytes / 16;
  if (static_cast<std::uint64_t>((*pages - *spare) * *size) <= max_bytes) return false;
  HONDANA_TRY(auto transaction, sqlite::transaction::begin(file.writer));
  std::int64_t change = 0;
  bool has_removed = false;
  for (const bool is_coarse : {true, false}) {
    HONDANA_TRY(auto rows, file.writer.prepare(is_coarse ? "SELECT id,count FROM coarse ORDER BY last LIMIT ?"
                                                         : "SELECT id,count FROM chunks ORDER BY last LIMIT ?"));
    rows.bind(1, static_cast<std::int64_t>(trim_batch_size));
    std::vector<std::int64_t> removed_ids;
    for (;;) {
      HONDANA_TRY(const auto has_row, rows.step());
      if (!has_row) break;
      removed_ids.push_back(rows.number(0));
      change -= rows.number(1);
    }
    rows.reset();
    auto& delete_row = is_coarse ? delete_coarse : delete_chunk;
    for (const auto removed_id : removed_ids) HONDANA_TRY(delete_row.bind(1, removed_id).execute());
    has_removed = !removed_ids.empty();
    if (has_removed) break;
  }
  if (!has_removed) return false;
  HONDANA_TRY(add_total.bind(1, change).execute());
  HONDANA_TRY(transaction.commit());
  chunk_samples += change;
  return true;
}

result<void> store::state::remove_expired_series(series::instant cutoff) {
  for (slot begin = 0; !is_urgent;) {
    const std::lock_guard write_lock(write_mutex);
    const auto deadline = steady::now() + max_block_time;
    std::vector<slot> expired_slots;
    while (begin < series_states.size() && expired_slots.size() < removal_batch_size &&
           ((begin & 1023u) != 0 || steady::now() < deadline)) {
      const auto slot_index = begin++;
      if (index.has(slot_index) && series_states[slot_index].last < cutoff && !series_states[slot_index].open_head &&
          !closed_heads.contains(slot_index))
        expired_slots.push_back(slot_index);
    }
    if (expired_slots.empty() && begin >= series_states.size()) return {};
    if (expired_slots.empty()) {
      ++begin;
      continue;
    }
    HONDANA_TRY(auto transaction, sqlite::transaction::begin(file.writer));
    std::int64_t change = 0;
    for (const auto* sql :
         {"SELECT coalesce(sum(count),0) FROM chunks WHERE series=?",
          "SELECT coalesce(sum(count),0) FROM coarse WHERE series=?", "DELETE FROM chunks WHERE series=?",
          "DELETE FROM coarse WHERE series=?", "DELETE FROM ends WHERE series=?", "DELETE FROM series WHERE id=?"}) {
      HONDANA_TRY(auto statement, file.writer.prepare(sql));
      for (const auto slot_index : expired_slots) {
        HONDANA_TRY(const auto has_row, statement.bind(1, series_states[slot_index].id).step());
        if (has_row) change -= statement.number(0);
        statement.reset();
      }
    }
    HONDANA_TRY(add_total.bind(1, change).execute());
    HONDANA_TRY(transaction.commit());
    chunk_samples += change;
    const std::lock_guard lock(memory_mutex);
    index.remove(expired_slots);
    for (const auto slot_index : expired_slots) {
      series_states[slot_index] = series_state{};
      last_accepted[slot_index] = min_instant;
    }
  }
  return {};
}

result<void> store::state::shrink() {
  while (!is_urgent) {
    const std::lock_guard write_lock(write_mutex);
    const auto pages = file.writer.number("PRAGMA page_count");
    const auto spare = file.writer.number("PRAGMA freelist_count");
    if (!pages || !spare) return tl::unexpected(!pages ? pages.error() : spare.error());
    if (*spare <= spare_pages || *spare <= *pages / 4) return {};
    HONDANA_TRY(file.writer.execute("PRAGMA incremental_vacuum(256)"));
  }
  return {};
}

}  // namespace hondana::samples
