/// The SQLite store of analyses: claims, puts, removal and statistics.

#include <algorithm>
#include <utility>

#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/embedded/embedded_store_impl.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {
namespace {

constexpr std::int64_t kept_changes = 10'000;

std::int64_t number_of(instant when) { return when.time_since_epoch().count(); }

}  // namespace

result<void> embedded_store::note(ledger& in, change::kind what, std::string_view id, std::string_view of) {
  in.is_changed = true;
  ++in.change;
  {
    HONDANA_TRY(auto adding, writer_.ask("INSERT INTO changes VALUES(?1, ?2, ?3, ?4)"));
    const auto raw = raw_id(id);
    adding->bind(1, in.change).bind(2, static_cast<std::int64_t>(what)).bind(3, std::string_view(raw)).bind(4, of);
    HONDANA_TRY(adding->run());
  }
  HONDANA_TRY(auto forgetting, writer_.ask("DELETE FROM changes WHERE number<=?1"));
  forgetting->bind(1, in.change - kept_changes);
  return forgetting->run();
}

result<void> embedded_store::index(std::string_view id, const std::vector<std::string>& tags,
                                   const std::vector<basis>& context) {
  const auto raw = raw_id(id);
  for (const auto& one : tags) {
    HONDANA_TRY(auto adding, writer_.ask("INSERT OR IGNORE INTO tags VALUES(?1, ?2)"));
    adding->bind_text(1, one).bind(2, std::string_view(raw));
    HONDANA_TRY(adding->run());
  }
  for (const auto& one : context) {
    HONDANA_TRY(auto adding, writer_.ask("INSERT OR IGNORE INTO bases VALUES(?1, ?2, ?3)"));
    adding->bind_text(1, one.uri).bind_text(2, one.version).bind(3, std::string_view(raw));
    HONDANA_TRY(adding->run());
  }
  return {};
}

result<void> embedded_store::replace_body(std::int64_t seq, const std::string& body) {
  HONDANA_TRY(auto putting, writer_.ask("INSERT OR REPLACE INTO bodies VALUES(?1, ?2)"));
  putting->bind(1, seq).bind(2, std::string_view(body));
  return putting->run();
}

result<void> embedded_store::release(std::string_view of) {
  HONDANA_TRY(auto ending, writer_.ask("DELETE FROM claims WHERE key=?1"));
  ending->bind(1, of);
  return ending->run();
}

result<void> embedded_store::forgive(std::string_view of) {
  HONDANA_TRY(auto forgiving, writer_.ask("DELETE FROM failures WHERE key=?1"));
  forgiving->bind(1, of);
  return forgiving->run();
}

result<void> embedded_store::check_room(std::size_t bytes, std::uint64_t instead_of) {
  if (bytes <= small_body || bytes <= instead_of) return {};
  HONDANA_TRY(const auto computed, computed_now());
  if (computed.bytes + bytes - instead_of > most_computing) return too_much_computed();
  return {};
}

result<void> embedded_store::insert(ledger& in, const wish& what, const ticket& by) {
  HONDANA_TRY(const auto begun, prepared_for(what));
  HONDANA_TRY(check_room(begun.body.size(), 0));
  const auto raw = raw_id(by.id);
  const auto until = in.now + what.lease.count();
  const auto& about = begun.about;
  {
    HONDANA_TRY(
        auto adding,
        writer_.ask(
            "INSERT INTO entries(id, key, prompt, how, task, title, session, created, changed, expires, gone, confidence, "
            "agreement, cost, took, rounds, providers, bytes, version) VALUES(?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?7, ?8, ?8, 0, 0, "
            "0, "
            "0, 0, 0, ?9, ?10)"));
    adding->bind(1, std::string_view(raw)).bind(2, std::string_view(what.of.all)).bind(3, std::string_view(what.of.prompt));
    adding->bind(4, static_cast<std::int64_t>(what.task)).bind_text(5, about.title).bind_text(6, what.session);
    adding->bind(7, in.now).bind(8, until).bind(9, static_cast<std::int64_t>(about.bytes)).bind(10, in.change);
    HONDANA_TRY(adding->run());
  }
  const auto seq = writer_.on.last_row();
  HONDANA_TRY(replace_body(seq, begun.body));
  HONDANA_TRY(index(by.id, what.tags, what.asked.context));
  ++in.entries;
  in.bytes += static_cast<std::int64_t>(about.bytes);
  HONDANA_TRY(auto claiming,
              writer_.ask("INSERT OR REPLACE INTO claims(key, id, token, who, until, secret) VALUES(?1, ?2, ?3, ?4, ?5, ?6)"));
  claiming->bind(1, std::string_view(what.of.all)).bind(2, std::string_view(raw));
  claiming->bind(3, static_cast<std::int64_t>(by.token));
  claiming->bind_text(4, std::string_view(what.who).substr(0, longest_who)).bind(5, until).bind_text(6, by.secret);
  return claiming->run();
}

result<claimed> embedded_store::claim(const wish& what) {
  HONDANA_TRY(check(what));
  HONDANA_TRY(const auto random, random_digits());
  HONDANA_TRY(const auto secret, secret_digits());
  return write<claimed>([&](ledger& in) -> result<claimed> {
    claimed out;
    HONDANA_TRY(auto there, answer_in(writer_, what.of.all, in.now));
    out.there = std::move(there);
    if (out.there.claim) return out;
    if (!what.is_forced && !what.is_anew && out.there.what == answer::kind::fresh) return out;
    if (out.there.what == answer::kind::fresh) {
      // The answer contains no claim if it is fresh.
      HONDANA_TRY(auto asking, writer_.ask("SELECT id, who, until FROM claims WHERE key=?1 AND until>?2"));
      asking->bind(1, std::string_view(what.of.all)).bind(2, in.now);
      HONDANA_TRY(const auto more, asking->step());
      if (more) {
        out.there.claim = answer::holder{id_of_raw(asking->bytes(0)), std::string(asking->bytes(1)),
                                         instant(milliseconds(asking->number(2)))};
        out.there.why.clear();
        out.there.until = {};
        return out;
      }
    }
    if (!what.is_forced && out.there.until != instant()) return out;
    // The lease of an earlier claim has ended.
    std::string late;
    {
      HONDANA_TRY(auto asking, writer_.ask("SELECT id FROM claims WHERE key=?1"));
      asking->bind(1, std::string_view(what.of.all));
      HONDANA_TRY(const auto more, asking->step());
      if (more) late = id_of_raw(asking->bytes(0));
    }
    if (!late.empty()) {
      HONDANA_TRY(const auto found, row_of(writer_, late));
      if (found) {
        HONDANA_TRY(remove(in, *found, change::kind::failed));
      }
    }
    HONDANA_TRY(const auto claims, writer_.on.number("SELECT count(*) FROM claims"));
    if (claims >= static_cast<std::int64_t>(most_claims)) return too_many_claims();
    ++in.token;
    const ticket by{digits_of(in.now) + random, static_cast<std::uint64_t>(in.token), secret};
    HONDANA_TRY(note(in, change::kind::claimed, by.id, what.of.all));
    HONDANA_TRY(insert(in, what, by));
    if (what.is_forced) {
      HONDANA_TRY(forgive(what.of.all));
    }
    out.by = by;
    out.until = instant(milliseconds(in.now) + what.lease);
    return out;
  });
}

result<embedded_store::row> embedded_store::claimed_by(const ticket& by, std::int64_t& until) {
  HONDANA_TRY(auto found, row_of(writer_, by.id));
  if (!found) return no_such_claim();
  if (found->about.how != status::computing) return already_put();
  HONDANA_TRY(auto asking, writer_.ask("SELECT token, until, secret FROM claims WHERE key=?1 AND id=?2"));
  const auto raw = raw_id(by.id);
  asking->bind(1, std::string_view(found->about.of.all)).bind(2, std::string_view(raw));
  HONDANA_TRY(const auto more, asking->step());
  if (!more || static_cast<std::uint64_t>(asking->number(0)) != by.token) return no_such_claim();
  if (!is_same_secret(asking->bytes(2), by.secret)) return no_such_claim();
  until = asking->number(1);
  return std::move(*found);
}

result<instant> embedded_store::renew(const ticket& by, milliseconds lease) {
  HONDANA_TRY(check_lease(lease));
  return write<instant>([&](ledger& in) -> result<instant> {
    std::int64_t until = 0;
    HONDANA_TRY(const auto found, claimed_by(by, until));
    in.is_changed = true;
    until = std::max(until, in.now + static_cast<std::int64_t>(lease.count()));
    {
      HONDANA_TRY(auto renewing, writer_.ask("UPDATE claims SET until=?2 WHERE key=?1"));
      renewing->bind(1, std::string_view(found.about.of.all)).bind(2, until);
      HONDANA_TRY(renewing->run());
    }
    HONDANA_TRY(auto keeping, writer_.ask("UPDATE entries SET expires=?2, gone=?2 WHERE seq=?1"));
    keeping->bind(1, found.seq).bind(2, until);
    HONDANA_TRY(keeping->run());
    return instant(milliseconds(until));
  });
}

result<void> embedded_store::replace_others(ledger& in, std::int64_t seq, const summary& by) {
  std::vector<std::int64_t> others;
  {
    HONDANA_TRY(auto asking, writer_.ask("SELECT seq FROM entries WHERE key=?1 AND seq<>?2 AND (how=2 OR (how=1 AND ?3=1))"));
    asking->bind(1, std::string_view(by.of.all)).bind(2, seq).bind(3, static_cast<std::int64_t>(by.how));
    for (;;) {
      HONDANA_TRY(const auto more, asking->step());
      if (!more) break;
      others.push_back(asking->number(0));
    }
  }
  HONDANA_TRY(remove(in, others));
  return {};
}

result<summary> embedded_store::put(const ticket& by, const putting& what) {
  HONDANA_TRY(check(what));
  return write<summary>([&](ledger& in) -> result<summary> {
    std::int64_t until = 0;
    HONDANA_TRY(const auto found, claimed_by(by, until));
    if (found.about.of != what.about.of) return another_question();
    const bool is_part = what.about.how == status::computing;
    if (is_part) {
      HONDANA_TRY(check_room(what.body.size(), found.about.bytes));
    }
    HONDANA_TRY(note(in, is_part ? change::kind::part : change::kind::put, by.id, what.about.of.all));
    auto out = what.about;
    out.id = by.id;
    out.created = found.about.created;
    out.changed = instant(milliseconds(in.now));
    out.expires = out.changed + (is_part ? std::max(what.lease, milliseconds(until - in.now)) : what.fresh);
    out.gone = out.expires + (is_part ? milliseconds(0) : what.stale);
    out.version = static_cast<std::uint64_t>(in.change);
    in.bytes += static_cast<std::int64_t>(what.body.size()) - static_cast<std::int64_t>(found.about.bytes);
    {
      HONDANA_TRY(
          auto putting_it,
          writer_.ask(
              "UPDATE entries SET how=?2, task=?3, title=?4, session=?5, changed=?6, expires=?7, gone=?8, confidence=?9, "
              "agreement=?10, cost=?11, took=?12, rounds=?13, providers=?14, bytes=?15, version=?16 WHERE seq=?1"));
      auto& to = putting_it;
      to->bind(1, found.seq).bind(2, static_cast<std::int64_t>(out.how)).bind(3, static_cast<std::int64_t>(out.task));
      to->bind_text(4, out.title).bind_text(5, out.session).bind(6, in.now);
      to->bind(7, number_of(out.expires)).bind(8, number_of(out.gone));
      to->bind_real(9, out.confidence).bind_real(10, out.agreement).bind_real(11, out.cost);
      to->bind(12, static_cast<std::int64_t>(out.took.count())).bind(13, static_cast<std::int64_t>(out.rounds));
      to->bind(14, static_cast<std::int64_t>(out.providers)).bind(15, static_cast<std::int64_t>(what.body.size()));
      to->bind(16, in.change);
      HONDANA_TRY(to->run());
    }
    HONDANA_TRY(replace_body(found.seq, what.body));
    const auto raw = raw_id(by.id);
    {
      HONDANA_TRY(auto untagging, writer_.ask("DELETE FROM tags WHERE id=?1"));
      untagging->bind(1, std::string_view(raw));
      HONDANA_TRY(untagging->run());
    }
    // The context was stored with the claim: it is part of the key.
    HONDANA_TRY(index(by.id, what.tags, {}));
    for (const auto& name : what.names) {
      HONDANA_TRY(auto naming_it, writer_.ask("INSERT INTO providers SELECT ?1 WHERE NOT EXISTS(SELECT 1 FROM providers WHERE "
                                              "name=?1) AND (SELECT count(*) FROM "
                                              "providers)<?2"));
      naming_it->bind_text(1, name).bind(2, static_cast<std::int64_t>(most_provider_names));
      HONDANA_TRY(naming_it->run());
    }
    if (is_part) {
      HONDANA_TRY(auto renewing, writer_.ask("UPDATE claims SET until=?2 WHERE key=?1"));
      renewing->bind(1, std::string_view(what.about.of.all)).bind(2, number_of(out.expires));
      HONDANA_TRY(renewing->run());
      return out;
    }
    HONDANA_TRY(release(what.about.of.all));
    HONDANA_TRY(replace_others(in, found.seq, out));
    HONDANA_TRY(forgive(what.about.of.all));
    return out;
  });
}

result<void> embedded_store::fail(const ticket& by, std::string_view why, milliseconds remembered) {
  const auto done = write<bool>([&](ledger& in) -> result<bool> {
    std::int64_t until = 0;
    HONDANA_TRY(const auto found, claimed_by(by, until));
    HONDANA_TRY(remove(in, found, change::kind::failed));
    if (remembered <= milliseconds(0)) return true;
    HONDANA_TRY(auto remembering, writer_.ask("INSERT OR REPLACE INTO failures VALUES(?1, ?2, ?3)"));
    const auto kept = kept_reason(why);
    remembering->bind(1, std::string_view(found.about.of.all)).bind(2, in.now + remembered.count()).bind_text(3, kept);
    HONDANA_TRY(remembering->run());
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  return {};
}

namespace {

/// How long after the end of its lease a ticket may still be used, if no other caller has claimed. Unit: milliseconds.
constexpr std::int64_t grace_after_lease = 600'000;
/// Deletions in one transaction, so that other processes wait a few milliseconds at most.
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
  // In one transaction, so that no analysis of the selection is served once its deletion is visible.
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
  // Each analysis being computed has a claim, and claims are few.
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
      // A time that is ahead must be stored even without other writes: after the system clock was set back, store time would
      // otherwise stand still.
      in.is_changed = forgiven > 0 || in.is_ahead;
      HONDANA_TRY(
          auto over,
          numbers("SELECT seq FROM entries WHERE gone<=?1 AND (how<>0 OR gone<=?1-600000) ORDER BY gone LIMIT ?2", in.now));
      static_assert(grace_after_lease == 600'000);
      if (over.size() > most_at_once) over.resize(most_at_once);
      auto removed = remove(in, over);
      if (!removed || *removed == most_at_once) return removed;
      // Deletes the oldest whole analyses beyond the limits. Those being computed stay, and do not count.
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
