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

// The store controls syncing. SQLite syncs at checkpoints, and the store syncs the log every `sync_every`.
constexpr const char* settings =
    "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; "
    "PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-8192";

}  // namespace

const sqlite::file_kind& kind_of_file() noexcept {
  static constexpr sqlite::file_kind kind{
      .what = what_it_is.data(),
      .purpose = "store metrics",
      .user = "another process uses it for its metrics",
      .application = 0x686f6e64,  // "hond"
      .version = 1,
      .schema = schema,
      .before = "PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL",
      .settings = settings,
  };
  return kind;
}

namespace {

/// The most rows of the tail, so that a damaged row number cannot request much memory.
constexpr std::uint64_t most_rows = 1u << 24;
/// Greater series IDs only occur in damaged files.
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
    // One row at a time: between rows, make_room may write on the same connection.
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
      // A new series must not get the ID of a deleted one whose samples are still in the tail.
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
  if (batch_number == 0) first_in_tail = next_batch;  // the tail is empty, so there are no rows to delete from the first on
  believed = newest;
  return {};
}

namespace {

constexpr std::size_t most_identity_bytes = 64u << 10;
constexpr std::size_t most_families = 100'000;
constexpr std::size_t most_help = 1000;
/// Series that are added per lock, so that readers wait for less than a millisecond.
constexpr std::size_t new_at_once = 256;
/// Limits of a head, in samples, bytes and milliseconds. The number of samples depends on the series, so that the heads of one
/// scrape do not all end at the same time.
constexpr std::size_t fewest_in_head = 96, spread_of_heads = 48;
constexpr std::size_t most_head_bytes = 1500;
constexpr series::duration longest_head = 2LL * 3'600'000;
constexpr std::size_t no_slot = static_cast<std::size_t>(-1);

bool fits(const series::identity& what) noexcept {
  std::size_t bytes = what.name.size();
  for (const auto& [name, value] : what.labels) bytes += name.size() + value.size();
  return what.labels.size() <= index::most_labels && bytes <= most_identity_bytes;
}

/// Cuts the help text at the end of a UTF-8 character.
series::metadata with_short_help(series::metadata what) {
  if (what.help.size() <= most_help) return what;
  auto end = most_help;
  while (end > 0 && (static_cast<unsigned char>(what.help[end]) & 0xc0) == 0x80) --end;
  what.help.resize(end);
  return what;
}

}  // namespace

/// The state of one append.
struct store::state::writing_of {
  std::vector<std::size_t> slots{};  // of each entry; `no_slot`: ignored
  std::vector<numbered_sample> row{};
  std::vector<slot> row_slots{};
  std::vector<std::pair<slot, series::instant>> undo{};
  std::vector<std::pair<slot, const series::identity*>> unwritten{};
  std::vector<std::pair<std::string_view, series::metadata>> families{};
  std::size_t row_bytes = 0;
  appended said{};
};

series::instant store::state::now() const {
  if (options.clock) return options.clock();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

slot store::state::slot_of_new(const series::identity& of, std::int64_t id, bool is_written) {
  const auto at = names.add(of);
  if (at >= streams.size()) {
    streams.resize(at + 1);
    accepted.resize(at + 1, never_before);
  }
  streams[at] = stream{};
  streams[at].id = id;
  streams[at].is_written = is_written;
  accepted[at] = never_before;
  return at;
}

void store::state::begin_batch(std::uint64_t number, std::size_t bytes) {
  if (waiting.empty()) first_waiting = number;
  waiting.resize(static_cast<std::size_t>(number - first_waiting) + 1);
  waiting.back().bytes = static_cast<std::uint32_t>(std::min<std::size_t>(bytes, 0xffffffffu));
  waiting_bytes += waiting.back().bytes;
}

void store::state::close_head(slot at) {
  auto& of = streams[at];
  if (!of.open) return;
  closed[at].push_back(std::move(of.open));
  full.push_back(at);
}

void store::state::take(slot at, series::sample what, std::uint64_t batch) {
  auto& of = streams[at];
  if (of.open && (what.at <= of.open->samples.last().at || what.at > after(of.open->samples.first(), longest_head)))
    close_head(at);
  std::size_t used = 0;
  if (!of.open) {
    of.open = std::make_unique<growing>();
    of.open->first_batch = batch;
    ++waiting[static_cast<std::size_t>(batch - first_waiting)].heads;
  } else {
    used = of.open->samples.memory();
  }
  auto& into = *of.open;
  into.samples.add(what);
  into.last_batch = batch;
  memory_used += into.samples.memory() - used;
  ++in_memory_samples;
  of.is_turned = of.is_turned || what.at <= of.last;
  of.first = std::min(of.first, what.at);
  of.last = std::max(of.last, what.at);
  of.newest = what.at;
  newest = std::max(newest, what.at);
  const auto most =
      fewest_in_head + static_cast<std::size_t>(static_cast<std::uint64_t>(of.id) * 0x9e3779b1u >> 8) % spread_of_heads;
  if (into.samples.count() >= most || into.samples.size() >= most_head_bytes) close_head(at);
}

void store::state::find_slots(const batch& what, writing_of& into) {
  into.slots.assign(what.entries.size(), no_slot);
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < what.entries.size(); ++i) {
    if (const auto known = names.find(what.entries[i].of)) {
      into.slots[i] = *known;
    } else {
      fresh.push_back(i);
    }
  }
  for (std::size_t i = 0; i < fresh.size(); i += new_at_once) {
    const std::lock_guard held(memory);
    for (std::size_t j = i; j < std::min(i + new_at_once, fresh.size()); ++j) {
      const auto& of = what.entries[fresh[j]].of;
      if (const auto known = names.find(of)) {  // twice in this batch
        into.slots[fresh[j]] = *known;
      } else if (names.size() < options.most_series && fits(of)) {
        into.slots[fresh[j]] = slot_of_new(of, next_id++, false);
      } else {
        ++into.said.too_many;
      }
    }
  }
}

void store::state::accept(const batch& what, writing_of& into) {
  const auto latest = after(now(), options.most_ahead);
  into.row.reserve(what.entries.size());
  into.row_slots.reserve(what.entries.size());
  for (std::size_t i = 0; i < what.entries.size(); ++i) {
    if (into.slots[i] == no_slot) continue;
    const auto at = static_cast<slot>(into.slots[i]);
    const auto& sample = what.entries[i].what;
    if (sample.at > latest || sample.at == never_before) {
      ++into.said.too_far;
      continue;
    }
    // A last sample beyond `latest` was stored while the clock was ahead. It must not block current samples.
    if (sample.at <= accepted[at] && accepted[at] <= latest) {
      ++into.said.out_of_order;
      continue;
    }
    into.undo.emplace_back(at, accepted[at]);
    accepted[at] = sample.at;
    if (!streams[at].is_written) into.unwritten.emplace_back(at, &what.entries[i].of);
    into.row.push_back({streams[at].id, sample});
    into.row_slots.push_back(at);
  }
  into.said.kept = into.row.size();
}

result<void> store::state::write(const batch& what, writing_of& of) {
  for (const auto& [name, about] : what.families) {
    auto short_one = with_short_help(about);
    const auto known = families.find(name);
    if (known == families.end() ? families.size() + of.families.size() >= most_families : known->second == short_one) continue;
    of.families.emplace_back(name, std::move(short_one));
  }
  if (of.row.empty() && of.families.empty()) return {};
  auto writing_it = sqlite::transaction::begin(file.writer);
  if (!writing_it) return tl::unexpected(std::move(writing_it.error()));
  for (const auto& [at, identity] : of.unwritten) {
    if (streams[at].is_written) continue;
    const auto bytes = to_bytes(*identity);
    HONDANA_TRY(insert_series.bind(1, streams[at].id).bind(2, bytes).run());
  }
  for (const auto& [name, about] : of.families) {
    HONDANA_TRY(insert_family.bind_text(1, name)
                    .bind_text(2, series::name_of(about.kind))
                    .bind_text(3, about.unit)
                    .bind_text(4, about.help)
                    .run());
  }
  if (!of.row.empty()) {
    const auto bytes = to_tail_row(of.row);
    of.row_bytes = bytes.size();
    HONDANA_TRY(insert_tail.bind(1, static_cast<std::int64_t>(next_batch)).bind(2, bytes).run());
  }
  return writing_it->commit();
}

result<void> store::state::make_room() {
  if (memory_used < options.most_memory) return {};
  is_urgent = true;
  const std::lock_guard held(settling);
  is_urgent = false;
  if (memory_used < options.most_memory) return {};
  close_due(false);
  while (memory_used >= options.most_memory) {
    const auto more = flush_some();
    if (!more) return tl::unexpected(more.error());
    if (!*more && memory_used >= options.most_memory)
      return fail(errc::overloaded, "no memory left for more samples; scrape fewer series, or less often");
  }
  return {};
}

result<appended> store::state::append(const batch& what) {
  HONDANA_TRY(make_room());
  const std::lock_guard turn(writing);
  writing_of of;
  find_slots(what, of);
  accept(what, of);
  // A new series that occurs twice in the batch is written once.
  std::sort(of.unwritten.begin(), of.unwritten.end());
  of.unwritten.erase(
      std::unique(of.unwritten.begin(), of.unwritten.end(), [](const auto& a, const auto& b) { return a.first == b.first; }),
      of.unwritten.end());
  if (auto done = write(what, of); !done) {
    for (auto one = of.undo.rbegin(); one != of.undo.rend(); ++one) accepted[one->first] = one->second;
    if (sqlite::says_damaged(done.error()) && !is_in_memory) sqlite::suspect(options.path);
    return tl::unexpected(std::move(done.error()));
  }
  const std::lock_guard held(memory);
  for (const auto& [at, unused] : of.unwritten) streams[at].is_written = true;
  for (auto& [name, about] : of.families) families.insert_or_assign(std::string(name), std::move(about));
  if (!of.row.empty()) {
    begin_batch(next_batch, of.row_bytes);
    for (std::size_t i = 0; i < of.row.size(); ++i) take(of.row_slots[i], of.row[i].what, next_batch);
    ++next_batch;
    is_unsynced = true;
  }
  return of.said;
}

store::store(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
store::~store() = default;

result<std::unique_ptr<store>> store::open(store_options options) {
  for (bool is_second = false;; is_second = true) {
    auto file = sqlite::open_owned(options.path, kind_of_file(), options.log);
    if (!file) return tl::unexpected(std::move(file.error()));
    auto made = std::make_unique<state>(options);
    made->file = std::move(*file);
    auto ready = made->prepare();
    if (ready && made->file.was_suspect) ready = made->drop_unreadable();
    if (ready) ready = made->load();
    if (ready) {
      made->start();
      return std::unique_ptr<store>(new store(std::move(made)));
    }
    if (is_second || made->is_in_memory || !sqlite::says_damaged(ready.error()))
      return tl::unexpected(std::move(ready.error()));
    // SQLite found the damage only while loading. The lock stays held while the file is moved.
    auto lock = std::move(made->file.lock);
    made.reset();
    HONDANA_TRY(sqlite::move_aside(options.path, kind_of_file(), ready.error().private_text, options.log));
  }
}

result<appended> store::append(const batch& what) { return state_->append(what); }

result<void> store::settle(series::instant now) {
  const std::lock_guard held(state_->settling);
  return state_->settle(now, true);
}

}  // namespace hondana::samples
