/// The store in PostgreSQL: what is known of all, and connections for reading.
#include <chrono>
#include <cstdlib>
#include <utility>

#include <hondana/clock.hpp>

#include "search/index/postgres/postgres_state.hpp"

namespace hondana::search {
namespace {

// A table is never read from end to end for words, however few rows it is thought to have.
constexpr const char* reader_settings =
    "SET default_transaction_read_only=on; SET statement_timeout='30s'; SET lock_timeout='5s'; SET "
    "idle_in_transaction_session_timeout='60s'; SET enable_seqscan=off; "
    "SET jit=off; SET max_parallel_workers_per_gather=0; SET plan_cache_mode=force_custom_plan; SET work_mem='32MB'; SET "
    "client_min_messages=error";
constexpr std::int64_t documents_at_once = 5'000;
constexpr std::size_t most_readers = 8;  // as many as search at the same time
constexpr std::chrono::seconds patience{30};

result<store_counts> counted(postgres_connection& by, const postgres_place& where) {
  HONDANA_TRY(
      const auto rows,
      by.ask("SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM documents WHERE problem<>''), "
             "(SELECT passages FROM totals), "
             "(SELECT count(*) FROM passages p WHERE EXISTS(SELECT 1 FROM vectors v WHERE v.digest=p.digest)), "
             "(SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid=c.relnamespace "
             "WHERE n.nspname=$1::text AND c.relkind='r')",
             arguments().text(where.schema)));
  const auto number = [&](int column) { return static_cast<std::uint64_t>(rows.number(0, column)); };
  return store_counts{number(0), number(1), number(2), number(3), number(4)};
}

}  // namespace

result<postgres_connection> postgres_store::connect_reader() const { return connect(reader_settings); }

result<postgres_connection> postgres_store::take_reader() const {
  {
    std::unique_lock lock(mutex_);
    if (!monotonic_clock::wait_for(given_back_, lock, patience, [this] { return used_ < most_readers; }))
      return fail(errc::source_unavailable, "too many searches are running in " + place_.name + "; retry later");
    ++used_;
    if (!idle_.empty()) {
      auto by = std::move(idle_.back());
      idle_.pop_back();
      return by;
    }
  }
  auto made = connect_reader();
  if (!made) give_back({});
  return made;
}

void postgres_store::give_back(postgres_connection by) const {
  {
    const std::lock_guard lock(mutex_);
    --used_;
    if (by.is_alive()) idle_.push_back(std::move(by));
  }
  given_back_.notify_one();
}

void postgres_store::drop_idle() const {
  const std::lock_guard lock(mutex_);
  idle_.clear();
}

/// Given back whatever happens; what an exception interrupted is not used again.
struct postgres_store::lent_reader {
  lent_reader(const postgres_store& of, postgres_connection one) : from(of), by(std::move(one)) {}
  lent_reader(const lent_reader&) = delete;
  lent_reader& operator=(const lent_reader&) = delete;
  ~lent_reader() { from.give_back(is_whole ? std::move(by) : postgres_connection()); }

  const postgres_store& from;
  postgres_connection by;
  bool is_whole = false;
};

result<void> postgres_store::reading(const asking& ask) const {
  HONDANA_TRY(auto taken, take_reader());
  lent_reader lent(*this, std::move(taken));
  auto& by = lent.by;
  auto done = ask(by);
  if (!done && !by.is_alive()) {
    drop_idle();
    auto made = connect_reader();
    if (made) {
      by = std::move(*made);
      done = ask(by);
    } else {
      done = tl::unexpected(std::move(made.error()));
    }
  }
  lent.is_whole = true;
  return done;
}

result<postgres_rows> postgres_store::read(const char* sql, const arguments& with) const {
  result<postgres_rows> rows{};
  auto done = reading([&](postgres_connection& by) -> result<void> {
    rows = by.ask(sql, with);
    return rows ? result<void>() : tl::unexpected(rows.error());
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return rows;
}

// However long who hears of them takes, no statement waits for that.
result<void> postgres_store::each_document(const std::function<void(known)>& each) const {
  for (std::int64_t last = -1;;) {
    HONDANA_TRY(
        const auto rows,
        read("SELECT d.uri, d.version, d.described, (d.problem<>'')::int::bigint, w.way, d.id FROM documents d JOIN ways w ON "
             "w.id=d.way WHERE d.id>$1::bigint ORDER BY d.id LIMIT $2::bigint",
             arguments().number(last).number(documents_at_once)));
    if (rows.count() == 0) return {};
    for (int row = 0; row < rows.count(); ++row)
      each({rows.text(row, 0), rows.text(row, 1), static_cast<std::uint64_t>(rows.number(row, 2)), rows.number(row, 3) != 0,
            rows.text(row, 4)});
    last = rows.number(rows.count() - 1, 5);
  }
}

result<store_counts> postgres_store::counts() const {
  store_counts out;
  auto done = reading([&](postgres_connection& by) -> result<void> {
    HONDANA_TRY(auto now, counted(by, place_));
    out = now;
    return {};
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<index_standing> postgres_store::stands() const {
  index_standing out;
  auto done = reading([&](postgres_connection& by) -> result<void> {
    out = {};
    HONDANA_TRY(const auto rows, by.ask("SELECT name, value FROM facts WHERE name IN ('commits','model','progress')"));
    for (int i = 0; i < rows.count(); ++i) {
      const auto name = rows.bytes(i, 0);
      const auto value = rows.text(i, 1);
      if (name == "commits") out.commits = std::strtoull(value.c_str(), nullptr, 10);
      if (name == "model") out.model = value;
      if (name == "progress") out.how = progress_from(value);
    }
    return {};
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<std::optional<kept_index>> look_at_postgres(const std::string& url, const std::string& schema) {
  HONDANA_TRY(const auto library, loaded_libpq());
  HONDANA_TRY(const auto place, place_of(*library, url, schema));
  HONDANA_TRY(auto by, postgres_connection::open(*library, place, reader_settings));
  HONDANA_TRY(const auto there,
              by.ask("SELECT count(*) FROM pg_tables WHERE schemaname=$1::text AND tablename IN ('facts','totals','passages')",
                     arguments().text(place.schema)));
  if (there.number(0, 0) != 3) return std::nullopt;
  kept_index out;
  HONDANA_TRY(auto counts, counted(by, place));
  out.counts = counts;
  HONDANA_TRY(const auto how, by.ask("SELECT coalesce((SELECT value FROM facts WHERE name='progress'),'')"));
  out.how = progress_from(how.bytes(0, 0));
  return out;
}

}  // namespace hondana::search
