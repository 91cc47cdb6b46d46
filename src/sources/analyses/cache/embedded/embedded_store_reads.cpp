/// The SQLite store of analyses: look-ups, lists and change events.

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/embedded/embedded_store_impl.hpp"

namespace hondana::analyses {
namespace {

/// Interval of checks for changes by other processes.
constexpr milliseconds poll_interval{50};
constexpr std::int64_t max_scanned = 10'000;
constexpr std::size_t max_listed = 1000;
constexpr std::size_t max_versions = 64;

instant to_instant(std::int64_t milliseconds_since_epoch) { return instant(milliseconds(milliseconds_since_epoch)); }

}  // namespace

result<std::optional<embedded_store::entry_row>> embedded_store::read_row(store_connection& connection, std::int64_t seq) {
  HONDANA_TRY(auto prepared,
              connection.prepare("SELECT id, key, prompt, how, task, title, session, created, changed, expires, gone, "
                                 "confidence, agreement, cost, took, "
                                 "rounds, providers, bytes, version FROM entries WHERE seq=?1"));
  auto& statement = prepared;
  statement->bind(1, seq);
  HONDANA_TRY(const auto has_row, statement->step());
  if (!has_row) return std::nullopt;
  entry_row out;
  out.seq = seq;
  auto& summary = out.summary;
  summary.id = id_from_bytes(statement->bytes(0));
  summary.key = {std::string(statement->bytes(1)), std::string(statement->bytes(2))};
  summary.status = static_cast<analysis_status>(std::clamp<std::int64_t>(statement->number(3), 0, 2));
  summary.task = static_cast<task_type>(std::clamp<std::int64_t>(statement->number(4), 0, 2));
  summary.title = statement->bytes(5);
  summary.session = statement->bytes(6);
  summary.created_at = to_instant(statement->number(7));
  summary.changed_at = to_instant(statement->number(8));
  summary.expires_at = to_instant(statement->number(9));
  summary.removed_at = to_instant(statement->number(10));
  summary.confidence = statement->real(11);
  summary.agreement = statement->real(12);
  summary.cost = statement->real(13);
  summary.duration = milliseconds(statement->number(14));
  summary.rounds = static_cast<std::uint32_t>(statement->number(15));
  summary.providers = static_cast<std::uint32_t>(statement->number(16));
  summary.bytes = static_cast<std::uint64_t>(statement->number(17));
  summary.version = static_cast<std::uint64_t>(statement->number(18));
  return out;
}

result<std::optional<embedded_store::entry_row>> embedded_store::find_row(store_connection& connection, std::string_view id) {
  const auto id_bytes = id_to_bytes(id);
  if (id_bytes.empty()) return std::nullopt;
  std::int64_t seq = 0;
  {
    HONDANA_TRY(auto statement, connection.prepare("SELECT seq FROM entries WHERE id=?1"));
    statement->bind(1, std::string_view(id_bytes));
    HONDANA_TRY(const auto has_row, statement->step());
    if (!has_row) return std::nullopt;
    seq = statement->number(0);
  }
  return read_row(connection, seq);
}

result<std::optional<cache_entry>> embedded_store::read_entry(store_connection& connection, std::int64_t seq,
                                                              std::int64_t now) {
  HONDANA_TRY(auto row, read_row(connection, seq));
  if (!row) return std::nullopt;
  HONDANA_TRY(auto statement, connection.prepare("SELECT body FROM bodies WHERE seq=?1"));
  statement->bind(1, seq);
  HONDANA_TRY(const auto has_row, statement->step());
  if (!has_row) return std::nullopt;
  cache_entry out;
  out.summary = std::move(row->summary);
  out.body = statement->bytes(0);
  out.is_stale = out.summary.status == analysis_status::complete && out.summary.expires_at <= to_instant(now);
  return out;
}

result<cached_answer> embedded_store::read_answer(store_connection& connection, std::string_view key, std::int64_t now) {
  cached_answer out;
  std::int64_t seq = -1;
  {
    HONDANA_TRY(auto statement, connection.prepare("SELECT seq FROM entries WHERE key=?1 AND how=1 ORDER BY seq DESC LIMIT 1"));
    statement->bind(1, key);
    HONDANA_TRY(const auto has_row, statement->step());
    if (has_row) seq = statement->number(0);
  }
  if (seq >= 0) {
    HONDANA_TRY(auto entry, read_entry(connection, seq, now));
    if (entry && entry->summary.removed_at > to_instant(now)) out.entry = std::move(*entry);
  }
  const bool is_fresh = out.entry && !out.entry->is_stale;
  if (!is_fresh) {
    HONDANA_TRY(auto statement, connection.prepare("SELECT id, who, until FROM claims WHERE key=?1 AND until>?2"));
    statement->bind(1, key).bind(2, now);
    HONDANA_TRY(const auto has_row, statement->step());
    if (has_row)
      out.claim = cached_answer::claim_holder{id_from_bytes(statement->bytes(0)), std::string(statement->bytes(1)),
                                              to_instant(statement->number(2))};
  }
  out.status = is_fresh    ? cached_answer::cache_status::fresh
               : out.entry ? cached_answer::cache_status::stale
               : out.claim ? cached_answer::cache_status::computing
                           : cached_answer::cache_status::missing;
  if (out.claim) return out;
  HONDANA_TRY(auto statement, connection.prepare("SELECT until, why FROM failures WHERE key=?1 AND until>?2"));
  statement->bind(1, key).bind(2, now);
  HONDANA_TRY(const auto has_row, statement->step());
  if (!has_row) return out;
  if (!out.entry) out.status = cached_answer::cache_status::failed;
  out.failure_expires_at = to_instant(statement->number(0));
  out.failure_reason = statement->bytes(1);
  return out;
}

result<cached_answer> embedded_store::look_up(const question_key& key) const {
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  const auto now = read_now(reader_lease->connection());
  if (!now) return reader_lease->report(now.error());
  auto out = read_answer(reader_lease->connection(), key.digest, *now);
  if (!out) return reader_lease->report(std::move(out.error()));
  return out;
}

result<std::optional<cache_entry>> embedded_store::get(std::string_view id) const {
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  const auto now = read_now(reader_lease->connection());
  if (!now) return reader_lease->report(now.error());
  const auto row = find_row(reader_lease->connection(), id);
  if (!row) return reader_lease->report(row.error());
  if (!*row || (*row)->summary.removed_at <= to_instant(*now)) return std::nullopt;
  auto out = read_entry(reader_lease->connection(), (*row)->seq, *now);
  if (!out) return reader_lease->report(std::move(out.error()));
  return out;
}

result<std::optional<analysis_summary>> embedded_store::get_summary(std::string_view id) const {
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  const auto now = read_now(reader_lease->connection());
  if (!now) return reader_lease->report(now.error());
  auto row = find_row(reader_lease->connection(), id);
  if (!row) return reader_lease->report(std::move(row.error()));
  if (!*row || (*row)->summary.removed_at <= to_instant(*now)) return std::nullopt;
  return std::move((*row)->summary);
}

result<summary_page> embedded_store::list(const list_filter& filter, std::string_view after_id, std::size_t max_count) const {
  summary_page out;
  max_count = std::min(max_count, max_listed);
  const auto after_bytes = id_to_bytes(after_id);
  if (!after_id.empty() && after_bytes.empty())
    return hondana::fail(errc::invalid_argument, "a page of analyses starts after an id of 32 hexadecimal digits");
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  const auto now = read_now(reader_lease->connection());
  if (!now) return reader_lease->report(now.error());
  const char* sql = "SELECT seq FROM entries WHERE id>?2 ORDER BY id LIMIT ?3";
  std::string_view parameter;
  if (!filter.key.empty()) {
    sql = "SELECT seq FROM entries WHERE key=?1 AND id>?2 ORDER BY id LIMIT ?3";
    parameter = filter.key;
  } else if (!filter.prompt_digest.empty()) {
    sql = "SELECT seq FROM entries WHERE prompt=?1 AND id>?2 ORDER BY id LIMIT ?3";
    parameter = filter.prompt_digest;
  } else if (!filter.tag.empty()) {
    sql =
        "SELECT e.seq FROM tags t JOIN entries e ON e.id=t.id WHERE t.tag=CAST(?1 AS TEXT) AND t.id>?2 ORDER BY t.id LIMIT ?3";
    parameter = filter.tag;
  } else if (!filter.session.empty()) {
    sql = "SELECT seq FROM entries WHERE session=CAST(?1 AS TEXT) AND session<>'' AND id>?2 ORDER BY id LIMIT ?3";
    parameter = filter.session;
  }
  auto statement = reader_lease->connection().prepare(sql);
  if (!statement) return reader_lease->report(std::move(statement.error()));
  (*statement)->bind(1, parameter).bind(2, std::string_view(after_bytes)).bind(3, max_scanned);
  for (std::int64_t scanned = 0;; ++scanned) {
    const auto has_row = (*statement)->step();
    if (!has_row) return reader_lease->report(has_row.error());
    if (!*has_row) {
      out.is_last = scanned < max_scanned;
      return out;
    }
    if (out.summaries.size() == max_count) {
      out.is_last = false;
      return out;
    }
    const auto row = read_row(reader_lease->connection(), (*statement)->number(0));
    if (!row) return reader_lease->report(row.error());
    if (!*row) continue;
    const auto& summary = (*row)->summary;
    out.next = summary.id;
    const bool matches_filter = summary.removed_at > to_instant(*now) && (!filter.task || *filter.task == summary.task) &&
                                (filter.session.empty() || filter.session == summary.session) &&
                                (filter.prompt_digest.empty() || filter.prompt_digest == summary.key.prompt_digest) &&
                                (filter.key.empty() || filter.key == summary.key.digest);
    if (matches_filter && !filter.tag.empty() && parameter.data() != filter.tag.data()) {
      auto tag_statement = reader_lease->connection().prepare("SELECT 1 FROM tags WHERE tag=CAST(?1 AS TEXT) AND id=?2");
      if (!tag_statement) return reader_lease->report(std::move(tag_statement.error()));
      const auto id_bytes = id_to_bytes(summary.id);
      (*tag_statement)->bind(1, std::string_view(filter.tag)).bind(2, std::string_view(id_bytes));
      const auto has_tag = (*tag_statement)->step();
      if (!has_tag) return reader_lease->report(has_tag.error());
      if (!*has_tag) continue;
    }
    if (matches_filter) out.summaries.push_back(summary);
  }
}

result<std::vector<std::string>> embedded_store::list_distinct(store_connection& connection, const char* first_sql,
                                                               const char* next_sql, std::string_view prefix,
                                                               std::size_t max_count) {
  std::vector<std::string> out;
  std::string last(prefix);
  while (out.size() < max_count) {
    HONDANA_TRY(auto statement, connection.prepare(out.empty() ? first_sql : next_sql));
    statement->bind_text(1, last);
    HONDANA_TRY(const auto has_row, statement->step());
    if (!has_row) break;
    const auto value = statement->bytes(0);
    if (!value.starts_with(prefix)) break;
    last = value;
    out.push_back(last);
  }
  return out;
}

result<std::vector<std::string>> embedded_store::list_names(name_kind kind, std::string_view prefix,
                                                            std::size_t max_count) const {
  max_count = std::min(max_count, max_listed);
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  result<std::vector<std::string>> out{};
  if (kind == name_kind::provider) {
    out = list_distinct(reader_lease->connection(), "SELECT name FROM providers WHERE name>=?1 ORDER BY name LIMIT 1",
                        "SELECT name FROM providers WHERE name>?1 ORDER BY name LIMIT 1", prefix, max_count);
  } else if (kind == name_kind::tag) {
    out = list_distinct(reader_lease->connection(), "SELECT tag FROM tags WHERE tag>=?1 ORDER BY tag LIMIT 1",
                        "SELECT tag FROM tags WHERE tag>?1 ORDER BY tag LIMIT 1", prefix, max_count);
  } else if (kind == name_kind::session) {
    out = list_distinct(
        reader_lease->connection(), "SELECT session FROM entries WHERE session>=?1 AND session<>'' ORDER BY session LIMIT 1",
        "SELECT session FROM entries WHERE session>?1 AND session<>'' ORDER BY session LIMIT 1", prefix, max_count);
  } else {
    const auto now = read_now(reader_lease->connection());
    if (!now) return reader_lease->report(now.error());
    const auto pad = [&](char digit) {
      std::string digits(prefix.substr(0, id_digits));
      digits.resize(id_digits, digit);
      return id_to_bytes(digits);
    };
    const auto min_id = pad('0'), max_id = pad('f');
    if (prefix.size() > id_digits || min_id.empty()) return std::vector<std::string>();
    auto statement =
        reader_lease->connection().prepare("SELECT id FROM entries WHERE id>=?1 AND id<=?2 AND gone>?3 ORDER BY id LIMIT ?4");
    if (!statement) return reader_lease->report(std::move(statement.error()));
    (*statement)->bind(1, std::string_view(min_id)).bind(2, std::string_view(max_id)).bind(3, *now);
    (*statement)->bind(4, static_cast<std::int64_t>(max_count));
    for (;;) {
      const auto has_row = (*statement)->step();
      if (!has_row) return reader_lease->report(has_row.error());
      if (!*has_row) break;
      out->push_back(id_from_bytes((*statement)->bytes(0)));
    }
  }
  if (!out) return reader_lease->report(std::move(out.error()));
  return out;
}

result<std::vector<resource_version>> embedded_store::list_resource_versions(std::string_view after_uri,
                                                                             std::size_t max_count) const {
  max_count = std::min(max_count, max_listed);
  std::vector<resource_version> out;
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  std::string uri(after_uri);
  while (out.size() < max_count) {
    {
      auto statement = reader_lease->connection().prepare("SELECT uri FROM bases WHERE uri>?1 ORDER BY uri LIMIT 1");
      if (!statement) return reader_lease->report(std::move(statement.error()));
      (*statement)->bind_text(1, uri);
      const auto has_row = (*statement)->step();
      if (!has_row) return reader_lease->report(has_row.error());
      if (!*has_row) break;
      uri = (*statement)->bytes(0);
    }
    std::string version;
    for (std::size_t i = 0; i < max_versions; ++i) {
      auto statement = reader_lease->connection().prepare(
          i == 0 ? "SELECT version FROM bases WHERE uri=?1 AND version>=?2 ORDER BY version LIMIT 1"
                 : "SELECT version FROM bases WHERE uri=?1 AND version>?2 ORDER BY version LIMIT 1");
      if (!statement) return reader_lease->report(std::move(statement.error()));
      (*statement)->bind_text(1, uri).bind_text(2, version);
      const auto has_row = (*statement)->step();
      if (!has_row) return reader_lease->report(has_row.error());
      if (!*has_row) break;
      version = (*statement)->bytes(0);
      out.push_back({uri, version});
    }
  }
  return out;
}

result<analysis_store::resource_page> embedded_store::list_by_resource(std::string_view uri,
                                                                       const resource_position& after_position,
                                                                       std::size_t max_count) const {
  max_count = std::min(max_count, max_listed);
  resource_page out;
  auto reader_lease = reader::acquire(*this);
  if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
  std::vector<resource_position> positions;
  {
    auto statement = reader_lease->connection().prepare(
        "SELECT version, id FROM bases WHERE uri=?1 AND (version, id)>(?2, ?3) ORDER BY version, id LIMIT ?4");
    if (!statement) return reader_lease->report(std::move(statement.error()));
    const auto id_bytes = id_to_bytes(after_position.id);
    (*statement)->bind_text(1, uri).bind_text(2, after_position.version).bind(3, std::string_view(id_bytes));
    (*statement)->bind(4, static_cast<std::int64_t>(max_count + 1));
    for (;;) {
      const auto has_row = (*statement)->step();
      if (!has_row) return reader_lease->report(has_row.error());
      if (!*has_row) break;
      positions.push_back({std::string((*statement)->bytes(0)), id_from_bytes((*statement)->bytes(1))});
    }
  }
  out.is_last = positions.size() <= max_count;
  if (!out.is_last) positions.pop_back();
  for (const auto& position : positions) {
    auto row = find_row(reader_lease->connection(), position.id);
    if (!row) return reader_lease->report(std::move(row.error()));
    if (*row) out.summaries.push_back(std::move((*row)->summary));
  }
  if (!positions.empty()) out.next = std::move(positions.back());
  return out;
}

result<change_batch> embedded_store::changes_since(std::uint64_t after_number, milliseconds timeout,
                                                   const std::stop_token& stop) const {
  const auto deadline = monotonic_clock::now() + timeout;
  for (;;) {
    std::uint64_t seen_writes = 0;
    {
      const std::lock_guard lock(changes_mutex_);
      seen_writes = write_count_;
    }
    {
      change_batch out;
      auto reader_lease = reader::acquire(*this);
      if (!reader_lease) return tl::unexpected(std::move(reader_lease.error()));
      {
        auto statement = reader_lease->connection().prepare("SELECT change, (SELECT min(number) FROM changes) FROM state");
        if (!statement) return reader_lease->report(std::move(statement.error()));
        const auto has_row = (*statement)->step();
        if (!has_row) return reader_lease->report(has_row.error());
        out.last_number = *has_row ? static_cast<std::uint64_t>((*statement)->number(0)) : 0;
        const auto oldest = *has_row ? static_cast<std::uint64_t>((*statement)->number(1)) : 0;
        // A store that was created again counts changes from 1.
        out.is_complete = after_number == 0 ||
                          (after_number <= out.last_number && (after_number == out.last_number || after_number + 1 >= oldest));
      }
      if (after_number == 0) return out;
      if (!out.is_complete) return out;
      if (after_number < out.last_number) {
        auto statement = reader_lease->connection().prepare(
            "SELECT number, what, id, key FROM changes WHERE number>?1 ORDER BY number LIMIT 1000");
        if (!statement) return reader_lease->report(std::move(statement.error()));
        (*statement)->bind(1, static_cast<std::int64_t>(after_number));
        for (;;) {
          const auto has_row = (*statement)->step();
          if (!has_row) return reader_lease->report(has_row.error());
          if (!*has_row) break;
          out.changes.push_back({static_cast<std::uint64_t>((*statement)->number(0)),
                                 static_cast<store_change::event_kind>(std::clamp<std::int64_t>((*statement)->number(1), 0, 4)),
                                 id_from_bytes((*statement)->bytes(2)), std::string((*statement)->bytes(3))});
        }
        if (!out.changes.empty()) out.last_number = out.changes.back().number;
        return out;
      }
      if (monotonic_clock::now() >= deadline || stop.stop_requested()) return out;
    }
    const auto remaining = std::chrono::duration_cast<milliseconds>(deadline - monotonic_clock::now());
    std::unique_lock lock(changes_mutex_);
    monotonic_clock::wait_for(changes_written_, lock, stop, std::min(remaining + milliseconds(1), poll_interval),
                              [&] { return write_count_ != seen_writes; });
  }
}

}  // namespace hondana::analyses
