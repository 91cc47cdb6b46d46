/// Bringing samples to their final form, syncing, and the thread that does so.
#include <fcntl.h>
#include <unistd.h>
#include <exception>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include <hondana/clock.hpp>

#include "base/executor/signals_blocked.hpp"
#include "sources/metrics/samples/bits.hpp"
#include "sources/metrics/samples/chunk.hpp"
#include "sources/metrics/samples/state.hpp"

namespace hondana::samples {
namespace {

/// Series whose chunks are written in one transaction: some 5 ms.
constexpr std::size_t heads_at_once = 192;
/// Series that are looked at while readers wait.
constexpr slot looked_at_once = 8192;
constexpr std::int64_t tail_rows_at_once = 32;
/// Chunks of fewer samples become one with that before, as far as that spans no more than this.
constexpr std::size_t few_samples = 60, most_merged = 240;
constexpr series::duration longest_open = 2LL * 3'600'000;
constexpr std::uint64_t most_log_bytes = 4u << 20;
constexpr std::uint64_t most_tail_bytes = 64u << 20;
constexpr std::chrono::seconds between_sweeps{10}, between_expiries{60};

/// What becomes a chunk, and the chunk that it takes the place of.
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
  // Half of what is there begins so long ago that its rows of the tail are to go.
  std::uint64_t oldest_kept = 0;
  {
    const std::shared_lock held(memory);
    if (waiting_bytes > most_tail_bytes) oldest_kept = first_waiting + waiting.size() / 2;
  }
  std::size_t fewest = 64;  // of samples, where memory is short
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
  std::vector<std::uint64_t> whole_up_to;  // of each of these: the last row all of whose samples stand in it or before
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
      // A batch with a series twice may end one head and begin the next.
      whole_up_to.push_back(next != nullptr && next->first_batch == last ? last - 1 : last);
      by_slot[at].id = streams[at].id;
      by_slot[at].is_turned = streams[at].is_turned;
    }
  }
  if (what.empty()) return false;
  {
    // Encoding, and the chunks before, without a writer waiting: nobody else changes chunks.
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
  // Never beside a writer: SQLite before 3.51.3 can damage the file where one of two connections begins the log anew.
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
    // Nobody locks this file, so that closing it does no harm.
    log_file = disk::handle(::open((options.path + "-wal").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!log_file.is_open())
      say("the write-ahead log of the metrics store cannot be synced: " + std::string(std::strerror(errno)));
  }
  const executor::signals_blocked blocked;
  keeper = std::jthread([this](const std::stop_token& stop) { keep(stop); });
}

/// What is thrown, as where there is no memory, is a failure of this round.
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
    // The same again and again is said once.
    if (problem != last_said && !problem.empty()) say(problem);
    last_said = problem;
  }
}

}  // namespace hondana::samples
