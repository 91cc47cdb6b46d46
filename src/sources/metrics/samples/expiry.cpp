/// What goes, because it is old or there is too much of it.
#include <algorithm>

#include <hondana/clock.hpp>

#include "sources/metrics/samples/chunk.hpp"
#include "sources/metrics/samples/coarse.hpp"
#include "sources/metrics/samples/state.hpp"
#include "sources/metrics/series/order.hpp"

namespace hondana::samples {
namespace {

using steady = monotonic_clock;

/// How long writers wait for a piece of this work.
constexpr std::chrono::milliseconds longest_turn{5};
constexpr std::size_t chunks_at_once = 64;
constexpr std::size_t most_coarse = 240;
constexpr std::size_t trimmed_at_once = 50;
constexpr std::size_t forgotten_at_once = 128;
constexpr series::duration a_day = 86'400'000;
constexpr std::chrono::minutes until_believed{10};
/// So much is left in the file for what comes next.
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
  // By steps, so that what is down-sampled becomes chunks of some size.
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
  // Where there are nearly too many series, those that are only down-sampled make room.
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
  if (!is_changed) return is_more;  // nothing has been written; the transaction ends without a trace
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
    if (!identity) return {};  // of nobody
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
