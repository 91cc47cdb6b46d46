/// The SQLite store of analyses: claims, puts, removal and statistics.

#include <algorithm>
#include <utility>

#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/embedded/embedded_store_impl.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {
namespace {

constexpr std::int64_t max_stored_changes = 10'000;

std::int64_t to_milliseconds(instant time) { return time.time_since_epoch().count(); }

}  // namespace

result<void> embedded_store::record_change(state_row& state, store_change::event_kind event, std::string_view id,
                                           std::string_view key) {
  state.is_changed = true;
  ++state.last_change;
  {
    HONDANA_TRY(auto statement, writer_.prepare("INSERT INTO changes VALUES(?1, ?2, ?3, ?4)"));
    const auto id_bytes = id_to_bytes(id);
    statement->bind(1, state.last_change)
        .bind(2, static_cast<std::int64_t>(event))
        .bind(3, std::string_view(id_bytes))
        .bind(4, key);
    HONDANA_TRY(statement->execute());
  }
  HONDANA_TRY(auto delete_statement, writer_.prepare("DELETE FROM changes WHERE number<=?1"));
  delete_statement->bind(1, state.last_change - max_stored_changes);
  return delete_statement->execute();
}

result<void> embedded_store::insert_index_rows(std::string_view id, const std::vector<std::string>& tags,
                                               const std::vector<resource_version>& context) {
  const auto id_bytes = id_to_bytes(id);
  for (const auto& tag : tags) {
    HONDANA_TRY(auto statement, writer_.prepare("INSERT OR IGNORE INTO tags VALUES(?1, ?2)"));
    statement->bind_text(1, tag).bind(2, std::string_view(id_bytes));
    HONDANA_TRY(statement->execute());
  }
  for (const auto& resource : context) {
    HONDANA_TRY(auto statement, writer_.prepare("INSERT OR IGNORE INTO bases VALUES(?1, ?2, ?3)"));
    statement->bind_text(1, resource.uri).bind_text(2, resource.version).bind(3, std::string_view(id_bytes));
    HONDANA_TRY(statement->execute());
  }
  return {};
}

result<void> embedded_store::replace_body(std::int64_t seq, const std::string& body) {
  HONDANA_TRY(auto statement, writer_.prepare("INSERT OR REPLACE INTO bodies VALUES(?1, ?2)"));
  statement->bind(1, seq).bind(2, std::string_view(body));
  return statement->execute();
}

result<void> embedded_store::delete_claim(std::string_view key) {
  HONDANA_TRY(auto statement, writer_.prepare("DELETE FROM claims WHERE key=?1"));
  statement->bind(1, key);
  return statement->execute();
}

result<void> embedded_store::delete_failure(std::string_view key) {
  HONDANA_TRY(auto statement, writer_.prepare("DELETE FROM failures WHERE key=?1"));
  statement->bind(1, key);
  return statement->execute();
}

result<void> embedded_store::check_capacity(std::size_t bytes, std::uint64_t replaced_bytes) {
  if (bytes <= small_body_bytes || bytes <= replaced_bytes) return {};
  HONDANA_TRY(const auto computed, computing_usage());
  if (computed.bytes + bytes - replaced_bytes > max_computing_bytes) return too_many_computing_bytes();
  return {};
}

result<void> embedded_store::insert(state_row& state, const claim_parameters& parameters, const claim_ticket& ticket) {
  HONDANA_TRY(const auto initial, prepare_claim(parameters));
  HONDANA_TRY(check_capacity(initial.body.size(), 0));
  const auto id_bytes = id_to_bytes(ticket.id);
  const auto lease_expires_at = state.now + parameters.lease_ttl.count();
  const auto& summary = initial.summary;
  {
    HONDANA_TRY(
        auto statement,
        writer_.prepare(
            "INSERT INTO entries(id, key, prompt, how, task, title, session, created, changed, expires, gone, confidence, "
            "agreement, cost, took, rounds, providers, bytes, version) VALUES(?1, ?2, ?3, 0, ?4, ?5, ?6, ?7, ?7, ?8, ?8, 0, 0, "
            "0, "
            "0, 0, 0, ?9, ?10)"));
    statement->bind(1, std::string_view(id_bytes))
        .bind(2, std::string_view(parameters.key.digest))
        .bind(3, std::string_view(parameters.key.prompt_digest));
    statement->bind(4, static_cast<std::int64_t>(parameters.task)).bind_text(5, summary.title).bind_text(6, parameters.session);
    statement->bind(7, state.now)
        .bind(8, lease_expires_at)
        .bind(9, static_cast<std::int64_t>(summary.bytes))
        .bind(10, state.last_change);
    HONDANA_TRY(statement->execute());
  }
  const auto seq = writer_.database.last_insert_rowid();
  HONDANA_TRY(replace_body(seq, initial.body));
  HONDANA_TRY(insert_index_rows(ticket.id, parameters.tags, parameters.question.context));
  ++state.entries;
  state.bytes += static_cast<std::int64_t>(summary.bytes);
  HONDANA_TRY(
      auto claim_statement,
      writer_.prepare("INSERT OR REPLACE INTO claims(key, id, token, who, until, secret) VALUES(?1, ?2, ?3, ?4, ?5, ?6)"));
  claim_statement->bind(1, std::string_view(parameters.key.digest)).bind(2, std::string_view(id_bytes));
  claim_statement->bind(3, static_cast<std::int64_t>(ticket.token));
  claim_statement->bind_text(4, std::string_view(parameters.claimant).substr(0, max_claimant_bytes))
      .bind(5, lease_expires_at)
      .bind_text(6, ticket.secret);
  return claim_statement->execute();
}

result<claim_result> embedded_store::claim(const claim_parameters& parameters) {
  HONDANA_TRY(validate(parameters));
  HONDANA_TRY(const auto random, make_random_digits());
  HONDANA_TRY(const auto secret, make_secret());
  return write<claim_result>([&](state_row& state) -> result<claim_result> {
    claim_result out;
    HONDANA_TRY(auto answer, read_answer(writer_, parameters.key.digest, state.now));
    out.answer = std::move(answer);
    if (out.answer.claim) return out;
    if (!parameters.is_forced && !parameters.ignores_fresh_answer && out.answer.status == cached_answer::cache_status::fresh)
      return out;
    if (out.answer.status == cached_answer::cache_status::fresh) {
      // The answer contains no claim if it is fresh.
      HONDANA_TRY(auto statement, writer_.prepare("SELECT id, who, until FROM claims WHERE key=?1 AND until>?2"));
      statement->bind(1, std::string_view(parameters.key.digest)).bind(2, state.now);
      HONDANA_TRY(const auto has_row, statement->step());
      if (has_row) {
        out.answer.claim = cached_answer::claim_holder{id_from_bytes(statement->bytes(0)), std::string(statement->bytes(1)),
                                                       instant(milliseconds(statement->number(2)))};
        out.answer.failure_reason.clear();
        out.answer.failure_expires_at = {};
        return out;
      }
    }
    if (!parameters.is_forced && out.answer.failure_expires_at != instant()) return out;
    // The lease of an earlier claim has ended.
    std::string expired_id;
    {
      HONDANA_TRY(auto statement, writer_.prepare("SELECT id FROM claims WHERE key=?1"));
      statement->bind(1, std::string_view(parameters.key.digest));
      HONDANA_TRY(const auto has_row, statement->step());
      if (has_row) expired_id = id_from_bytes(statement->bytes(0));
    }
    if (!expired_id.empty()) {
      HONDANA_TRY(const auto expired_row, find_row(writer_, expired_id));
      if (expired_row) {
        HONDANA_TRY(remove(state, *expired_row, store_change::event_kind::failed));
      }
    }
    HONDANA_TRY(const auto claims, writer_.database.number("SELECT count(*) FROM claims"));
    if (claims >= static_cast<std::int64_t>(max_claims)) return too_many_claims();
    ++state.token;
    const claim_ticket ticket{encode_time(state.now) + random, static_cast<std::uint64_t>(state.token), secret};
    HONDANA_TRY(record_change(state, store_change::event_kind::claimed, ticket.id, parameters.key.digest));
    HONDANA_TRY(insert(state, parameters, ticket));
    if (parameters.is_forced) {
      HONDANA_TRY(delete_failure(parameters.key.digest));
    }
    out.ticket = ticket;
    out.lease_expires_at = instant(milliseconds(state.now) + parameters.lease_ttl);
    return out;
  });
}

result<embedded_store::entry_row> embedded_store::find_claimed(const claim_ticket& ticket, std::int64_t& lease_expires_at) {
  HONDANA_TRY(auto row, find_row(writer_, ticket.id));
  if (!row) return no_such_claim();
  if (row->summary.status != analysis_status::computing) return already_put();
  HONDANA_TRY(auto statement, writer_.prepare("SELECT token, until, secret FROM claims WHERE key=?1 AND id=?2"));
  const auto id_bytes = id_to_bytes(ticket.id);
  statement->bind(1, std::string_view(row->summary.key.digest)).bind(2, std::string_view(id_bytes));
  HONDANA_TRY(const auto has_row, statement->step());
  if (!has_row || static_cast<std::uint64_t>(statement->number(0)) != ticket.token) return no_such_claim();
  if (!is_same_secret(statement->bytes(2), ticket.secret)) return no_such_claim();
  lease_expires_at = statement->number(1);
  return std::move(*row);
}

result<instant> embedded_store::renew(const claim_ticket& ticket, milliseconds lease_ttl) {
  HONDANA_TRY(validate_lease(lease_ttl));
  return write<instant>([&](state_row& state) -> result<instant> {
    std::int64_t lease_expires_at = 0;
    HONDANA_TRY(const auto row, find_claimed(ticket, lease_expires_at));
    state.is_changed = true;
    lease_expires_at = std::max(lease_expires_at, state.now + static_cast<std::int64_t>(lease_ttl.count()));
    {
      HONDANA_TRY(auto claim_statement, writer_.prepare("UPDATE claims SET until=?2 WHERE key=?1"));
      claim_statement->bind(1, std::string_view(row.summary.key.digest)).bind(2, lease_expires_at);
      HONDANA_TRY(claim_statement->execute());
    }
    HONDANA_TRY(auto entry_statement, writer_.prepare("UPDATE entries SET expires=?2, gone=?2 WHERE seq=?1"));
    entry_statement->bind(1, row.seq).bind(2, lease_expires_at);
    HONDANA_TRY(entry_statement->execute());
    return instant(milliseconds(lease_expires_at));
  });
}

result<void> embedded_store::replace_others(state_row& state, std::int64_t seq, const analysis_summary& replacement) {
  std::vector<std::int64_t> replaced_rows;
  {
    HONDANA_TRY(auto statement,
                writer_.prepare("SELECT seq FROM entries WHERE key=?1 AND seq<>?2 AND (how=2 OR (how=1 AND ?3=1))"));
    statement->bind(1, std::string_view(replacement.key.digest))
        .bind(2, seq)
        .bind(3, static_cast<std::int64_t>(replacement.status));
    for (;;) {
      HONDANA_TRY(const auto has_row, statement->step());
      if (!has_row) break;
      replaced_rows.push_back(statement->number(0));
    }
  }
  HONDANA_TRY(remove(state, replaced_rows));
  return {};
}

result<analysis_summary> embedded_store::put(const claim_ticket& ticket, const put_parameters& parameters) {
  HONDANA_TRY(validate(parameters));
  return write<analysis_summary>([&](state_row& state) -> result<analysis_summary> {
    std::int64_t lease_expires_at = 0;
    HONDANA_TRY(const auto row, find_claimed(ticket, lease_expires_at));
    if (row.summary.key != parameters.summary.key) return question_mismatch();
    const bool is_part = parameters.summary.status == analysis_status::computing;
    if (is_part) {
      HONDANA_TRY(check_capacity(parameters.body.size(), row.summary.bytes));
    }
    HONDANA_TRY(record_change(state, is_part ? store_change::event_kind::part : store_change::event_kind::put, ticket.id,
                              parameters.summary.key.digest));
    auto out = parameters.summary;
    out.id = ticket.id;
    out.created_at = row.summary.created_at;
    out.changed_at = instant(milliseconds(state.now));
    out.expires_at = out.changed_at + (is_part ? std::max(parameters.lease_ttl, milliseconds(lease_expires_at - state.now))
                                               : parameters.fresh_ttl);
    out.removed_at = out.expires_at + (is_part ? milliseconds(0) : parameters.stale_ttl);
    out.version = static_cast<std::uint64_t>(state.last_change);
    state.bytes += static_cast<std::int64_t>(parameters.body.size()) - static_cast<std::int64_t>(row.summary.bytes);
    {
      HONDANA_TRY(
          auto prepared,
          writer_.prepare(
              "UPDATE entries SET how=?2, task=?3, title=?4, session=?5, changed=?6, expires=?7, gone=?8, confidence=?9, "
              "agreement=?10, cost=?11, took=?12, rounds=?13, providers=?14, bytes=?15, version=?16 WHERE seq=?1"));
      auto& statement = prepared;
      statement->bind(1, row.seq).bind(2, static_cast<std::int64_t>(out.status)).bind(3, static_cast<std::int64_t>(out.task));
      statement->bind_text(4, out.title).bind_text(5, out.session).bind(6, state.now);
      statement->bind(7, to_milliseconds(out.expires_at)).bind(8, to_milliseconds(out.removed_at));
      statement->bind_real(9, out.confidence).bind_real(10, out.agreement).bind_real(11, out.cost);
      statement->bind(12, static_cast<std::int64_t>(out.duration.count())).bind(13, static_cast<std::int64_t>(out.rounds));
      statement->bind(14, static_cast<std::int64_t>(out.providers)).bind(15, static_cast<std::int64_t>(parameters.body.size()));
      statement->bind(16, state.last_change);
      HONDANA_TRY(statement->execute());
    }
    HONDANA_TRY(replace_body(row.seq, parameters.body));
    const auto id_bytes = id_to_bytes(ticket.id);
    {
      HONDANA_TRY(auto tag_statement, writer_.prepare("DELETE FROM tags WHERE id=?1"));
      tag_statement->bind(1, std::string_view(id_bytes));
      HONDANA_TRY(tag_statement->execute());
    }
    // The context was stored with the claim: it is part of the key.
    HONDANA_TRY(insert_index_rows(ticket.id, parameters.tags, {}));
    for (const auto& name : parameters.provider_names) {
      HONDANA_TRY(auto name_statement,
                  writer_.prepare("INSERT INTO providers SELECT ?1 WHERE NOT EXISTS(SELECT 1 FROM providers WHERE "
                                  "name=?1) AND (SELECT count(*) FROM "
                                  "providers)<?2"));
      name_statement->bind_text(1, name).bind(2, static_cast<std::int64_t>(max_provider_names));
      HONDANA_TRY(name_statement->execute());
    }
    if (is_part) {
      HONDANA_TRY(auto claim_statement, writer_.prepare("UPDATE claims SET until=?2 WHERE key=?1"));
      claim_statement->bind(1, std::string_view(parameters.summary.key.digest)).bind(2, to_milliseconds(out.expires_at));
      HONDANA_TRY(claim_statement->execute());
      return out;
    }
    HONDANA_TRY(delete_claim(parameters.summary.key.digest));
    HONDANA_TRY(replace_others(state, row.seq, out));
    HONDANA_TRY(delete_failure(parameters.summary.key.digest));
    return out;
  });
}

result<void> embedded_store::fail(const claim_ticket& ticket, std::string_view reason, milliseconds failure_ttl) {
  const auto status = write<bool>([&](state_row& state) -> result<bool> {
    std::int64_t lease_expires_at = 0;
    HONDANA_TRY(const auto row, find_claimed(ticket, lease_expires_at));
    HONDANA_TRY(remove(state, row, store_change::event_kind::failed));
    if (failure_ttl <= milliseconds(0)) return true;
    HONDANA_TRY(auto statement, writer_.prepare("INSERT OR REPLACE INTO failures VALUES(?1, ?2, ?3)"));
    const auto stored_reason = truncate_reason(reason);
    statement->bind(1, std::string_view(row.summary.key.digest))
        .bind(2, state.now + failure_ttl.count())
        .bind_text(3, stored_reason);
    HONDANA_TRY(statement->execute());
    return true;
  });
  if (!status) return tl::unexpected(status.error());
  return {};
}

namespace {

/// How long after the end of its lease a ticket may still be used, if no other caller has claimed. Unit: milliseconds.
constexpr std::int64_t lease_grace_milliseconds = 600'000;
/// Deletions in one transaction, so that other processes wait a few milliseconds at most.
constexpr std::size_t delete_batch = 500;
constexpr std::int64_t max_selected = static_cast<std::int64_t>(max_erased) + 1;

instant instant_of(std::int64_t milliseconds_since_epoch) { return instant(milliseconds(milliseconds_since_epoch)); }

}  // namespace

result<void> embedded_store::remove(state_row& state, const entry_row& row, store_change::event_kind event) {
  const auto id_bytes = id_to_bytes(row.summary.id);
  for (const auto* sql : {"DELETE FROM entries WHERE id=?1", "DELETE FROM tags WHERE id=?1", "DELETE FROM bases WHERE id=?1"}) {
    HONDANA_TRY(auto statement, writer_.prepare(sql));
    statement->bind(1, std::string_view(id_bytes));
    HONDANA_TRY(statement->execute());
  }
  {
    HONDANA_TRY(auto statement, writer_.prepare("DELETE FROM bodies WHERE seq=?1"));
    statement->bind(1, row.seq);
    HONDANA_TRY(statement->execute());
  }
  if (row.summary.status == analysis_status::computing) {
    HONDANA_TRY(auto statement, writer_.prepare("DELETE FROM claims WHERE key=?1 AND id=?2"));
    statement->bind(1, std::string_view(row.summary.key.digest)).bind(2, std::string_view(id_bytes));
    HONDANA_TRY(statement->execute());
  }
  --state.entries;
  state.bytes -= static_cast<std::int64_t>(row.summary.bytes);
  return record_change(state, event, row.summary.id, row.summary.key.digest);
}

result<std::uint64_t> embedded_store::remove(state_row& state, const std::vector<std::int64_t>& rows) {
  std::uint64_t count = 0;
  for (const auto seq : rows) {
    HONDANA_TRY(const auto row, read_row(writer_, seq));
    if (!row) continue;
    if (auto removed = remove(state, *row, store_change::event_kind::removed); !removed)
      return tl::unexpected(std::move(removed.error()));
    ++count;
  }
  return count;
}

result<std::vector<std::int64_t>> embedded_store::query_numbers(const char* sql, std::int64_t parameter) {
  std::vector<std::int64_t> out;
  HONDANA_TRY(auto statement, writer_.prepare(sql));
  statement->bind(1, parameter).bind(2, max_selected);
  for (;;) {
    HONDANA_TRY(const auto has_row, statement->step());
    if (!has_row) return out;
    out.push_back(statement->number(0));
  }
}

result<std::vector<std::int64_t>> embedded_store::select_outdated(const std::string& uri,
                                                                  const std::vector<std::string>& versions) {
  std::vector<std::int64_t> out;
  std::string version;
  for (bool is_first = true; out.size() < max_erased + 1; is_first = false) {
    {
      HONDANA_TRY(auto version_statement,
                  writer_.prepare(is_first ? "SELECT version FROM bases WHERE uri=?1 AND version>=?2 ORDER BY version LIMIT 1"
                                           : "SELECT version FROM bases WHERE uri=?1 AND version>?2 ORDER BY version LIMIT 1"));
      version_statement->bind_text(1, uri).bind_text(2, version);
      HONDANA_TRY(const auto has_row, version_statement->step());
      if (!has_row) break;
      version = version_statement->bytes(0);
    }
    if (std::find(versions.begin(), versions.end(), version) != versions.end()) continue;
    HONDANA_TRY(
        auto statement,
        writer_.prepare("SELECT e.seq FROM bases b JOIN entries e ON e.id=b.id WHERE b.uri=?1 AND b.version=?2 LIMIT ?3"));
    statement->bind_text(1, uri).bind_text(2, version).bind(3, max_selected);
    for (;;) {
      HONDANA_TRY(const auto has_row, statement->step());
      if (!has_row) break;
      out.push_back(statement->number(0));
    }
  }
  return out;
}

result<std::vector<std::int64_t>> embedded_store::select_rows(const erase_filter& filter) {
  if (filter.everything) return query_numbers("SELECT seq FROM entries WHERE seq>?1 LIMIT ?2", -1);
  if (!filter.uri.empty()) return select_outdated(filter.uri, filter.versions);
  const char* sql = "SELECT seq FROM entries WHERE id=?1 LIMIT ?2";
  std::string parameter = id_to_bytes(filter.id);
  if (!filter.key.empty()) {
    sql = "SELECT seq FROM entries WHERE key=?1 LIMIT ?2";
    parameter = filter.key;
  } else if (!filter.session.empty()) {
    sql = "SELECT seq FROM entries WHERE session=CAST(?1 AS TEXT) AND session<>'' LIMIT ?2";
    parameter = filter.session;
  } else if (!filter.tag.empty()) {
    sql = "SELECT e.seq FROM tags t JOIN entries e ON e.id=t.id WHERE t.tag=CAST(?1 AS TEXT) LIMIT ?2";
    parameter = filter.tag;
  }
  std::vector<std::int64_t> out;
  HONDANA_TRY(auto statement, writer_.prepare(sql));
  statement->bind(1, std::string_view(parameter)).bind(2, max_selected);
  for (;;) {
    HONDANA_TRY(const auto has_row, statement->step());
    if (!has_row) return out;
    out.push_back(statement->number(0));
  }
}

result<analysis_store::erase_result> embedded_store::erase(const erase_filter& filter) {
  HONDANA_TRY(analyses::validate(filter));
  // In one transaction, so that no analysis of the selection is served once its deletion is visible.
  return write<erase_result>([&](state_row& state) -> result<erase_result> {
    HONDANA_TRY(auto seqs, select_rows(filter));
    erase_result out;
    out.is_last = seqs.size() <= max_erased;
    if (!out.is_last) seqs.resize(max_erased);
    HONDANA_TRY(const auto count, remove(state, seqs));
    out.count = count;
    if (filter.key.empty() && !filter.everything) return out;
    state.is_changed = true;
    HONDANA_TRY(auto statement, writer_.prepare("DELETE FROM failures WHERE key=?1 OR ?2"));
    statement->bind(1, std::string_view(filter.key)).bind(2, std::int64_t{filter.everything ? 1 : 0});
    HONDANA_TRY(statement->execute());
    return out;
  });
}

result<embedded_store::usage> embedded_store::computing_usage() {
  // Each analysis being computed has a claim, and claims are few.
  HONDANA_TRY(
      auto statement,
      writer_.prepare("SELECT count(*), coalesce(sum(e.bytes), 0) FROM claims c JOIN entries e ON e.id=c.id WHERE e.how=0"));
  HONDANA_TRY(statement->step());
  return usage{static_cast<std::uint64_t>(statement->number(1)), static_cast<std::uint64_t>(statement->number(0))};
}

result<embedded_store::usage> embedded_store::finished_usage(const state_row& state) {
  HONDANA_TRY(const auto computing, computing_usage());
  const auto subtract = [](std::int64_t total, std::uint64_t part) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, total - static_cast<std::int64_t>(part)));
  };
  return usage{subtract(state.bytes, computing.bytes), subtract(state.entries, computing.entries)};
}

result<analysis_store::erase_result> embedded_store::sweep(const store_limits& limits) {
  erase_result out;
  for (bool has_more = true; has_more && out.count < max_erased;) {
    const auto count = write<std::uint64_t>([&](state_row& state) -> result<std::uint64_t> {
      {
        HONDANA_TRY(auto statement, writer_.prepare("DELETE FROM failures WHERE until<=?1"));
        statement->bind(1, state.now);
        HONDANA_TRY(statement->execute());
      }
      HONDANA_TRY(const auto deleted_failures, writer_.database.number("SELECT changes()"));
      // A time that is ahead must be stored even without other writes: after the system clock was set back, store time would
      // otherwise stand still.
      state.is_changed = deleted_failures > 0 || state.is_ahead;
      HONDANA_TRY(auto expired,
                  query_numbers("SELECT seq FROM entries WHERE gone<=?1 AND (how<>0 OR gone<=?1-600000) ORDER BY gone LIMIT ?2",
                                state.now));
      static_assert(lease_grace_milliseconds == 600'000);
      if (expired.size() > delete_batch) expired.resize(delete_batch);
      auto removed = remove(state, expired);
      if (!removed || *removed == delete_batch) return removed;
      // Deletes the oldest whole analyses beyond the limits. Those being computed stay, and do not count.
      HONDANA_TRY(auto usage_left, finished_usage(state));
      HONDANA_TRY(auto oldest_statement,
                  writer_.prepare("SELECT seq, created, bytes FROM entries WHERE how<>0 ORDER BY seq LIMIT ?1"));
      oldest_statement->bind(1, static_cast<std::int64_t>(delete_batch - *removed));
      std::vector<std::int64_t> excess;
      for (;;) {
        HONDANA_TRY(const auto has_row, oldest_statement->step());
        if (!has_row) break;
        const bool is_old = instant_of(oldest_statement->number(1)) + limits.max_age <= instant_of(state.now);
        if (!is_old && usage_left.bytes <= limits.max_bytes && usage_left.entries <= limits.max_entries) break;
        excess.push_back(oldest_statement->number(0));
        usage_left.bytes -= std::min(usage_left.bytes, static_cast<std::uint64_t>(oldest_statement->number(2)));
        usage_left.entries -= std::min<std::uint64_t>(usage_left.entries, 1);
      }
      auto excess_removed = remove(state, excess);
      if (!excess_removed) return excess_removed;
      return *removed + *excess_removed;
    });
    if (!count) return tl::unexpected(count.error());
    out.count += *count;
    has_more = *count == delete_batch;
    out.is_last = !has_more;
  }
  if (out.count == 0 || is_in_memory_) return out;
  const std::lock_guard lock(write_mutex_);
  HONDANA_TRY(writer_.database.execute("PRAGMA incremental_vacuum(2000)"));
  return out;
}

result<void> embedded_store::add_statistics(const statistics& additions) {
  const auto status = write<bool>([&](state_row& state) -> result<bool> {
    state.is_changed = true;
    for (std::size_t task = 0; task < task_type_count; ++task) {
      const auto& task_counters = additions.by_task[task];
      if (task_counters == task_statistics()) continue;
      auto prepared = writer_.prepare(
          "INSERT INTO counts VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT(task) DO UPDATE SET "
          "hits=hits+?2, stale_hits=stale_hits+?3, misses=misses+?4, failures=failures+?5, computed=computed+?6, "
          "below=below+?7, cost_saved=cost_saved+?8, cost_spent=cost_spent+?9, "
          "milliseconds_saved=min(milliseconds_saved+?10, 9000000000000000000), "
          "milliseconds_spent=min(milliseconds_spent+?11, 9000000000000000000)");
      static_assert(max_milliseconds == 9'000'000'000'000'000'000u);
      if (!prepared) return tl::unexpected(std::move(prepared.error()));
      auto& statement = *prepared;
      const auto bind_integer = [&](int index, std::uint64_t number) {
        statement->bind(index, static_cast<std::int64_t>(number));
      };
      statement->bind(1, static_cast<std::int64_t>(task));
      bind_integer(2, task_counters.hits);
      bind_integer(3, task_counters.stale_hits);
      bind_integer(4, task_counters.misses);
      bind_integer(5, task_counters.failures);
      bind_integer(6, task_counters.computed);
      bind_integer(7, task_counters.below_thresholds);
      statement->bind_real(8, task_counters.cost_saved).bind_real(9, task_counters.cost_spent);
      bind_integer(10, task_counters.milliseconds_saved);
      bind_integer(11, task_counters.milliseconds_spent);
      HONDANA_TRY(statement->execute());
    }
    return true;
  });
  if (!status) return tl::unexpected(status.error());
  return {};
}

result<statistics> embedded_store::read_statistics() const {
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  auto statement = reader_lease->connection().prepare(
      "SELECT task, hits, stale_hits, misses, failures, computed, below, cost_saved, cost_spent, milliseconds_saved, "
      "milliseconds_spent FROM counts WHERE task BETWEEN 0 AND 2");
  if (!statement) return reader_lease->report(std::move(statement.error()));
  statistics out;
  for (;;) {
    const auto has_row = (*statement)->step();
    if (!has_row) return reader_lease->report(has_row.error());
    if (!*has_row) return out;
    const auto integer_at = [&](int column) { return static_cast<std::uint64_t>((*statement)->number(column)); };
    out.for_task(static_cast<task_type>((*statement)->number(0))) = {
        integer_at(1), integer_at(2),         integer_at(3),         integer_at(4), integer_at(5),
        integer_at(6), (*statement)->real(7), (*statement)->real(8), integer_at(9), integer_at(10)};
  }
}

result<store_info> embedded_store::read_info() const {
  store_info out;
  out.location = is_in_memory_ ? "memory" : options_.path;
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  auto statement = reader_lease->connection().prepare(
      "SELECT entries, bytes, (SELECT count(*) FROM claims), (SELECT created FROM entries ORDER BY id DESC LIMIT 1), (SELECT "
      "created FROM entries ORDER BY id LIMIT 1) FROM state");
  if (!statement) return reader_lease->report(std::move(statement.error()));
  const auto has_row = (*statement)->step();
  if (!has_row) return reader_lease->report(has_row.error());
  if (!*has_row) return out;
  out.entries = static_cast<std::uint64_t>((*statement)->number(0));
  out.bytes = static_cast<std::uint64_t>((*statement)->number(1));
  out.claims = static_cast<std::uint64_t>((*statement)->number(2));
  if (!(*statement)->is_null(3)) out.oldest = instant_of((*statement)->number(3));
  if (!(*statement)->is_null(4)) out.newest = instant_of((*statement)->number(4));
  return out;
}

}  // namespace hondana::analyses
