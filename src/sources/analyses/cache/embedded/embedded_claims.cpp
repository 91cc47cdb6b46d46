/// Claims in SQLite, and what is put under them.
#include <algorithm>
#include <utility>

#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/embedded/embedded_state.hpp"
#include "sources/analyses/cache/ids.hpp"
#include "sources/analyses/cache/refusals.hpp"

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
      // What is fresh hides a claim.
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
    // Whoever had claimed it before is late.
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
    // What it is based on stands there since it was claimed: its key says so.
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

}  // namespace hondana::analyses
