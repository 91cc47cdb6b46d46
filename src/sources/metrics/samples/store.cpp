/// Opening a store, and appending to it.
#include "sources/metrics/samples/store.hpp"

#include <algorithm>
#include <utility>

#include "sources/metrics/samples/state.hpp"
#include "sources/metrics/samples/tail_row.hpp"

namespace hondana::samples {
namespace {

constexpr std::size_t most_identity_bytes = 64u << 10;
constexpr std::size_t most_families = 100'000;
constexpr std::size_t most_help = 1000;
/// How many series are made known at once, so that readers wait for less than a millisecond.
constexpr std::size_t new_at_once = 256;
/// Of a head. The first depends on the series, so that those of one scrape do not all end at once.
constexpr std::size_t fewest_in_head = 96, spread_of_heads = 48;
constexpr std::size_t most_head_bytes = 1500;
constexpr series::duration longest_head = 2LL * 3'600'000;
constexpr std::size_t no_slot = static_cast<std::size_t>(-1);

bool fits(const series::identity& what) noexcept {
  std::size_t bytes = what.name.size();
  for (const auto& [name, value] : what.labels) bytes += name.size() + value.size();
  return what.labels.size() <= index::most_labels && bytes <= most_identity_bytes;
}

/// Cut where a character of UTF-8 ends.
series::metadata with_short_help(series::metadata what) {
  if (what.help.size() <= most_help) return what;
  auto end = most_help;
  while (end > 0 && (static_cast<unsigned char>(what.help[end]) & 0xc0) == 0x80) --end;
  what.help.resize(end);
  return what;
}

}  // namespace

/// What becomes of one batch.
struct store::state::writing_of {
  std::vector<std::size_t> slots{};  // of each entry; `no_slot`: left out
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
    // What is beyond `latest` came when the clock was wrong.
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
  // A series that is new and twice in the batch is written once.
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
    // What SQLite meets only now; the lock stays held while the file is moved.
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
