/// Forgetting analyses in SQLite, and counting.
#include <algorithm>
#include <utility>

#include "sources/analyses/cache/embedded/embedded_state.hpp"
#include "sources/analyses/cache/ids.hpp"
#include "sources/analyses/cache/refusals.hpp"

namespace hondana::analyses {
namespace {

/// Somebody who is late may still put for so long, where nobody else has claimed.
constexpr std::int64_t grace_after_lease = 600'000;
/// In one transaction, so that others wait for no longer than some milliseconds.
constexpr std::size_t most_at_once = 500;
constexpr std::int64_t most_asked = static_cast<std::int64_t>(most_forgotten) + 1;

instant moment(std::int64_t time) { return instant(milliseconds(time)); }

}  // namespace

result<void> embedded_store::remove(ledger& in, const row& which, change::kind why) {
  const auto raw = raw_id(which.about.id);
  for (const auto* sql : {"DELETE FROM entries WHERE id=?1", "DELETE FROM tags WHERE id=?1", "DELETE FROM bases WHERE id=?1"}) {
    HONDANA_TRY(auto removing, writer_.ask(sql));
    removing->bind(1, std::string_view(raw));
    HONDANA_TRY(removing->run());
  }
  {
    HONDANA_TRY(auto removing, writer_.ask("DELETE FROM bodies WHERE seq=?1"));
    removing->bind(1, which.seq);
    HONDANA_TRY(removing->run());
  }
  if (which.about.how == status::computing) {
    HONDANA_TRY(auto ending, writer_.ask("DELETE FROM claims WHERE key=?1 AND id=?2"));
    ending->bind(1, std::string_view(which.about.of.all)).bind(2, std::string_view(raw));
    HONDANA_TRY(ending->run());
  }
  --in.entries;
  in.bytes -= static_cast<std::int64_t>(which.about.bytes);
  return note(in, why, which.about.id, which.about.of.all);
}

result<std::uint64_t> embedded_store::remove(ledger& in, const std::vector<std::int64_t>& which) {
  std::uint64_t count = 0;
  for (const auto seq : which) {
    HONDANA_TRY(const auto found, row_at(writer_, seq));
    if (!found) continue;
    if (auto gone = remove(in, *found, change::kind::gone); !gone) return tl::unexpected(std::move(gone.error()));
    ++count;
  }
  return count;
}

result<std::vector<std::int64_t>> embedded_store::numbers(const char* sql, std::int64_t with) {
  std::vector<std::int64_t> out;
  HONDANA_TRY(auto asking, writer_.ask(sql));
  asking->bind(1, with).bind(2, most_asked);
  for (;;) {
    HONDANA_TRY(const auto more, asking->step());
    if (!more) return out;
    out.push_back(asking->number(0));
  }
}

result<std::vector<std::int64_t>> embedded_store::based_on_others(const std::string& uri,
                                                                  const std::vector<std::string>& versions) {
  std::vector<std::int64_t> out;
  std::string version;
  for (bool is_first = true; out.size() < most_forgotten + 1; is_first = false) {
    {
      HONDANA_TRY(auto asking,
                  writer_.ask(is_first ? "SELECT version FROM bases WHERE uri=?1 AND version>=?2 ORDER BY version LIMIT 1"
                                       : "SELECT version FROM bases WHERE uri=?1 AND version>?2 ORDER BY version LIMIT 1"));
      asking->bind_text(1, uri).bind_text(2, version);
      HONDANA_TRY(const auto more, asking->step());
      if (!more) break;
      version = asking->bytes(0);
    }
    if (std::find(versions.begin(), versions.end(), version) != versions.end()) continue;
    HONDANA_TRY(auto asking,
                writer_.ask("SELECT e.seq FROM bases b JOIN entries e ON e.id=b.id WHERE b.uri=?1 AND b.version=?2 LIMIT ?3"));
    asking->bind_text(1, uri).bind_text(2, version).bind(3, most_asked);
    for (;;) {
      HONDANA_TRY(const auto more, asking->step());
      if (!more) break;
      out.push_back(asking->number(0));
    }
  }
  return out;
}

result<std::vector<std::int64_t>> embedded_store::chosen(const forgetting& which) {
  if (which.everything) return numbers("SELECT seq FROM entries WHERE seq>?1 LIMIT ?2", -1);
  if (!which.uri.empty()) return based_on_others(which.uri, which.versions);
  const char* sql = "SELECT seq FROM entries WHERE id=?1 LIMIT ?2";
  std::string by = raw_id(which.id);
  if (!which.of.empty()) {
    sql = "SELECT seq FROM entries WHERE key=?1 LIMIT ?2";
    by = which.of;
  } else if (!which.session.empty()) {
    sql = "SELECT seq FROM entries WHERE session=CAST(?1 AS TEXT) AND session<>'' LIMIT ?2";
    by = which.session;
  } else if (!which.tag.empty()) {
    sql = "SELECT e.seq FROM tags t JOIN entries e ON e.id=t.id WHERE t.tag=CAST(?1 AS TEXT) LIMIT ?2";
    by = which.tag;
  }
  std::vector<std::int64_t> out;
  HONDANA_TRY(auto asking, writer_.ask(sql));
  asking->bind(1, std::string_view(by)).bind(2, most_asked);
  for (;;) {
    HONDANA_TRY(const auto more, asking->step());
    if (!more) return out;
    out.push_back(asking->number(0));
  }
}

result<store::forgotten> embedded_store::forget(const forgetting& which) {
  HONDANA_TRY(analyses::check(which));
  // All at once, so that nothing of it is served once this has begun to be seen.
  return write<forgotten>([&](ledger& in) -> result<forgotten> {
    HONDANA_TRY(auto seqs, chosen(which));
    forgotten out;
    out.is_last = seqs.size() <= most_forgotten;
    if (!out.is_last) seqs.resize(most_forgotten);
    HONDANA_TRY(const auto count, remove(in, seqs));
    out.count = count;
    if (which.of.empty() && !which.everything) return out;
    in.is_changed = true;
    HONDANA_TRY(auto forgiving, writer_.ask("DELETE FROM failures WHERE key=?1 OR ?2"));
    forgiving->bind(1, std::string_view(which.of)).bind(2, std::int64_t{which.everything ? 1 : 0});
    HONDANA_TRY(forgiving->run());
    return out;
  });
}

result<embedded_store::amount> embedded_store::computed_now() {
  // Each that is computed has a claim, of which there are few.
  HONDANA_TRY(
      auto asking,
      writer_.ask("SELECT count(*), coalesce(sum(e.bytes), 0) FROM claims c JOIN entries e ON e.id=c.id WHERE e.how=0"));
  HONDANA_TRY(asking->step());
  return amount{static_cast<std::uint64_t>(asking->number(1)), static_cast<std::uint64_t>(asking->number(0))};
}

result<embedded_store::amount> embedded_store::whole_of(const ledger& in) {
  HONDANA_TRY(const auto computed, computed_now());
  const auto left = [](std::int64_t all, std::uint64_t of_them) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, all - static_cast<std::int64_t>(of_them)));
  };
  return amount{left(in.bytes, computed.bytes), left(in.entries, computed.entries)};
}

result<store::forgotten> embedded_store::sweep(const limits& within) {
  forgotten out;
  for (bool has_more = true; has_more && out.count < most_forgotten;) {
    const auto count = write<std::uint64_t>([&](ledger& in) -> result<std::uint64_t> {
      {
        HONDANA_TRY(auto forgiving, writer_.ask("DELETE FROM failures WHERE until<=?1"));
        forgiving->bind(1, in.now);
        HONDANA_TRY(forgiving->run());
      }
      HONDANA_TRY(const auto forgiven, writer_.on.number("SELECT changes()"));
      // Time that is ahead is noted where nobody else writes, too: after a clock went back it stands still until then.
      in.is_changed = forgiven > 0 || in.is_ahead;
      HONDANA_TRY(
          auto over,
          numbers("SELECT seq FROM entries WHERE gone<=?1 AND (how<>0 OR gone<=?1-600000) ORDER BY gone LIMIT ?2", in.now));
      static_assert(grace_after_lease == 600'000);
      if (over.size() > most_at_once) over.resize(most_at_once);
      auto removed = remove(in, over);
      if (!removed || *removed == most_at_once) return removed;
      // The oldest, as far as there is too much of what is whole: what is computed stays, and does not crowd out others.
      HONDANA_TRY(auto kept, whole_of(in));
      HONDANA_TRY(auto oldest, writer_.ask("SELECT seq, created, bytes FROM entries WHERE how<>0 ORDER BY seq LIMIT ?1"));
      oldest->bind(1, static_cast<std::int64_t>(most_at_once - *removed));
      std::vector<std::int64_t> too_many;
      for (;;) {
        HONDANA_TRY(const auto more, oldest->step());
        if (!more) break;
        const bool is_old = moment(oldest->number(1)) + within.age <= moment(in.now);
        if (!is_old && kept.bytes <= within.bytes && kept.entries <= within.entries) break;
        too_many.push_back(oldest->number(0));
        kept.bytes -= std::min(kept.bytes, static_cast<std::uint64_t>(oldest->number(2)));
        kept.entries -= std::min<std::uint64_t>(kept.entries, 1);
      }
      auto more = remove(in, too_many);
      if (!more) return more;
      return *removed + *more;
    });
    if (!count) return tl::unexpected(count.error());
    out.count += *count;
    has_more = *count == most_at_once;
    out.is_last = !has_more;
  }
  if (out.count == 0 || is_in_memory_) return out;
  const std::lock_guard held(writing_);
  HONDANA_TRY(writer_.on.run("PRAGMA incremental_vacuum(2000)"));
  return out;
}

result<void> embedded_store::count(const statistics& more) {
  const auto done = write<bool>([&](ledger& in) -> result<bool> {
    in.is_changed = true;
    for (std::size_t task = 0; task < count_of_tasks; ++task) {
      const auto& one = more.by_task[task];
      if (one == task_statistics()) continue;
      auto adding = writer_.ask(
          "INSERT INTO counts VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT(task) DO UPDATE SET "
          "hits=hits+?2, stale_hits=stale_hits+?3, misses=misses+?4, failures=failures+?5, computed=computed+?6, "
          "below=below+?7, cost_saved=cost_saved+?8, cost_spent=cost_spent+?9, "
          "milliseconds_saved=min(milliseconds_saved+?10, 9000000000000000000), "
          "milliseconds_spent=min(milliseconds_spent+?11, 9000000000000000000)");
      static_assert(most_milliseconds == 9'000'000'000'000'000'000u);
      if (!adding) return tl::unexpected(std::move(adding.error()));
      auto& to = *adding;
      const auto whole = [&](int at, std::uint64_t number) { to->bind(at, static_cast<std::int64_t>(number)); };
      to->bind(1, static_cast<std::int64_t>(task));
      whole(2, one.hits);
      whole(3, one.stale_hits);
      whole(4, one.misses);
      whole(5, one.failures);
      whole(6, one.computed);
      whole(7, one.below);
      to->bind_real(8, one.cost_saved).bind_real(9, one.cost_spent);
      whole(10, one.milliseconds_saved);
      whole(11, one.milliseconds_spent);
      HONDANA_TRY(to->run());
    }
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  return {};
}

result<statistics> embedded_store::counted() const {
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  auto asking = by->file().ask(
      "SELECT task, hits, stale_hits, misses, failures, computed, below, cost_saved, cost_spent, milliseconds_saved, "
      "milliseconds_spent FROM counts WHERE task BETWEEN 0 AND 2");
  if (!asking) return by->passed(std::move(asking.error()));
  statistics out;
  for (;;) {
    const auto more = (*asking)->step();
    if (!more) return by->passed(more.error());
    if (!*more) return out;
    const auto whole = [&](int at) { return static_cast<std::uint64_t>((*asking)->number(at)); };
    out.of(static_cast<task_type>((*asking)->number(0))) = {whole(1), whole(2), whole(3),           whole(4),
                                                            whole(5), whole(6), (*asking)->real(7), (*asking)->real(8),
                                                            whole(9), whole(10)};
  }
}

result<store_facts> embedded_store::facts() const {
  store_facts out;
  out.where = is_in_memory_ ? "memory" : options_.path;
  auto by = reader::take(*this);
  if (!by) return tl::unexpected(std::move(by.error()));
  auto asking = by->file().ask(
      "SELECT entries, bytes, (SELECT count(*) FROM claims), (SELECT created FROM entries ORDER BY id DESC LIMIT 1), (SELECT "
      "created FROM entries ORDER BY id LIMIT 1) FROM state");
  if (!asking) return by->passed(std::move(asking.error()));
  const auto more = (*asking)->step();
  if (!more) return by->passed(more.error());
  if (!*more) return out;
  out.entries = static_cast<std::uint64_t>((*asking)->number(0));
  out.bytes = static_cast<std::uint64_t>((*asking)->number(1));
  out.claims = static_cast<std::uint64_t>((*asking)->number(2));
  if (!(*asking)->is_null(3)) out.oldest = moment((*asking)->number(3));
  if (!(*asking)->is_null(4)) out.newest = moment((*asking)->number(4));
  return out;
}

}  // namespace hondana::analyses
