/// One connection to PostgreSQL with libpq, which is loaded on first use; binary parameters and results.
#include "search/index/postgres/postgres_connection.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace hondana::search {
namespace {

// Object ids from pg_type, which never change.
constexpr std::uint32_t oid_of_text = 25;
constexpr std::uint32_t oid_of_bytea = 17;
constexpr std::uint32_t oid_of_bigint = 20;
constexpr std::uint32_t oid_of_tsvector = 3614;

template <class Number>
void append_number(std::string& to, Number number) {
  for (int i = sizeof(Number) - 1; i >= 0; --i) to += static_cast<char>(number >> (8 * i) & 0xFF);
}

void append_head(std::string& to, std::uint32_t element, std::size_t count) {
  append_number<std::uint32_t>(to, count == 0 ? 0 : 1);  // dimensions
  append_number<std::uint32_t>(to, 0);                   // no element is NULL
  append_number(to, element);
  if (count == 0) return;
  append_number(to, static_cast<std::uint32_t>(count));
  append_number<std::uint32_t>(to, 1);  // index of the first element
}

std::string array_of(std::uint32_t element, std::span<const std::string> values) {
  std::string out;
  std::size_t size = 20;
  for (const auto& one : values) size += 4 + one.size();
  out.reserve(size);
  append_head(out, element, values.size());
  for (const auto& one : values) {
    append_number(out, static_cast<std::uint32_t>(one.size()));
    out += one;
  }
  return out;
}

}  // namespace

arguments& arguments::text(std::string_view value) { return bytes(value); }
arguments& arguments::bytes(std::string_view value) {
  all_.push_back({std::string(value), false});
  return *this;
}
arguments& arguments::number(std::int64_t value) {
  std::string out;
  append_number(out, static_cast<std::uint64_t>(value));
  all_.push_back({std::move(out), false});
  return *this;
}
arguments& arguments::real(double value) { return number(std::bit_cast<std::int64_t>(value)); }
arguments& arguments::null() {
  all_.push_back({{}, true});
  return *this;
}
arguments& arguments::texts(std::span<const std::string> values) { return bytes(array_of(oid_of_text, values)); }
arguments& arguments::blobs(std::span<const std::string> values) { return bytes(array_of(oid_of_bytea, values)); }
arguments& arguments::vectors(std::span<const std::string> values) { return bytes(array_of(oid_of_tsvector, values)); }
arguments& arguments::numbers(std::span<const std::int64_t> values) {
  std::string out;
  out.reserve(20 + 12 * values.size());
  append_head(out, oid_of_bigint, values.size());
  for (const auto one : values) {
    append_number<std::uint32_t>(out, 8);
    append_number(out, static_cast<std::uint64_t>(one));
  }
  return bytes(out);
}

std::int64_t number_of(std::string_view bytes) noexcept {
  if (bytes.size() != 8) return 0;
  std::uint64_t out = 0;
  for (const char one : bytes) out = out << 8 | static_cast<unsigned char>(one);
  return static_cast<std::int64_t>(out);
}

double real_of(std::string_view bytes) noexcept { return std::bit_cast<double>(number_of(bytes)); }

namespace {

constexpr const char* libpq_name = "libpq.so.5";

}  // namespace

result<libpq_library> load_libpq(const char* name) {
  const auto why_not = [name](std::string_view advice) {
    const char* const said = ::dlerror();
    return fail(errc::source_unavailable,
                "libpq cannot be loaded, which a search index in PostgreSQL requires; " + std::string(advice) + ' ' + name +
                    " (Debian: libpq5), or store the index in a file",
                said != nullptr ? said : std::string());
  };
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return why_not("install");
  libpq_library out{};
  bool is_whole = true;
  const auto find = [&](auto& into, const char* function) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    is_whole = is_whole && into != nullptr;
  };
  find(out.conninfo_parse, "PQconninfoParse");
  find(out.conninfo_free, "PQconninfoFree");
  find(out.freemem, "PQfreemem");
  find(out.connect, "PQconnectdbParams");
  find(out.finish, "PQfinish");
  find(out.status, "PQstatus");
  find(out.transaction_status, "PQtransactionStatus");
  find(out.server_version, "PQserverVersion");
  find(out.parameter_status, "PQparameterStatus");
  find(out.error_message, "PQerrorMessage");
  find(out.needs_password, "PQconnectionNeedsPassword");
  find(out.used_password, "PQconnectionUsedPassword");
  find(out.set_notice_processor, "PQsetNoticeProcessor");
  find(out.exec, "PQexec");
  find(out.exec_params, "PQexecParams");
  find(out.result_status, "PQresultStatus");
  find(out.result_error_field, "PQresultErrorField");
  find(out.command_status, "PQcmdStatus");
  find(out.clear, "PQclear");
  find(out.rows, "PQntuples");
  find(out.is_null, "PQgetisnull");
  find(out.length, "PQgetlength");
  find(out.value, "PQgetvalue");
  if (!is_whole) return why_not("it lacks functions; install a newer");
  return out;
}

result<const libpq_library*> loaded_libpq() {
  static std::atomic<const libpq_library*> known{nullptr};
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (const auto* const already = known.load(std::memory_order_acquire)) return already;
  HONDANA_TRY(auto loaded, load_libpq(libpq_name));
  static libpq_library table;
  table = loaded;
  known.store(&table, std::memory_order_release);
  return &table;
}

namespace {

constexpr std::size_t longest_name = 63;  // limit of PostgreSQL for all names

void hear_nothing(void*, const char*) {}

bool is_plain(std::string_view name) noexcept {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= longest_name && (name.front() < '0' || name.front() > '9') &&
         !name.starts_with("pg_") && std::all_of(name.begin(), name.end(), fits);
}

/// The arguments of a statement in the form that libpq needs.
struct bound {
  explicit bound(const arguments& with) {
    const auto count = with.all().size();
    values.reserve(count);
    lengths.reserve(count);
    formats.assign(count, 1);
    for (const auto& one : with.all()) {
      values.push_back(one.is_null ? nullptr : one.bytes.c_str());
      lengths.push_back(static_cast<int>(one.bytes.size()));
    }
  }
  int count() const noexcept { return static_cast<int>(values.size()); }
  std::vector<const char*> values{};
  std::vector<int> lengths{};
  std::vector<int> formats{};
};

/// Advice for an error, by its SQLSTATE; empty: none.
std::string_view advice_of(std::string_view state) noexcept {
  struct known {
    std::string_view state;
    std::string_view advice;
  };
  static constexpr std::array all{
      known{"53100", "its disk is full; free space on it, and the write is retried"},
      known{"53200", "it is out of memory; give it more, or disconnect other clients"},
      known{"53300", "it has too many connections; raise its max_connections, or disconnect other clients"},
      known{"57014", "it took too long; check its load"},
      known{"55P03", "another server has been writing the same index for too long; retry, or end that server"},
      known{"40P01", "concurrent writes were in a deadlock; retry"},
      known{"42501", "this user lacks rights; let it create in the database (GRANT CREATE ON DATABASE) or own the schema"},
      known{"25006", "it is read-only (a standby?); use the address of the primary"},
      known{"42P01", "the tables of the index are missing; restart hondana to create them again"},
      known{"3F000", "the schema of the index is missing; restart hondana to create it again"},
      known{"57P01", "it was shut down; start it, and hondana continues"},
      known{"57P02", "it crashed; hondana continues when it runs again"},
      known{"57P03", "it is starting or stopping; retry"},
  };
  for (const auto& one : all) {
    if (one.state == state) return one.advice;
  }
  return {};
}

}  // namespace

result<postgres_place> place_of(const libpq_library& by, const std::string& url, const std::string& schema) {
  if (!is_plain(schema))
    return fail(errc::invalid_argument,
                "the schema of a search index in PostgreSQL must be a name of lower-case letters, digits and _ that does not "
                "begin with a digit or pg_");
  if ((!url.starts_with("postgresql://") && !url.starts_with("postgres://")) || url.find('\0') != std::string::npos)
    return fail(errc::invalid_argument,
                "the URL of a search index in PostgreSQL must begin with postgresql://, as in "
                "postgresql://user@host/database?sslmode=verify-full");
  char* said = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(by.conninfo_parse(url.c_str(), &said),
                                                                               by.conninfo_free);
  // The message of libpq quotes the URL, which may contain a password.
  if (said != nullptr) by.freemem(said);
  if (!options)
    return fail(errc::invalid_argument,
                "the URL of a search index in PostgreSQL is malformed; expected "
                "postgresql://user@host:port/database?sslmode=…, with %XX for characters other than letters and digits");
  postgres_place out{url, schema, {}};
  std::string host;
  std::string database;
  for (const auto* one = options.get(); one->keyword != nullptr; ++one) {
    const std::string_view keyword = one->keyword;
    const std::string_view value = one->val == nullptr ? std::string_view() : std::string_view(one->val);
    if (value.empty()) continue;
    if (keyword == "password" || keyword == "sslpassword")
      return fail(
          errc::invalid_argument,
          "the URL of a search index in PostgreSQL contains a password, which others can read there; remove it, change it, and "
          "put it into ~/.pgpass or a file that PGPASSFILE names (host:port:database:user:password, mode 0600)");
    if (keyword == "host" || (keyword == "hostaddr" && host.empty())) host = value;
    if (keyword == "dbname") database = value;
  }
  out.name = "PostgreSQL";
  if (!host.empty()) out.name += " on " + host;
  if (!database.empty()) out.name += ", database " + database;
  return out;
}

result<postgres_connection> postgres_connection::open(const libpq_library& by, const postgres_place& where,
                                                      const char* settings) {
  // Parameters before `dbname` are defaults; the URL overrides them.
  static constexpr std::array words{"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                    "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                                    "dbname",           "client_encoding"};
  const std::array<const char*, words.size() + 1> values{"10",   "30",   "10", "3", "30000", "hondana", where.url.c_str(),
                                                         "UTF8", nullptr};
  std::array<const char*, words.size() + 1> keywords{};
  std::copy(words.begin(), words.end(), keywords.begin());
  postgres_connection out;
  out.by_ = &by;
  out.name_ = where.name;
  out.connection_ = {by.connect(keywords.data(), values.data(), 1), by.finish};
  if (!out.connection_) return fail(errc::internal, "out of memory for a connection to " + where.name);
  auto* const raw = out.connection_.get();
  by.set_notice_processor(raw, hear_nothing, nullptr);
  if (by.status(raw) != CONNECTION_OK) {
    std::string why = "cannot connect to " + where.name + ": ";
    if (by.needs_password(raw) != 0) {
      why += "it requires a password; put it into ~/.pgpass or a file that PGPASSFILE names";
    } else if (by.used_password(raw) != 0) {
      why += "it rejected the user or the password; check ~/.pgpass or the file that PGPASSFILE names";
    } else {
      why += "check that it runs, that the address is right and that it accepts this user; see the log for details";
    }
    return fail(errc::source_unavailable, std::move(why), by.error_message(raw));
  }
  const char* const encoding = by.parameter_status(raw, "server_encoding");
  if (encoding == nullptr || std::string_view(encoding) != "UTF8")
    return fail(errc::source_unavailable,
                where.name + " stores text in another encoding than UTF-8; use a database with ENCODING 'UTF8'");
  // PostgreSQL's own functions come first. No other schema is searched, except that of pgvector.
  if (auto set =
          out.ask("SELECT set_config('search_path', quote_ident($1::text)||coalesce((SELECT ','||quote_ident(n.nspname) "
                  "FROM pg_extension e JOIN pg_namespace n ON n.oid=e.extnamespace WHERE e.extname='vector'),''), false)",
                  arguments().text(where.schema));
      !set)
    return tl::unexpected(std::move(set.error()));
  HONDANA_TRY(out.run(settings));
  return out;
}

tl::unexpected<failure> postgres_connection::error(const PGresult* of) const {
  const char* const state = of == nullptr ? nullptr : by_->result_error_field(of, PG_DIAG_SQLSTATE);
  const std::string code = state == nullptr ? "" : state;
  std::string inner = "SQLSTATE " + (code.empty() ? "none" : code) + ": " + by_->error_message(connection_.get());
  const auto advice = advice_of(code);
  const std::string what = "the search index in " + name_ + " cannot be read or written: ";
  if (!advice.empty()) return fail(errc::source_unavailable, what + std::string(advice), std::move(inner));
  if (!is_alive())
    return fail(errc::source_unavailable, what + "the connection was lost; hondana reconnects when the server is reachable",
                std::move(inner));
  return fail(errc::source_unavailable, what + "see the log for the reason", std::move(inner));
}

result<void> postgres_connection::run(const char* sql) {
  const postgres_rows got(*by_, by_->exec(connection_.get(), sql));
  const auto status = by_->result_status(got.raw());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return error(got.raw());
  return {};
}

result<postgres_rows> postgres_connection::ask(const char* sql, const arguments& with) {
  const bound all(with);
  postgres_rows got(*by_, by_->exec_params(connection_.get(), sql, all.count(), nullptr, all.values.data(), all.lengths.data(),
                                           all.formats.data(), 1));
  const auto status = by_->result_status(got.raw());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return error(got.raw());
  return got;
}

result<void> postgres_connection::commit() {
  const postgres_rows got(*by_, by_->exec(connection_.get(), "COMMIT"));
  if (by_->result_status(got.raw()) != PGRES_COMMAND_OK) return error(got.raw());
  if (std::string_view(by_->command_status(got.raw())) != "COMMIT")
    return fail(errc::source_unavailable, "a write to the search index in " + name_ + " was rolled back");
  return {};
}

bool postgres_connection::is_alive() const noexcept { return connection_ && by_->status(connection_.get()) == CONNECTION_OK; }

bool postgres_connection::is_in_transaction() const noexcept {
  return connection_ && by_->transaction_status(connection_.get()) != PQTRANS_IDLE;
}

}  // namespace hondana::search
