/// The store in PostgreSQL: what is known and shown, and connections for reading.
#include <chrono>
#include <utility>

#include "search/postgres/postgres_state.hpp"

namespace hondana::search {
namespace {

// A table is never read from end to end for words, however few rows it is thought to have.
constexpr const char* reader_settings =
    "SET default_transaction_read_only=on; SET statement_timeout='30s'; SET lock_timeout='5s'; SET enable_seqscan=off; "
    "SET jit=off; SET max_parallel_workers_per_gather=0; SET plan_cache_mode=force_custom_plan; SET work_mem='32MB'; SET "
    "client_min_messages=error";
constexpr std::size_t most_readers = 4;
constexpr std::chrono::seconds patience{30};

document document_in(const postgres_rows& rows, int row, int first) {
  const auto text = [&](int column) { return rows.text(row, first + column); };
  document out;
  out.uri = text(0);
  out.version = text(1);
  out.name = text(2);
  out.title = text(3);
  out.description = text(4);
  out.mime_type = text(5);
  out.kind = text(6);
  out.language = text(7);
  out.problem = text(8);
  if (!rows.is_null(row, first + 9)) out.priority = rows.real(row, first + 9);
  for (const auto one : {role::user, role::assistant}) {
    if ((rows.number(row, first + 10) & bit_of(one)) != 0) out.audience.push_back(one);
  }
  if (!rows.is_null(row, first + 11)) out.modified = milliseconds(std::chrono::milliseconds(rows.number(row, first + 11)));
  if (!rows.is_null(row, first + 12)) out.size = static_cast<std::uint64_t>(rows.number(row, first + 12));
  return out;
}

result<store_counts> counted(postgres_connection& by, const postgres_place& where) {
  const auto rows = by.ask(
      "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM documents WHERE problem<>''), "
      "(SELECT passages FROM totals), "
      "(SELECT count(*) FROM passages p WHERE EXISTS(SELECT 1 FROM vectors v WHERE v.digest=p.digest)), "
      "(SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid=c.relnamespace "
      "WHERE n.nspname=$1::text AND c.relkind='r')",
      arguments().text(where.schema));
  if (!rows) return tl::unexpected(rows.error());
  const auto number = [&](int column) { return static_cast<std::uint64_t>(rows->number(0, column)); };
  return store_counts{number(0), number(1), number(2), number(3), number(4)};
}

}  // namespace

result<void> postgres_store::reading(const asking& ask, const std::function<bool()>& may_repeat) const {
  postgres_connection by;
  {
    std::unique_lock lock(mutex_);
    if (!given_back_.wait_for(lock, patience, [this] { return used_ < most_readers; }))
      return fail(errc::source_unavailable, "too many searches are running in " + place_.name + "; ask again later");
    ++used_;
    if (!idle_.empty()) {
      by = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  result<void> done{};
  for (bool is_second = false;; is_second = true) {
    const bool is_old = by.is_open();
    if (!is_old) {
      auto made = connect(reader_settings);
      if (!made) {
        done = tl::unexpected(std::move(made.error()));
        break;
      }
      by = std::move(*made);
    }
    done = ask(by);
    if (done || by.is_alive()) break;
    by = postgres_connection();
    {
      // The server was started again, and the others have gone with this one.
      const std::lock_guard lock(mutex_);
      idle_.clear();
    }
    if (!is_old || is_second || (may_repeat && !may_repeat())) break;
  }
  {
    const std::lock_guard lock(mutex_);
    --used_;
    if (by.is_alive()) idle_.push_back(std::move(by));
  }
  given_back_.notify_one();
  return done;
}

result<void> postgres_store::each_document(const std::function<void(known)>& each) const {
  bool has_heard = false;
  return reading(
      [&](postgres_connection& by) {
        return by.each("SELECT uri, version, described, (problem<>'')::int::bigint FROM documents", {},
                       [&](const postgres_rows& rows, int row) {
                         has_heard = true;
                         each({rows.text(row, 0), rows.text(row, 1), static_cast<std::uint64_t>(rows.number(row, 2)),
                               rows.number(row, 3) != 0});
                       });
      },
      [&] { return !has_heard; });
}

result<std::vector<shown_passage>> postgres_store::show(std::span<const passage_id> which) const {
  std::vector<std::int64_t> ids;
  ids.reserve(which.size());
  for (const auto& one : which) ids.push_back(one.number);
  std::vector<shown_passage> out;
  auto done = reading([&](postgres_connection& by) -> result<void> {
    out.clear();
    const auto rows = by.ask(
        "SELECT p.id, p.heading, p.text, p.first_line, p.last_line, p.page, d.uri, d.version, d.name, d.title, d.description, "
        "d.mime_type, d.kind, d.language, d.problem, d.priority, d.audience, d.modified, d.size "
        "FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, place) JOIN passages p ON p.id=w.id JOIN documents d ON "
        "d.id=(p.id>>16) ORDER BY w.place",
        arguments().numbers(ids));
    if (!rows) return tl::unexpected(rows.error());
    out.reserve(static_cast<std::size_t>(rows->count()));
    for (int i = 0; i < rows->count(); ++i) {
      shown_passage one{{rows->number(i, 0)}, {}, document_in(*rows, i, 6)};
      one.passage.heading = rows->text(i, 1);
      one.passage.text = rows->text(i, 2);
      one.passage.first_line = static_cast<std::uint64_t>(rows->number(i, 3));
      one.passage.last_line = static_cast<std::uint64_t>(rows->number(i, 4));
      one.passage.page = static_cast<std::uint64_t>(rows->number(i, 5));
      out.push_back(std::move(one));
    }
    return {};
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<store_counts> postgres_store::counts() const {
  store_counts out;
  auto done = reading([&](postgres_connection& by) -> result<void> {
    auto now = counted(by, place_);
    if (!now) return tl::unexpected(std::move(now.error()));
    out = *now;
    return {};
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<std::optional<kept_index>> look_at_postgres(const std::string& url, const std::string& schema) {
  const auto library = loaded_libpq();
  if (!library) return tl::unexpected(library.error());
  const auto place = place_of(**library, url, schema);
  if (!place) return tl::unexpected(place.error());
  auto by = postgres_connection::open(**library, *place, reader_settings);
  if (!by) return tl::unexpected(std::move(by.error()));
  const auto there =
      by->ask("SELECT count(*) FROM pg_tables WHERE schemaname=$1::text AND tablename IN ('facts','totals','passages')",
              arguments().text(place->schema));
  if (!there) return tl::unexpected(there.error());
  if (there->number(0, 0) != 3) return std::nullopt;
  kept_index out;
  auto counts = counted(*by, *place);
  if (!counts) return tl::unexpected(std::move(counts.error()));
  out.counts = *counts;
  const auto how = by->ask("SELECT coalesce((SELECT value FROM facts WHERE name='progress'),'')");
  if (!how) return tl::unexpected(how.error());
  out.how = progress_from(how->bytes(0, 0));
  return out;
}

}  // namespace hondana::search
