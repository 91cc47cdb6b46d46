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
    auto adding = writer_.ask("INSERT INTO changes VALUES(?1, ?2, ?3, ?4)");
    if (!adding) return tl::unexpected(std::move(adding.error()));
    const auto raw = raw_id(id);
    (*adding)->bind(1, in.change).bind(2, static_cast<std::int64_t>(what)).bind(3, std::string_view(raw)).bind(4, of);
    if (auto done = (*adding)->run(); !done) return done;
  }
  auto forgetting = writer_.ask("DELETE FROM changes WHERE number<=?1");
  if (!forgetting) return tl::unexpected(std::move(forgetting.error()));
  (*forgetting)->bind(1, in.change - kept_changes);
  return (*forgetting)->run();
}

result<void> embedded_store::index(std::string_view id, const std::vector<std::string>& tags,
                                   const std::vector<basis>& context) {
  const auto raw = raw_id(id);
  for (const auto& one : tags) {
    auto adding = writer_.ask("INSERT OR IGNORE INTO tags VALUES(?1, ?2)");
    if (!adding) return tl::unexpected(std::move(adding.error()));
    (*adding)->bind_text(1, one).bind(2, std::string_view(raw));
    if (auto done = (*adding)->run(); !done) return done;
  }
  for (const auto& one : context) {
    auto adding = writer_.ask("INSERT OR IGNORE INTO bases VALUES(?1, ?2, ?3)");
    if (!adding) return tl::unexpected(std::move(adding.error()));
    (*adding)->bind_text(1, one.uri).bind_text(2, one.version).bind(3, std::string_view(raw));
    if (auto done = (*adding)->run(); !done) return done;
  }
  return {};
}

result<void> embedded_store::replace_body(std::int64_t seq, const std::string& body) {
  auto putting = writer_.ask("INSERT OR REPLACE INTO bodies VALUES(?1, ?2)");
  if (!putting) return tl::unexpected(std::move(putting.error()));
  (*putting)->bind(1, seq).bind(2, std::string_view(body));
  return (*putting)->run();
}

result<void> embedded_store::release(std::string_view of) {
  auto ending = writer_.ask("DELETE FROM claims WHERE key=?1");
  if (!ending) return tl::unexpected(std::move(ending.error()));
  (*ending)->bind(1, of);
  return (*ending)->run();
}

result<void> embedded_store::forgive(std::string_view of) {
  auto forgiving = writer_.ask("DELETE FROM failures WHERE key=?1");
  if (!forgiving) return tl::unexpected(std::move(forgiving.error()));
  (*forgiving)->bind(1, of);
  return (*forgiving)->run();
}

result<void> embedded_store::check_room(std::size_t bytes, std::uint64_t instead_of) {
  if (bytes <= small_body || bytes <= instead_of) return {};
  const auto computed = computed_now();
  if (!computed) return tl::unexpected(computed.error());
  if (computed->bytes + bytes - instead_of > most_computing) return too_much_computed();
  return {};
}

result<void> embedded_store::insert(ledger& in, const wish& what, const ticket& by) {
  const auto begun = prepared_for(what);
  if (!begun) return tl::unexpected(begun.error());
  if (auto checked = check_room(begun->body.size(), 0); !checked) return checked;
  const auto raw = raw_id(by.id);
  const auto until = in.now + what.lease.count();
  const auto& about = begun->about;
  {
    auto adding = writer_.ask(
        "INSERT INTO entries(id, key, prompt, how, task, title, session, created, changed, expires, gone, confidence, "
        "agreement, cost, took, rounds, providers, bytes, version) VALUES(?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?7, ?8, ?8, 0, 0, 0, "
        "0, 0, 0, ?9, ?10)");
    if (!adding) return tl::unexpected(std::move(adding.error()));
    (*adding)->bind(1, std::string_view(raw)).bind(2, std::string_view(what.of.all)).bind(3, std::string_view(what.of.prompt));
    (*adding)->bind(4, static_cast<std::int64_t>(what.task)).bind_text(5, about.title).bind_text(6, what.session);
    (*adding)->bind(7, in.now).bind(8, until).bind(9, static_cast<std::int64_t>(about.bytes)).bind(10, in.change);
    if (auto done = (*adding)->run(); !done) return done;
  }
  const auto seq = writer_.on.last_row();
  if (auto done = replace_body(seq, begun->body); !done) return done;
  if (auto done = index(by.id, what.tags, what.asked.context); !done) return done;
  ++in.entries;
  in.bytes += static_cast<std::int64_t>(about.bytes);
  auto claiming =
      writer_.ask("INSERT OR REPLACE INTO claims(key, id, token, who, until, secret) VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
  if (!claiming) return tl::unexpected(std::move(claiming.error()));
  (*claiming)->bind(1, std::string_view(what.of.all)).bind(2, std::string_view(raw));
  (*claiming)->bind(3, static_cast<std::int64_t>(by.token));
  (*claiming)->bind_text(4, std::string_view(what.who).substr(0, longest_who)).bind(5, until).bind_text(6, by.secret);
  return (*claiming)->run();
}

result<claimed> embedded_store::claim(const wish& what) {
  if (auto checked = check(what); !checked) return tl::unexpected(std::move(checked.error()));
  const auto random = random_digits();
  if (!random) return tl::unexpected(random.error());
  const auto secret = secret_digits();
  if (!secret) return tl::unexpected(secret.error());
  return write<claimed>([&](ledger& in) -> result<claimed> {
    claimed out;
    auto there = answer_in(writer_, what.of.all, in.now);
    if (!there) return tl::unexpected(std::move(there.error()));
    out.there = std::move(*there);
    if (out.there.claim) return out;
    if (!what.is_forced && !what.is_anew && out.there.what == answer::kind::fresh) return out;
    if (out.there.what == answer::kind::fresh) {
      // What is fresh hides a claim.
      auto asking = writer_.ask("SELECT id, who, until FROM claims WHERE key=?1 AND until>?2");
      if (!asking) return tl::unexpected(std::move(asking.error()));
      (*asking)->bind(1, std::string_view(what.of.all)).bind(2, in.now);
      const auto more = (*asking)->step();
      if (!more) return tl::unexpected(more.error());
      if (*more) {
        out.there.claim = answer::holder{id_of_raw((*asking)->bytes(0)), std::string((*asking)->bytes(1)),
                                         instant(milliseconds((*asking)->number(2)))};
        out.there.why.clear();
        out.there.until = {};
        return out;
      }
    }
    if (!what.is_forced && out.there.until != instant()) return out;
    // Whoever had claimed it before is late.
    std::string late;
    {
      auto asking = writer_.ask("SELECT id FROM claims WHERE key=?1");
      if (!asking) return tl::unexpected(std::move(asking.error()));
      (*asking)->bind(1, std::string_view(what.of.all));
      const auto more = (*asking)->step();
      if (!more) return tl::unexpected(more.error());
      if (*more) late = id_of_raw((*asking)->bytes(0));
    }
    if (!late.empty()) {
      const auto found = row_of(writer_, late);
      if (!found) return tl::unexpected(found.error());
      if (*found) {
        if (auto gone = remove(in, **found, change::kind::failed); !gone) return tl::unexpected(std::move(gone.error()));
      }
    }
    const auto claims = writer_.on.number("SELECT count(*) FROM claims");
    if (!claims) return tl::unexpected(claims.error());
    if (*claims >= static_cast<std::int64_t>(most_claims)) return too_many_claims();
    ++in.token;
    const ticket by{digits_of(in.now) + *random, static_cast<std::uint64_t>(in.token), *secret};
    if (auto noted = note(in, change::kind::claimed, by.id, what.of.all); !noted)
      return tl::unexpected(std::move(noted.error()));
    if (auto done = insert(in, what, by); !done) return tl::unexpected(std::move(done.error()));
    if (what.is_forced) {
      if (auto done = forgive(what.of.all); !done) return tl::unexpected(std::move(done.error()));
    }
    out.by = by;
    out.until = instant(milliseconds(in.now) + what.lease);
    return out;
  });
}

result<embedded_store::row> embedded_store::claimed_by(const ticket& by, std::int64_t& until) {
  auto found = row_of(writer_, by.id);
  if (!found) return tl::unexpected(std::move(found.error()));
  if (!*found) return no_such_claim();
  if ((*found)->about.how != status::computing) return already_put();
  auto asking = writer_.ask("SELECT token, until, secret FROM claims WHERE key=?1 AND id=?2");
  if (!asking) return tl::unexpected(std::move(asking.error()));
  const auto raw = raw_id(by.id);
  (*asking)->bind(1, std::string_view((*found)->about.of.all)).bind(2, std::string_view(raw));
  const auto more = (*asking)->step();
  if (!more) return tl::unexpected(more.error());
  if (!*more || static_cast<std::uint64_t>((*asking)->number(0)) != by.token) return no_such_claim();
  if (!is_same_secret((*asking)->bytes(2), by.secret)) return no_such_claim();
  until = (*asking)->number(1);
  return std::move(**found);
}

result<instant> embedded_store::renew(const ticket& by, milliseconds lease) {
  if (auto checked = check_lease(lease); !checked) return tl::unexpected(std::move(checked.error()));
  return write<instant>([&](ledger& in) -> result<instant> {
    std::int64_t until = 0;
    const auto found = claimed_by(by, until);
    if (!found) return tl::unexpected(found.error());
    in.is_changed = true;
    until = std::max(until, in.now + static_cast<std::int64_t>(lease.count()));
    {
      auto renewing = writer_.ask("UPDATE claims SET until=?2 WHERE key=?1");
      if (!renewing) return tl::unexpected(std::move(renewing.error()));
      (*renewing)->bind(1, std::string_view(found->about.of.all)).bind(2, until);
      if (auto done = (*renewing)->run(); !done) return tl::unexpected(std::move(done.error()));
    }
    auto keeping = writer_.ask("UPDATE entries SET expires=?2, gone=?2 WHERE seq=?1");
    if (!keeping) return tl::unexpected(std::move(keeping.error()));
    (*keeping)->bind(1, found->seq).bind(2, until);
    if (auto done = (*keeping)->run(); !done) return tl::unexpected(std::move(done.error()));
    return instant(milliseconds(until));
  });
}

result<void> embedded_store::replace_others(ledger& in, std::int64_t seq, const summary& by) {
  std::vector<std::int64_t> others;
  {
    auto asking = writer_.ask("SELECT seq FROM entries WHERE key=?1 AND seq<>?2 AND (how=2 OR (how=1 AND ?3=1))");
    if (!asking) return tl::unexpected(std::move(asking.error()));
    (*asking)->bind(1, std::string_view(by.of.all)).bind(2, seq).bind(3, static_cast<std::int64_t>(by.how));
    for (;;) {
      const auto more = (*asking)->step();
      if (!more) return tl::unexpected(more.error());
      if (!*more) break;
      others.push_back((*asking)->number(0));
    }
  }
  const auto removed = remove(in, others);
  if (!removed) return tl::unexpected(removed.error());
  return {};
}

result<summary> embedded_store::put(const ticket& by, const putting& what) {
  if (auto checked = check(what); !checked) return tl::unexpected(std::move(checked.error()));
  return write<summary>([&](ledger& in) -> result<summary> {
    std::int64_t until = 0;
    const auto found = claimed_by(by, until);
    if (!found) return tl::unexpected(found.error());
    if (found->about.of != what.about.of) return another_question();
    const bool is_part = what.about.how == status::computing;
    if (is_part) {
      if (auto checked = check_room(what.body.size(), found->about.bytes); !checked)
        return tl::unexpected(std::move(checked.error()));
    }
    if (auto noted = note(in, is_part ? change::kind::part : change::kind::put, by.id, what.about.of.all); !noted)
      return tl::unexpected(std::move(noted.error()));
    auto out = what.about;
    out.id = by.id;
    out.created = found->about.created;
    out.changed = instant(milliseconds(in.now));
    out.expires = out.changed + (is_part ? std::max(what.lease, milliseconds(until - in.now)) : what.fresh);
    out.gone = out.expires + (is_part ? milliseconds(0) : what.stale);
    out.version = static_cast<std::uint64_t>(in.change);
    in.bytes += static_cast<std::int64_t>(what.body.size()) - static_cast<std::int64_t>(found->about.bytes);
    {
      auto putting_it = writer_.ask(
          "UPDATE entries SET how=?2, task=?3, title=?4, session=?5, changed=?6, expires=?7, gone=?8, confidence=?9, "
          "agreement=?10, cost=?11, took=?12, rounds=?13, providers=?14, bytes=?15, version=?16 WHERE seq=?1");
      if (!putting_it) return tl::unexpected(std::move(putting_it.error()));
      auto& to = *putting_it;
      to->bind(1, found->seq).bind(2, static_cast<std::int64_t>(out.how)).bind(3, static_cast<std::int64_t>(out.task));
      to->bind_text(4, out.title).bind_text(5, out.session).bind(6, in.now);
      to->bind(7, number_of(out.expires)).bind(8, number_of(out.gone));
      to->bind_real(9, out.confidence).bind_real(10, out.agreement).bind_real(11, out.cost);
      to->bind(12, static_cast<std::int64_t>(out.took.count())).bind(13, static_cast<std::int64_t>(out.rounds));
      to->bind(14, static_cast<std::int64_t>(out.providers)).bind(15, static_cast<std::int64_t>(what.body.size()));
      to->bind(16, in.change);
      if (auto done = to->run(); !done) return tl::unexpected(std::move(done.error()));
    }
    if (auto done = replace_body(found->seq, what.body); !done) return tl::unexpected(std::move(done.error()));
    const auto raw = raw_id(by.id);
    {
      auto untagging = writer_.ask("DELETE FROM tags WHERE id=?1");
      if (!untagging) return tl::unexpected(std::move(untagging.error()));
      (*untagging)->bind(1, std::string_view(raw));
      if (auto done = (*untagging)->run(); !done) return tl::unexpected(std::move(done.error()));
    }
    // What it is based on stands there since it was claimed: its key says so.
    if (auto done = index(by.id, what.tags, {}); !done) return tl::unexpected(std::move(done.error()));
    for (const auto& name : what.names) {
      auto naming_it = writer_.ask(
          "INSERT INTO providers SELECT ?1 WHERE NOT EXISTS(SELECT 1 FROM providers WHERE name=?1) AND (SELECT count(*) FROM "
          "providers)<?2");
      if (!naming_it) return tl::unexpected(std::move(naming_it.error()));
      (*naming_it)->bind_text(1, name).bind(2, static_cast<std::int64_t>(most_provider_names));
      if (auto done = (*naming_it)->run(); !done) return tl::unexpected(std::move(done.error()));
    }
    if (is_part) {
      auto renewing = writer_.ask("UPDATE claims SET until=?2 WHERE key=?1");
      if (!renewing) return tl::unexpected(std::move(renewing.error()));
      (*renewing)->bind(1, std::string_view(what.about.of.all)).bind(2, number_of(out.expires));
      if (auto done = (*renewing)->run(); !done) return tl::unexpected(std::move(done.error()));
      return out;
    }
    if (auto done = release(what.about.of.all); !done) return tl::unexpected(std::move(done.error()));
    if (auto done = replace_others(in, found->seq, out); !done) return tl::unexpected(std::move(done.error()));
    if (auto done = forgive(what.about.of.all); !done) return tl::unexpected(std::move(done.error()));
    return out;
  });
}

result<void> embedded_store::fail(const ticket& by, std::string_view why, milliseconds remembered) {
  const auto done = write<bool>([&](ledger& in) -> result<bool> {
    std::int64_t until = 0;
    const auto found = claimed_by(by, until);
    if (!found) return tl::unexpected(found.error());
    if (auto gone = remove(in, *found, change::kind::failed); !gone) return tl::unexpected(std::move(gone.error()));
    if (remembered <= milliseconds(0)) return true;
    auto remembering = writer_.ask("INSERT OR REPLACE INTO failures VALUES(?1, ?2, ?3)");
    if (!remembering) return tl::unexpected(std::move(remembering.error()));
    const auto kept = kept_reason(why);
    (*remembering)->bind(1, std::string_view(found->about.of.all)).bind(2, in.now + remembered.count()).bind_text(3, kept);
    if (auto ran = (*remembering)->run(); !ran) return tl::unexpected(std::move(ran.error()));
    return true;
  });
  if (!done) return tl::unexpected(done.error());
  return {};
}

}  // namespace hondana::analyses
