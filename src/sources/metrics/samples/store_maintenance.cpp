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
constexpr std::size_t heads_at_once = 192;
/// Series that are checked while readers wait.
constexpr slot looked_at_once = 8192;
constexpr std::int64_t tail_rows_at_once = 32;
/// A chunk with fewer samples is merged with the previous one, up to this many samples.
constexpr std::size_t few_samples = 60, most_merged = 240;
constexpr series::duration longest_open = 2LL * 3'600'000;
constexpr std::uint64_t most_log_bytes = 4u << 20;
constexpr std::uint64_t most_tail_bytes = 64u << 20;
constexpr std::chrono::seconds between_sweeps{10}, between_expiries{60};

/// The contents of a new chunk, and the chunk that it replaces.
struct piece {
  std::vector<series::sample> samples{};
  std::string bytes{};
  std::int64_t replaced = 0;  // 0: none
  std::size_t replaced_count = 0;
};

struct pieces_of_series {
  std::int64_t id = 0;
  std::uint64_t upto = 0;
  series::instant newest = never_before;
  bool is_turned = false;
  std::vector<piece> pieces{};
};

bool may_join(const piece& before, const std::vector<series::sample>& next) {
  return before.samples.size() + next.size() <= most_merged && before.samples.back().at < next.front().at &&
         wrapped_difference(next.back().at, before.samples.front().at) <= longest_chunk &&
         wrapped_difference(next.back().at, before.samples.front().at) > 0 &&
         (before.samples.size() < few_samples || next.size() < few_samples);
}

}  // namespace

void store::state::say(const std::string& line) const {
  if (options.log) options.log(line);
}

void store::state::close_due(bool is_all) {
  // If the tail is too large, close the heads that began in the older half of its rows.
  std::uint64_t oldest_kept = 0;
  {
    const std::shared_lock held(memory);
    if (waiting_bytes > most_tail_bytes) oldest_kept = first_waiting + waiting.size() / 2;
  }
  std::size_t fewest = 64;  // of samples, when memory is short
  do {
    const bool is_short = memory_used > options.most_memory / 4 * 3;
    std::size_t closes = 0;
    for (slot begin = 0;; begin += looked_at_once) {
      const std::lock_guard turn(writing);
      const std::lock_guard held(memory);
      if (begin >= streams.size()) break;
      for (slot at = begin; at < std::min<std::size_t>(begin + looked_at_once, streams.size()); ++at) {
        const auto* open = streams[at].open.get();
        if (open == nullptr) continue;
        if (is_all || open->first_batch < oldest_kept || newest > after(open->samples.first(), longest_open) ||
            (is_short && open->samples.count() >= fewest)) {
          close_head(at);
          ++closes;
        }
      }
    }
    if (!is_short || closes > 0) break;
    fewest /= 8;
  } while (fewest > 0);
}

result<bool> store::state::flush_some() {
  std::vector<std::pair<slot, std::shared_ptr<const growing>>> what;
  // for each of these: the last row whose samples of the series are all in this head or earlier ones
  std::vector<std::uint64_t> whole_up_to;
  std::map<slot, pieces_of_series> by_slot;
  {
    const std::shared_lock held(memory);
    std::map<slot, std::size_t> taken;
    for (std::size_t i = 0; i < full.size() && i < heads_at_once; ++i) {
      const auto at = full[i];
      const auto& heads = closed.at(at);
      what.emplace_back(at, heads[taken[at]++]);
      const auto* const next = taken[at] < heads.size() ? heads[taken[at]].get() : streams[at].open.get();
      const auto last = what.back().second->last_batch;
      // If a batch has a series twice, it may end one head and begin the next.
      whole_up_to.push_back(next != nullptr && next->first_batch == last ? last - 1 : last);
      by_slot[at].id = streams[at].id;
      by_slot[at].is_turned = streams[at].is_turned;
    }
  }
  if (what.empty()) return false;
  {
    // Encode, and read the previous chunks, without blocking writers: only the holder of `settling` changes chunks.
    HONDANA_TRY(auto from, lease::take(*this));
    for (std::size_t i = 0; i < what.size(); ++i) {
      const auto& [at, one] = what[i];
      std::vector<series::sample> samples;
      one->samples.read(never_before, never_after, samples);
      auto& into = by_slot[at];
      into.upto = std::max(into.upto, whole_up_to[i]);
      into.newest = samples.back().at;
      if (into.pieces.empty() && samples.size() < few_samples) {
        auto& before = from->last_chunk;
        before.bind(1, into.id).bind(2, samples.front().at);
        HONDANA_TRY(const auto found, before.step());
        piece last;
        if (found && before.number(2) < static_cast<std::int64_t>(few_samples) &&
            read_chunk(before.bytes(1), never_before, never_after, last.samples) && may_join(last, samples)) {
          last.replaced = before.number(0);
          last.replaced_count = last.samples.size();
          into.pieces.push_back(std::move(last));
        }
        before.reset();
      }
      if (!into.pieces.empty() && may_join(into.pieces.back(), samples)) {
        auto& last = into.pieces.back().samples;
        last.insert(last.end(), samples.begin(), samples.end());
      } else {
        into.pieces.push_back({std::move(samples), {}, 0, 0});
      }
    }
    for (auto& [at, of] : by_slot)
      for (auto& one : of.pieces) one.bytes = to_chunk(one.samples);
  }
  const std::lock_guard turn(writing);
  HONDANA_TRY(auto changing, sqlite::transaction::begin(file.writer));
  std::int64_t change = 0;
  for (auto& [at, of] : by_slot) {
    auto first = never_after, last = never_before;
    for (const auto& one : of.pieces) {
      if (one.replaced != 0) {
        HONDANA_TRY(delete_chunk.bind(1, one.replaced).run());
      }
      HONDANA_TRY(insert_chunk.bind(1, of.id)
                      .bind(2, one.samples.front().at)
                      .bind(3, one.samples.back().at)
                      .bind(4, static_cast<std::int64_t>(one.samples.size()))
                      .bind(5, one.bytes)
                      .run());
      change += static_cast<std::int64_t>(one.samples.size()) - static_cast<std::int64_t>(one.replaced_count);
      first = std::min(first, one.samples.front().at);
      last = std::max(last, one.samples.back().at);
    }
    HONDANA_TRY(upsert_ends.bind(1, of.id)
                    .bind(2, static_cast<std::int64_t>(of.upto))
                    .bind(3, first)
                    .bind(4, last)
                    .bind(5, of.newest)
                    .bind(6, of.is_turned ? 1 : 0)
                    .run());
  }
  HONDANA_TRY(add_total.bind(1, change).run());
  HONDANA_TRY(changing.commit());
  settled_samples += change;
  written(what);
  return true;
}

void store::state::written(const std::vector<std::pair<slot, std::shared_ptr<const growing>>>& what) {
  const std::lock_guard held(memory);
  for (const auto& [at, one] : what) {
    auto& of = closed.at(at);
    of.erase(of.begin());
    if (of.empty()) closed.erase(at);
    full.pop_front();
    memory_used -= one->samples.memory();
    in_memory_samples -= one->samples.count();
    --waiting[static_cast<std::size_t>(one->first_batch - first_waiting)].heads;
  }
  while (!waiting.empty() && waiting.front().heads == 0) {
    waiting_bytes -= waiting.front().bytes;
    waiting.pop_front();
    ++first_waiting;
  }
  is_unsynced = true;
}

result<void> store::state::flush_all() {
  while (!is_closing) {
    HONDANA_TRY(const auto more, flush_some());
    if (!more) return drop_tail();
  }
  return {};
}

result<void> store::state::drop_tail() {
  for (;;) {
    const std::lock_guard turn(writing);
    const auto until = waiting.empty() ? next_batch : first_waiting;
    if (first_in_tail >= until) return {};
    const auto next = std::min(until, first_in_tail + static_cast<std::uint64_t>(tail_rows_at_once));
    HONDANA_TRY(delete_tail.bind(1, static_cast<std::int64_t>(next)).run());
    first_in_tail = next;
  }
}

result<void> store::state::checkpoint(bool is_forced) {
  if (is_in_memory) return {};
  const auto log_bytes = sqlite::bytes_on_disk(options.path + "-wal");
  if (!is_forced && log_bytes < most_log_bytes) return {};
  HONDANA_TRY(auto by, lease::take(*this));
  // Never while a writer is active: before SQLite 3.51.3, the file can be damaged if one of two connections restarts the log.
  const std::lock_guard turn(writing);
  return by->own.checkpoint();
}

result<void> store::state::settle(series::instant at, bool is_all) {
  const auto now_steady = monotonic_clock::now();
  if (is_all || is_urgent || swept == std::chrono::steady_clock::time_point{} || now_steady - swept >= between_sweeps ||
      memory_used > options.most_memory / 4 * 3) {
    swept = now_steady;
    close_due(is_all);
  }
  HONDANA_TRY(flush_all());
  if (is_all || expired == std::chrono::steady_clock::time_point{} || now_steady - expired >= between_expiries) {
    expired = now_steady;
    series::instant latest = never_before;
    if (is_all) {
      const std::shared_lock held(memory);
      latest = std::min(at, newest);
      believed = newest;
    } else {
      latest = newest_believed(at);
    }
    if (latest != never_before) {
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
      say("the write-ahead log of the metrics store cannot be synced: " + std::string(std::strerror(errno)));
  }
  const executor::signals_blocked blocked;
  keeper = std::jthread([this](const std::stop_token& stop) { keep(stop); });
}

/// Turns exceptions, such as out of memory, into a failure of this round.
result<void> store::state::settle_safely() {
  try {
    return settle(now(), false);
  } catch (const std::exception& error) {
    return fail(errc::source_unavailable, "samples cannot be compacted", error.what());
  }
}

void store::state::keep(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    {
      std::unique_lock held(kept);
      monotonic_clock::wait_for(wake, held, stop, std::max(options.sync_every, std::chrono::milliseconds(10)),
                                [] { return false; });
    }
    if (log_file.is_open() && is_unsynced.exchange(false) && ::fdatasync(log_file.get()) != 0) {
      is_unsynced = true;
      say("the write-ahead log of the metrics store cannot be synced: " + std::string(std::strerror(errno)));
    }
    if (stop.stop_requested()) break;
    const std::lock_guard held(settling);
    auto done = settle_safely();
    const auto problem = done ? std::string() : done.error().public_text + " (" + done.error().private_text + ')';
    if (!done && sqlite::says_damaged(done.error()) && !is_in_memory) sqlite::suspect(options.path);
    // Log a repeated problem only once.
    if (problem != last_said && !problem.empty()) say(problem);
    last_said = problem;
  }
}

namespace {

using steady = monotonic_clock;

/// The longest time that a part of this work may block writers.
constexpr std::chrono::milliseconds longest_turn{5};
constexpr std::size_t chunks_at_once = 64;
constexpr std::size_t most_coarse = 240;
constexpr std::size_t trimmed_at_once = 50;
constexpr std::size_t forgotten_at_once = 128;
constexpr series::duration a_day = 86'400'000;
constexpr std::chrono::minutes until_believed{10};
/// Free pages to keep in the file for later samples.
constexpr std::int64_t spare_pages = 256;

}  // namespace

series::instant store::state::newest_believed(series::instant at) {
  const std::shared_lock held(memory);
  if (newest == never_before) return never_before;
  const auto latest = std::min(at, newest);
  if (believed == never_before || latest <= after(believed, a_day)) {
    believed = std::max(believed, latest);
    doubted = never_before;
    return std::min(latest, believed);
  }
  if (doubted == never_before) doubted_since = steady::now();
  doubted = latest;
  if (steady::now() - doubted_since >= until_believed) {
    believed = latest;
    doubted = never_before;
  }
  return std::min(at, believed);
}

bool store::state::is_counter(slot at) const {
  const auto name = names.name_of(at);
  const auto kind_with = [&](std::string_view ending) -> std::optional<series::kind> {
    if (!name.ends_with(ending)) return std::nullopt;
    const auto found = families.find(name.substr(0, name.size() - ending.size()));
    return found == families.end() ? std::nullopt : std::optional(found->second.kind);
  };
  if (const auto own = families.find(name); own != families.end() && own->second.kind != series::kind::unknown)
    return own->second.kind == series::kind::counter;
  for (const std::string_view ending : {"_bucket", "_count", "_sum"}) {
    const auto of = kind_with(ending);
    if (of == series::kind::histogram || (of == series::kind::summary && ending != "_bucket")) return true;
  }
  return name.ends_with("_total") || name.ends_with("_bucket");
}

result<void> store::state::expire(series::instant at) {
  // Round down to multiples of `grain`, so that down-sampled chunks have a reasonable size.
  const auto grain = std::max<series::duration>(options.retention / 64, std::max<series::duration>(options.coarse_step, 1));
  auto raw_cutoff = before(at, options.retention);
  if (raw_cutoff > never_before + grain) raw_cutoff -= ((raw_cutoff % grain) + grain) % grain;
  const auto coarse_cutoff = std::min(raw_cutoff, before(at, std::max(options.coarse_retention, options.retention)));
  for (bool is_more = true; is_more && !is_urgent;) {
    HONDANA_TRY(auto more, expire_some(raw_cutoff, coarse_cutoff));
    is_more = more;
  }
  for (bool is_more = true; is_more && !is_urgent;) {
    HONDANA_TRY(auto more, trim_some());
    is_more = more;
  }
  std::size_t count = 0;
  {
    const std::shared_lock held(memory);
    count = names.size();
  }
  // If the limit of series is nearly reached, also forget series that only have down-sampled samples.
  HONDANA_TRY(forget_series(count > options.most_series / 10 * 9 ? raw_cutoff : coarse_cutoff));
  return shrink();
}

result<bool> store::state::expire_some(series::instant raw_cutoff, series::instant coarse_cutoff) {
  const auto until = steady::now() + longest_turn;
  const std::lock_guard turn(writing);
  HONDANA_TRY(auto changing, sqlite::transaction::begin(file.writer));
  HONDANA_TRY(auto oldest, file.writer.prepare("SELECT series FROM chunks WHERE last<? ORDER BY last LIMIT 1"));
  std::int64_t change = 0;
  bool is_more = true, is_changed = false;
  do {
    HONDANA_TRY(const auto found, oldest.bind(1, raw_cutoff).step());
    const auto id = found ? oldest.number(0) : 0;
    oldest.reset();
    if (!found) {
      is_more = false;
      break;
    }
    HONDANA_TRY(coarsen(id, raw_cutoff, change));
    is_changed = true;
  } while (steady::now() < until);
  if (!is_more && has_coarse) {
    HONDANA_TRY(auto old, file.writer.prepare("SELECT id,count FROM coarse WHERE last<? ORDER BY last LIMIT 200"));
    std::vector<std::pair<std::int64_t, std::int64_t>> gone;
    old.bind(1, coarse_cutoff);
    for (;;) {
      HONDANA_TRY(const auto more, old.step());
      if (!more) break;
      gone.emplace_back(old.number(0), old.number(1));
    }
    old.reset();
    for (const auto& [id, count] : gone) {
      HONDANA_TRY(delete_coarse.bind(1, id).run());
      change -= count;
    }
    is_more = !gone.empty();
    is_changed = is_changed || is_more;
  }
  if (!is_changed) return is_more;  // nothing has been written; the transaction ends without effect
  HONDANA_TRY(add_total.bind(1, change).run());
  HONDANA_TRY(changing.commit());
  settled_samples += change;
  is_unsynced = true;
  return is_more;
}

result<void> store::state::coarsen(std::int64_t id, series::instant cutoff, std::int64_t& change) {
  HONDANA_TRY(
      auto old,
      file.writer.prepare("SELECT id,count,data FROM chunks WHERE series=?1 AND first<?2 AND last<?2 ORDER BY first LIMIT ?3"));
  old.bind(1, id).bind(2, cutoff).bind(3, static_cast<std::int64_t>(chunks_at_once));
  std::vector<std::int64_t> gone;
  std::vector<series::sample> raw;
  for (;;) {
    HONDANA_TRY(const auto more, old.step());
    if (!more) break;
    gone.push_back(old.number(0));
    change -= old.number(1);
    if (!read_chunk(old.bytes(2), never_before, never_after, raw)) say("unreadable samples are removed from the metrics store");
  }
  old.reset();
  for (const auto one : gone) HONDANA_TRY(delete_chunk.bind(1, one).run());
  if (raw.empty() || options.coarse_step <= 0 || options.coarse_retention <= options.retention) return {};
  series::put_in_order(raw);
  bool is_rising = false;
  {
    HONDANA_TRY(auto known, file.writer.prepare("SELECT identity FROM series WHERE id=?"));
    HONDANA_TRY(const auto found, known.bind(1, id).step());
    const auto identity = found ? identity_in(known.bytes(0)) : std::nullopt;
    if (!identity) return {};  // no such series
    const auto at = names.find(*identity);
    is_rising = at && is_counter(*at);
  }
  auto made = coarse_of(raw, is_rising, options.coarse_step);
  HONDANA_TRY(auto last,
              file.writer.prepare("SELECT id,count,data,last FROM coarse WHERE series=? ORDER BY first DESC LIMIT 1"));
  HONDANA_TRY(const auto found, last.bind(1, id).step());
  std::vector<series::sample> joined;
  if (found && static_cast<std::size_t>(last.number(1)) + made.size() <= most_coarse && last.number(3) < made.front().at &&
      read_chunk(last.bytes(2), never_before, never_after, joined)) {
    change -= last.number(1);
    HONDANA_TRY(delete_coarse.bind(1, last.number(0)).run());
  }
  last.reset();
  joined.insert(joined.end(), made.begin(), made.end());
  for (std::size_t i = 0; i < joined.size(); i += most_coarse) {
    const std::vector<series::sample> part(
        joined.begin() + static_cast<std::ptrdiff_t>(i),
        joined.begin() + static_cast<std::ptrdiff_t>(std::min(i + most_coarse, joined.size())));
    const auto bytes = to_chunk(part);
    HONDANA_TRY(insert_coarse.bind(1, id)
                    .bind(2, part.front().at)
                    .bind(3, part.back().at)
                    .bind(4, static_cast<std::int64_t>(part.size()))
                    .bind(5, bytes)
                    .run());
    change += static_cast<std::int64_t>(part.size());
  }
  has_coarse = true;
  return {};
}

result<bool> store::state::trim_some() {
  const std::lock_guard turn(writing);
  const auto pages = file.writer.number("PRAGMA page_count");
  const auto spare = file.writer.number("PRAGMA freelist_count");
  const auto size = file.writer.number("PRAGMA page_size");
  if (!pages || !spare || !size) return tl::unexpected(!pages ? pages.error() : !spare ? spare.error() : size.error());
  const auto most = options.most_bytes - options.most_bytes / 16;
  if (static_cast<std::uint64_t>((*pages - *spare) * *size) <= most) return false;
  HONDANA_TRY(auto changing, sqlite::transaction::begin(file.writer));
  std::int64_t change = 0;
  bool is_any = false;
  for (const bool is_coarse : {true, false}) {
    HONDANA_TRY(auto old, file.writer.prepare(is_coarse ? "SELECT id,count FROM coarse ORDER BY last LIMIT ?"
                                                        : "SELECT id,count FROM chunks ORDER BY last LIMIT ?"));
    old.bind(1, static_cast<std::int64_t>(trimmed_at_once));
    std::vector<std::int64_t> gone;
    for (;;) {
      HONDANA_TRY(const auto more, old.step());
      if (!more) break;
      gone.push_back(old.number(0));
      change -= old.number(1);
    }
    old.reset();
    auto& removing = is_coarse ? delete_coarse : delete_chunk;
    for (const auto one : gone) HONDANA_TRY(removing.bind(1, one).run());
    is_any = !gone.empty();
    if (is_any) break;
  }
  if (!is_any) return false;
  HONDANA_TRY(add_total.bind(1, change).run());
  HONDANA_TRY(changing.commit());
  settled_samples += change;
  return true;
}

result<void> store::state::forget_series(series::instant cutoff) {
  for (slot begin = 0; !is_urgent;) {
    const std::lock_guard turn(writing);
    const auto until = steady::now() + longest_turn;
    std::vector<slot> gone;
    while (begin < streams.size() && gone.size() < forgotten_at_once && ((begin & 1023u) != 0 || steady::now() < until)) {
      const auto at = begin++;
      if (names.has(at) && streams[at].last < cutoff && !streams[at].open && !closed.contains(at)) gone.push_back(at);
    }
    if (gone.empty() && begin >= streams.size()) return {};
    if (gone.empty()) {
      ++begin;
      continue;
    }
    HONDANA_TRY(auto changing, sqlite::transaction::begin(file.writer));
    std::int64_t change = 0;
    for (const auto* sql :
         {"SELECT coalesce(sum(count),0) FROM chunks WHERE series=?",
          "SELECT coalesce(sum(count),0) FROM coarse WHERE series=?", "DELETE FROM chunks WHERE series=?",
          "DELETE FROM coarse WHERE series=?", "DELETE FROM ends WHERE series=?", "DELETE FROM series WHERE id=?"}) {
      HONDANA_TRY(auto each, file.writer.prepare(sql));
      for (const auto at : gone) {
        HONDANA_TRY(const auto found, each.bind(1, streams[at].id).step());
        if (found) change -= each.number(0);
        each.reset();
      }
    }
    HONDANA_TRY(add_total.bind(1, change).run());
    HONDANA_TRY(changing.commit());
    settled_samples += change;
    const std::lock_guard held(memory);
    names.remove(gone);
    for (const auto at : gone) {
      streams[at] = stream{};
      accepted[at] = never_before;
    }
  }
  return {};
}

result<void> store::state::shrink() {
  while (!is_urgent) {
    const std::lock_guard turn(writing);
    const auto pages = file.writer.number("PRAGMA page_count");
    const auto spare = file.writer.number("PRAGMA freelist_count");
    if (!pages || !spare) return tl::unexpected(!pages ? pages.error() : spare.error());
    if (*spare <= spare_pages || *spare <= *pages / 4) return {};
    HONDANA_TRY(file.writer.run("PRAGMA incremental_vacuum(256)"));
  }
  return {};
}

}  // namespace hondana::samples
