/// What a file that is opened brings into memory.
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include <hondana/clock.hpp>

#include "sources/metrics/samples/chunk.hpp"
#include "sources/metrics/samples/state.hpp"
#include "sources/metrics/samples/tail_row.hpp"

namespace hondana::samples {
namespace {

/// No tail is longer, so that a damaged number asks for little memory.
constexpr std::uint64_t most_rows = 1u << 24;
/// No series has such a number, unless it is damaged.
constexpr std::int64_t most_ids = std::int64_t{1} << 53;

std::uint64_t drawn_seed() {
  std::uint64_t out = 0;
  if (::getentropy(&out, sizeof out) != 0) out = static_cast<std::uint64_t>(monotonic_clock::now().time_since_epoch().count());
  return out;
}

}  // namespace

store::state::state(store_options given) : options(std::move(given)), is_in_memory(options.path.empty()), names(drawn_seed()) {}

store::state::~state() {
  if (keeper.joinable()) {
    is_closing = is_urgent = true;
    keeper.request_stop();
    keeper.join();
  }
}

result<void> store::state::prepare() {
  const auto make = [&](sqlite::statement& into, const char* sql) -> result<void> {
    HONDANA_TRY(auto made, file.writer.prepare(sql));
    into = std::move(made);
    return {};
  };
  const std::pair<sqlite::statement*, const char*> all[]{
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
  for (const auto& [into, sql] : all) HONDANA_TRY(make(*into, sql));
  return {};
}

result<void> store::state::drop_unreadable() {
  std::size_t count = 0;
  HONDANA_TRY(auto changing, sqlite::transaction::begin(file.writer));
  for (const bool is_coarse : {false, true}) {
    HONDANA_TRY(auto all,
                file.writer.prepare(is_coarse ? "SELECT id,count,data FROM coarse" : "SELECT id,count,data FROM chunks"));
    std::vector<std::pair<std::int64_t, std::int64_t>> bad;
    std::vector<series::sample> samples;
    for (;;) {
      HONDANA_TRY(const auto more, all.step());
      if (!more) break;
      samples.clear();
      if (!read_chunk(all.bytes(2), never_before, never_after, samples)) bad.emplace_back(all.number(0), all.number(1));
    }
    all.reset();
    for (const auto& [id, samples_in_it] : bad) {
      HONDANA_TRY((is_coarse ? delete_coarse : delete_chunk).bind(1, id).run());
      HONDANA_TRY(add_total.bind(1, -samples_in_it).run());
    }
    count += bad.size();
  }
  HONDANA_TRY(changing.commit());
  if (count > 0) say(std::to_string(count) + " damaged chunks were removed from the metrics store");
  sqlite::trust(options.path);
  return {};
}

result<void> store::state::load() {
  std::unordered_map<std::int64_t, slot> by_id;
  std::unordered_map<std::int64_t, std::uint64_t> upto;
  HONDANA_TRY(
      auto known,
      file.writer.prepare(
          "SELECT s.id,s.identity,e.upto,e.first,e.last,e.newest,e.turned FROM series s LEFT JOIN ends e ON e.series=s.id"));
  for (;;) {
    HONDANA_TRY(const auto more, known.step());
    if (!more) break;
    const auto identity = identity_in(known.bytes(1));
    const auto id = known.number(0);
    if (id < most_ids) next_id = std::max(next_id, id + 1);
    if (!identity || id >= most_ids || names.find(*identity)) {
      say("an unreadable series of the metrics store is left out");
      continue;
    }
    const auto at = slot_of_new(*identity, id, true);
    by_id.emplace(id, at);
    if (known.is_null(2)) continue;
    upto.emplace(id, static_cast<std::uint64_t>(known.number(2)));
    next_batch = std::max(next_batch, static_cast<std::uint64_t>(known.number(2)) + 1);
    auto& of = streams[at];
    of.first = known.number(3);
    of.last = known.number(4);
    of.newest = accepted[at] = known.number(5);
    of.is_turned = known.number(6) != 0;
    newest = std::max(newest, of.last);
  }
  HONDANA_TRY(auto about, file.writer.prepare("SELECT name,kind,unit,help FROM families"));
  for (;;) {
    HONDANA_TRY(const auto more, about.step());
    if (!more) break;
    families.insert_or_assign(
        std::string(about.bytes(0)),
        series::metadata{series::kind_of(about.bytes(1)), std::string(about.bytes(2)), std::string(about.bytes(3))});
  }
  HONDANA_TRY(auto total, file.writer.number("SELECT value FROM totals WHERE name='samples'"));
  settled_samples = total;
  HONDANA_TRY(auto coarse, file.writer.number("SELECT EXISTS(SELECT 1 FROM coarse)"));
  has_coarse = coarse != 0;

  std::vector<numbered_sample> row;
  std::int64_t batch_number = 0;
  for (bool is_first = true;; is_first = false) {
    // Row by row, since room may have to be made between them, on the same connection.
    HONDANA_TRY(auto next, file.writer.prepare("SELECT batch,data FROM tail WHERE batch>? ORDER BY batch LIMIT 1"));
    HONDANA_TRY(const auto more, next.bind(1, batch_number).step());
    if (!more) break;
    batch_number = next.number(0);
    const auto number = static_cast<std::uint64_t>(batch_number);
    if (batch_number <= 0 || (!waiting.empty() && number - first_waiting > most_rows))
      return tl::unexpected(
          sqlite::damaged("the metrics store is damaged", "row " + std::to_string(batch_number) + " of the tail"));
    if (is_first) first_in_tail = number;
    next_batch = std::max(next_batch, number + 1);
    row.clear();
    if (!read_tail_row(next.bytes(1), row)) say("an unreadable batch of the metrics store is left out");
    begin_batch(number, next.bytes(1).size());
    for (const auto& one : row) {
      // No series that comes gets the number of one that has gone, whose samples still stand here.
      if (one.series < most_ids) next_id = std::max(next_id, one.series + 1);
      const auto at = by_id.find(one.series);
      if (at == by_id.end()) continue;
      if (const auto done = upto.find(one.series); done != upto.end() && done->second >= number) continue;
      take(at->second, one.what, number);
      accepted[at->second] = one.what.at;
    }
    next.reset();
    if (memory_used >= options.most_memory) {
      HONDANA_TRY(make_room());
    }
  }
  if (waiting.empty()) first_waiting = next_batch;
  if (batch_number == 0) first_in_tail = next_batch;  // there is nothing to take away, row by row from the first on
  believed = newest;
  return {};
}

}  // namespace hondana::samples
