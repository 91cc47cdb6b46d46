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
constexpr std::size_t idle_readers = 4;

/// A time limit for completion, whose results are useless if late. Without matchers there is none: the search is fast, and the
/// results must be complete.
std::function<bool()> soon(const series::selector& which) {
  constexpr std::chrono::seconds long_enough{1};
  if (which.matchers.empty()) return {};
  return [until = monotonic_clock::now() + long_enough] { return monotonic_clock::now() >= until; };
}

/// The state of a series in memory at the time of a query.
struct remembered {
  std::int64_t id = 0;
  series::identity of{};
  series::instant first = never_after, last = never_before, newest = never_before;
  bool is_turned = false;
  std::vector<std::shared_ptr<const growing>> closed{};
  std::optional<head> open{};
};

result<void> keep_to(const budget& within) {
  if (within.stop.stop_requested()) return fail(errc::cancelled, "reading metrics was cancelled");
  if (monotonic_clock::now() >= within.until)
    return fail(errc::timed_out, "reading metrics timed out; request a shorter time range or fewer series");
  return {};
}

tl::unexpected<failure> too_many_series(std::size_t count, std::size_t most) {
  return series::too_large_with_advice(std::to_string(count) + " series match, and at most " + std::to_string(most) +
                                       " may be read at once; select fewer with a matcher, such as a label's value");
}

tl::unexpected<failure> too_many_samples(std::size_t count, std::size_t most) {
  return series::too_large_with_advice("the matching series have " + std::to_string(count) +
                                       " samples or more in that time range, and at most " + std::to_string(most) +
                                       " may be read at once; request a shorter time range or fewer series");
}

/// Reads the samples from `from` to `to` in the chunks of a series. Starts at the last chunk that begins at or before `reach`,
/// which is `from` unless chunks overlap.
result<void> read_chunks(sqlite::statement& start, sqlite::statement& chunks, std::int64_t id, series::instant reach,
                         series::instant from, series::instant to, const budget& within, std::vector<series::sample>& into) {
  HONDANA_TRY(const auto found, start.bind(1, id).bind(2, reach).step());
  const auto begin = found ? start.number(0) : reach;
  start.reset();
  chunks.bind(1, id).bind(2, begin).bind(3, to);
  for (std::size_t i = 0;; ++i) {
    HONDANA_TRY(const auto more, chunks.step());
    if (!more) break;
    if (!read_chunk(chunks.bytes(0), from, to, into)) {
      chunks.reset();
      return tl::unexpected(sqlite::damaged("the metrics store is damaged; restart the server to remove the unreadable parts",
                                            "a chunk of series " + std::to_string(id)));
    }
    if (i % 64 == 63 || into.size() > within.samples) {
      auto kept = keep_to(within);
      if (kept && into.size() > within.samples) kept = too_many_samples(into.size(), within.samples);
      if (!kept) {
        chunks.reset();
        return kept;
      }
    }
  }
  chunks.reset();
  return {};
}

}  // namespace

result<void> store::state::reader::prepare(sqlite::connection& on) {
  const std::pair<sqlite::statement*, const char*> all[]{
      {&chunks, "SELECT data FROM chunks WHERE series=? AND first>=? AND first<=? ORDER BY first"},
      {&coarse, "SELECT data FROM coarse WHERE series=? AND first>=? AND first<=? ORDER BY first"},
      {&chunk_start, "SELECT first FROM chunks WHERE series=? AND first<=? ORDER BY first DESC LIMIT 1"},
      {&coarse_start, "SELECT first FROM coarse WHERE series=? AND first<=? ORDER BY first DESC LIMIT 1"},
      {&last_chunk, "SELECT id,data,count FROM chunks WHERE series=? AND first<=? ORDER BY first DESC LIMIT 1"},
      {&last_coarse, "SELECT id,data,count FROM coarse WHERE series=? AND first<=? ORDER BY first DESC LIMIT 1"},
  };
  for (const auto& [into, sql] : all) {
    HONDANA_TRY(auto made, on.prepare(sql));
    *into = std::move(made);
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
  HONDANA_TRY(auto opened, sqlite::connection::open(options.path, std::string(what_it_is)));
  out->own = std::move(opened);
  HONDANA_TRY(out->own.run("PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0; PRAGMA cache_size=-4096"));
  HONDANA_TRY(out->prepare(out->own));
  return out;
}

result<store::state::lease> store::state::lease::take(const state& from) {
  std::unique_lock<turns> turn(from.writing, std::defer_lock);
  if (from.is_in_memory) turn.lock();
  std::unique_ptr<reader> out;
  {
    const std::lock_guard held(from.idle_mutex);
    if (!from.idle.empty()) {
      out = std::move(from.idle.back());
      from.idle.pop_back();
    }
  }
  if (!out) {
    HONDANA_TRY(auto made, from.new_reader());
    out = std::move(made);
  }
  return lease(from, std::move(out), std::move(turn));
}

store::state::lease::~lease() {
  if (!what_) return;
  const std::lock_guard held(from_->idle_mutex);
  if (from_->idle.size() < idle_readers) from_->idle.push_back(std::move(what_));
}

/// A read transaction: several statements see the same state of the file.
class one_view {
 public:
  explicit one_view(sqlite::connection& on) noexcept : on_(on.is_open() ? &on : nullptr) {}
  one_view(const one_view&) = delete;
  one_view& operator=(const one_view&) = delete;
  [[nodiscard]] result<void> begin() {
    if (on_ == nullptr) return {};
    return on_->run("BEGIN");
  }
  ~one_view() {
    if (on_ == nullptr || !on_->is_in_transaction()) return;
    const auto ended = on_->run("COMMIT");
    static_cast<void>(ended);  // nothing was written
  }

 private:
  sqlite::connection* on_;
};

namespace {

/// The series that match and are wanted, in order of identity, with their state in memory. `is_wanted` decides by the state of
/// a stream.
template <class Wanted>
result<std::vector<remembered>> remember(const index& names, const std::vector<stream>& streams,
                                         const std::unordered_map<slot, std::vector<std::shared_ptr<const growing>>>& closed,
                                         const series::selector& which, const budget& within, const Wanted& is_wanted,
                                         bool is_last_only) {
  bool is_over = false;
  auto slots = names.select(which, [&] { return is_over = !keep_to(within).has_value(); });
  if (is_over) {
    HONDANA_TRY(keep_to(within));
  }
  std::erase_if(slots, [&](slot at) { return !is_wanted(streams[at]); });
  if (slots.size() > within.series) return too_many_series(slots.size(), within.series);
  std::vector<remembered> out;
  out.reserve(slots.size());
  for (const auto at : slots) {
    const auto& of = streams[at];
    remembered one{of.id, names.identity_of(at), of.first, of.last, of.newest, of.is_turned, {}, {}};
    if (of.open) one.open = of.open->samples;
    if (const auto found = closed.find(at); found != closed.end() && !(is_last_only && one.open)) one.closed = found->second;
    out.push_back(std::move(one));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.of < b.of; });
  return out;
}

}  // namespace

result<std::vector<series::points>> store::read(const series::selector& which, series::instant from, series::instant to,
                                                const budget& within) const {
  std::vector<remembered> known;
  {
    const std::shared_lock held(state_->memory);
    auto found = remember(
        state_->names, state_->streams, state_->closed, which, within,
        [&](const stream& of) { return of.first <= to && of.last >= from; }, false);
    if (!found) return tl::unexpected(std::move(found.error()));
    known = std::move(*found);
  }
  std::vector<series::points> out;
  if (known.empty() || from > to) return out;
  HONDANA_TRY(auto by, state::lease::take(*state_));
  one_view view(by->own);
  HONDANA_TRY(view.begin());
  std::size_t count = 0;
  for (auto& one : known) {
    HONDANA_TRY(keep_to(within));
    series::points points{std::move(one.of), {}};
    auto rest = within;
    rest.samples -= count;
    result<void> done{};
    if (state_->has_coarse)
      done = read_chunks(by->coarse_start, by->coarse, one.id, one.is_turned ? never_before : from, from, to, rest,
                         points.samples);
    const auto reach = one.is_turned ? before(from, longest_chunk) : from;
    // Ignore samples that were appended and written to chunks after the query began. Samples of other series in the same batch
    // might be missing.
    const auto until = std::min(to, one.last);
    if (done) done = read_chunks(by->chunk_start, by->chunks, one.id, reach, from, until, rest, points.samples);
    if (!done) {
      if (sqlite::says_damaged(done.error()) && !state_->is_in_memory) sqlite::suspect(state_->options.path);
      return tl::unexpected(std::move(done.error()));
    }
    for (const auto& closed : one.closed) closed->samples.read(from, to, points.samples);
    if (one.open) one.open->read(from, to, points.samples);
    series::put_in_order(points.samples);
    count += points.samples.size();
    if (count > within.samples) return too_many_samples(count, within.samples);
    if (!points.samples.empty()) out.push_back(std::move(points));
  }
  return out;
}

result<std::vector<series::points>> store::last(const series::selector& which, series::instant from,
                                                const budget& within) const {
  std::vector<remembered> known;
  {
    const std::shared_lock held(state_->memory);
    auto found = remember(
        state_->names, state_->streams, state_->closed, which, within,
        [&](const stream& of) { return of.newest != never_before && of.newest >= from; }, true);
    if (!found) return tl::unexpected(std::move(found.error()));
    known = std::move(*found);
  }
  std::vector<series::points> out;
  std::optional<state::lease> by;
  for (auto& one : known) {
    if (one.open || !one.closed.empty()) {
      out.push_back({std::move(one.of), {one.open ? one.open->last() : one.closed.back()->samples.last()}});
      continue;
    }
    HONDANA_TRY(keep_to(within));
    if (!by) {
      HONDANA_TRY(auto taken, state::lease::take(*state_));
      by.emplace(std::move(taken));
    }
    std::vector<series::sample> samples;
    if (one.is_turned) {
      HONDANA_TRY(read_chunks((*by)->chunk_start, (*by)->chunks, one.id, before(one.newest, longest_chunk), one.newest,
                              one.newest, within, samples));
    }
    for (auto* asked : {&(*by)->last_chunk, &(*by)->last_coarse}) {
      if (!samples.empty()) break;
      HONDANA_TRY(const auto found, asked->bind(1, one.id).bind(2, one.newest).step());
      if (found && !read_chunk(asked->bytes(1), from, one.newest, samples)) samples.clear();
      asked->reset();
    }
    if (!samples.empty()) out.push_back({std::move(one.of), {samples.back()}});
  }
  return out;
}

std::vector<std::string> store::names(std::string_view prefix, series::instant from, std::size_t most) const {
  const std::shared_lock held(state_->memory);
  std::vector<std::string> out;
  const auto is_there = [&](std::string_view name) {
    const auto* slots = state_->names.with_name(name);
    return slots != nullptr && std::any_of(slots->begin(), slots->end(), [&](slot at) {
             return state_->streams[at].last != never_before && state_->streams[at].last >= from;
           });
  };
  // If a name equals the prefix, it comes first. No search is needed then.
  if (most == 1 && is_there(prefix)) {
    out.emplace_back(prefix);
    return out;
  }
  for (auto& name : state_->names.names(prefix)) {
    if (out.size() >= most) break;
    if (is_there(name)) out.push_back(std::move(name));
  }
  return out;
}

std::vector<std::string> store::label_names(const series::selector& which, std::size_t most) const {
  const std::shared_lock held(state_->memory);
  return state_->names.label_names(state_->names.select(which, soon(which)), most);
}

std::vector<std::string> store::label_values(const series::selector& which, std::string_view label, std::string_view prefix,
                                             std::size_t most) const {
  const std::shared_lock held(state_->memory);
  return state_->names.label_values(state_->names.select(which, soon(which)), label, prefix, most);
}

std::optional<series::metadata> store::metadata_of(std::string_view name) const {
  const std::shared_lock held(state_->memory);
  const auto& known = state_->families;
  if (const auto found = known.find(name); found != known.end()) return found->second;
  for (const std::string_view ending : {"_bucket", "_count", "_sum", "_total", "_created", "_info"}) {
    if (!name.ends_with(ending)) continue;
    const auto found = known.find(name.substr(0, name.size() - ending.size()));
    if (found != known.end() && series::family_of(name, found->second.kind) == found->first) return found->second;
  }
  return std::nullopt;
}

facts store::facts() const {
  samples::facts out;
  {
    const std::shared_lock held(state_->memory);
    out.samples = state_->in_memory_samples;
    out.memory = state_->memory_used;
    for (slot at = 0; at < state_->names.end(); ++at) {
      if (!state_->names.has(at)) continue;
      const auto& of = state_->streams[at];
      if (of.last == never_before) continue;
      ++out.series;
      out.oldest = std::min(out.oldest.value_or(of.first), of.first);
      out.newest = std::max(out.newest.value_or(of.last), of.last);
    }
  }
  out.samples += static_cast<std::uint64_t>(std::max<std::int64_t>(state_->settled_samples, 0));
  if (!state_->is_in_memory) out.bytes = sqlite::bytes_on_disk(state_->options.path);
  return out;
}

}  // namespace hondana::samples
