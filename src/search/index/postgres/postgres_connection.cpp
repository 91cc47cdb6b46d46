/// One connection to PostgreSQL with libpq, which is loaded on first use; binary parameters and results.
#include "search/index/postgres/postgres_connection.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::search {
namespace {

// Object ids from pg_type, which never change.
constexpr std::uint32_t text_oid = 25;
constexpr std::uint32_t bytea_oid = 17;
constexpr std::uint32_t bigint_oid = 20;
constexpr std::uint32_t tsvector_oid = 3614;

template <class Number>
void append_number(std::string& target, Number number) {
  for (int i = sizeof(Number) - 1; i >= 0; --i) target += static_cast<char>(number >> (8 * i) & 0xFF);
}

void append_array_header(std::string& target, std::uint32_t element, std::size_t count) {
  append_number<std::uint32_t>(target, count == 0 ? 0 : 1);  // dimensions
  append_number<std::uint32_t>(target, 0);                   // no element is NULL
  append_number(target, element);
  if (count == 0) return;
  append_number(target, static_cast<std::uint32_t>(count));
  append_number<std::uint32_t>(target, 1);  // index of the first element
}

std::string encode_array(std::uint32_t element, std::span<const std::string> values) {
  std::string out;
  std::size_t size = 20;
  for (const auto& value : values) size += 4 + value.size();
  out.reserve(size);
  append_array_header(out, element, values.size());
  for (const auto& text : values) {
    append_number(out, static_cast<std::uint32_t>(text.size()));
    out += text;
  }
  return out;
}

}  // namespace

arguments& arguments::text(std::string_view value) { return bytes(value); }
arguments& arguments::bytes(std::string_view value) {
  values_.push_back({std::string(value), false});
  return *this;
}
arguments& arguments::number(std::int64_t value) {
  std::string out;
  append_number(out, static_cast<std::uint64_t>(value));
  values_.push_back({std::move(out), false});
  return *this;
}
arguments& arguments::real(double value) { return number(std::bit_cast<std::int64_t>(value)); }
arguments& arguments::null() {
  values_.push_back({{}, true});
  return *this;
}
arguments& arguments::texts(std::span<const std::string> values) { return bytes(encode_array(text_oid, values)); }
arguments& arguments::blobs(std::span<const std::string> values) { return bytes(encode_array(bytea_oid, values)); }
arguments& arguments::vectors(std::span<const std::string> values) { return bytes(encode_array(tsvector_oid, values)); }
arguments& arguments::numbers(std::span<const std::int64_t> values) {
  std::string out;
  out.reserve(20 + 12 * values.size());
  append_array_header(out, bigint_oid, values.size());
  for (const auto value : values) {
    append_number<std::uint32_t>(out, 8);
    append_number(out, static_cast<std::uint64_t>(value));
  }
  return bytes(out);
}

std::int64_t number_of(std::string_view bytes) noexcept {
  if (bytes.size() != 8) return 0;
  std::uint64_t out = 0;
  for (const char byte : bytes) out = out << 8 | static_cast<unsigned char>(byte);
  return static_cast<std::int64_t>(out);
}

double real_of(std::string_view bytes) noexcept { return std::bit_cast<double>(number_of(bytes)); }

result<const libpq_library*> shared_libpq() {
  return libraries::load_once<libpq_library>(
      {"libpq.so.5", "a search index in PostgreSQL requires", "libpq5", "store the index in a file"});
}

namespace {

constexpr std::size_t max_name_bytes = 63;  // limit of PostgreSQL for all names

void ignore_notice(void*, const char*) {}

bool is_schema_name(std::string_view name) noexcept {
  const auto is_allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !name.empty() && name.size() <= max_name_bytes && (name.front() < '0' || name.front() > '9') &&
         !name.starts_with("pg_") && std::all_of(name.begin(), name.end(), is_allowed);
}

/// The arguments of a statement in the form that libpq needs.
struct bound_parameters {
  explicit bound_parameters(const arguments& parameters) {
    const auto count = parameters.values().size();
    values.reserve(count);
    lengths.reserve(count);
    formats.assign(count, 1);
    for (const auto& value : parameters.values()) {
      values.push_back(value.is_null ? nullptr : value.bytes.c_str());
      lengths.push_back(static_cast<int>(value.bytes.size()));
    }
  }
  int count() const noexcept { return static_cast<int>(values.size()); }
  std::vector<const char*> values{};
  std::vector<int> lengths{};
  std::vector<int> formats{};
};

/// Advice for an error, by its SQLSTATE; empty: none.
std::string_view advice_of(std::string_view state) noexcept {
  struct sqlstate_advice {
    std::string_view state;
    std::string_view advice;
  };
  static constexpr std::array entries{
      sqlstate_advice{"53100", "its disk is full; free space on it, and the write is retried"},
      sqlstate_advice{"53200", "it is out of memory; give it more, or disconnect other clients"},
      sqlstate_advice{"53300", "it has too many connections; raise its max_connections, or disconnect other clients"},
      sqlstate_advice{"57014", "it took too long; check its load"},
      sqlstate_advice{"55P03", "another server has been writing the same index for too long; retry, or end that server"},
      sqlstate_advice{"40P01", "concurrent writes were in a deadlock; retry"},
      sqlstate_advice{"42501",
                      "this user lacks rights; let it create in the database (GRANT CREATE ON DATABASE) or own the schema"},
      sqlstate_advice{"25006", "it is read-only (a standby?); use the address of the primary"},
      sqlstate_advice{"42P01", "the tables of the index are missing; restart hondana to create them again"},
      sqlstate_advice{"3F000", "the schema of the index is missing; restart hondana to create it again"},
      sqlstate_advice{"57P01", "it was shut down; start it, and hondana continues"},
      sqlstate_advice{"57P02", "it crashed; hondana continues when it runs again"},
      sqlstate_advice{"57P03", "it is starting or stopping; retry"},
  };
  for (const auto& entry : entries) {
    if (entry.state == state) return entry.advice;
  }
  return {};
}

}  // namespace

result<postgres_location> parse_location(const libpq_library& library, const std::string& url, const std::string& schema) {
  if (!is_schema_name(schema))
    return fail(errc::invalid_argument,
                "the schema of a search index in PostgreSQL must be a name of lower-case letters, digits and _ that does not "
                "begin with a digit or pg_");
  if ((!url.starts_with("postgresql://") && !url.starts_with("postgres://")) || url.find('\0') != std::string::npos)
    return fail(errc::invalid_argument,
                "the URL of a search index in PostgreSQL must begin with postgresql://, as in "
                "postgresql://user@host/database?sslmode=verify-full");
  char* message = nullptr;
  const std::unique_ptr<PQconninfoOption, void (*)(PQconninfoOption*)> options(library.conninfo_parse(url.c_str(), &message),
                                                                               library.conninfo_free.pointer);
  // The message of libpq quotes the URL, which may contain a password.
  if (message != nullptr) library.freemem(message);
  if (!options)
    return fail(errc::invalid_argument,
                "the URL of a search index in PostgreSQL is malformed; expected "
                "postgresql://user@host:port/database?sslmode=…, with %XX for characters other than letters and digits");
  postgres_location out{url, schema, {}};
  std::string host;
  std::string database;
  for (const auto* option = options.get(); option->keyword != nullptr; ++option) {
    const std::string_view keyword = option->keyword;
    const std::string_view value = option->val == nullptr ? std::string_view() : std::string_view(option->val);
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

result<postgres_connection> postgres_connection::open(const libpq_library& library, const postgres_location& location,
                                                      const char* settings) {
  // Parameters before `dbname` are defaults; the URL overrides them.
  static constexpr std::array names{"connect_timeout",  "keepalives_idle",  "keepalives_interval",
                                    "keepalives_count", "tcp_user_timeout", "fallback_application_name",
                                    "dbname",           "client_encoding"};
  const std::array<const char*, names.size() + 1> values{"10",   "30",   "10", "3", "30000", "hondana", location.url.c_str(),
                                                         "UTF8", nullptr};
  std::array<const char*, names.size() + 1> keywords{};
  std::copy(names.begin(), names.end(), keywords.begin());
  postgres_connection out;
  out.library_ = &library;
  out.name_ = location.name;
  out.connection_ = {library.connect(keywords.data(), values.data(), 1), library.finish.pointer};
  if (!out.connection_) return fail(errc::internal, "out of memory for a connection to " + location.name);
  auto* const raw = out.connection_.get();
  library.set_notice_processor(raw, ignore_notice, nullptr);
  if (library.status(raw) != CONNECTION_OK) {
    std::string reason = "cannot connect to " + location.name + ": ";
    if (library.needs_password(raw) != 0) {
      reason += "it requires a password; put it into ~/.pgpass or a file that PGPASSFILE names";
    } else if (library.used_password(raw) != 0) {
      reason += "it rejected the user or the password; check ~/.pgpass or the file that PGPASSFILE names";
    } else {
      reason += "check that it runs, that the address is right and that it accepts this user; see the log for details";
    }
    return fail(errc::source_unavailable, std::move(reason), library.error_message(raw));
  }
  const char* const encoding = library.parameter_status(raw, "server_encoding");
  if (encoding == nullptr || std::string_view(encoding) != "UTF8")
    return fail(errc::source_unavailable,
                location.name + " stores text in another encoding than UTF-8; use a database with ENCODING 'UTF8'");
  // PostgreSQL's own functions come first. No other schema is searched, except that of pgvector.
  if (auto status =
          out.query("SELECT set_config('search_path', quote_ident($1::text)||coalesce((SELECT ','||quote_ident(n.nspname) "
                    "FROM pg_extension e JOIN pg_namespace n ON n.oid=e.extnamespace WHERE e.extname='vector'),''), false)",
                    arguments().text(location.schema));
      !status)
    return tl::unexpected(std::move(status.error()));
  HONDANA_TRY(out.run(settings));
  return out;
}

tl::unexpected<failure> postgres_connection::error(const PGresult* failed) const {
  const char* const state = failed == nullptr ? nullptr : library_->result_error_field(failed, PG_DIAG_SQLSTATE);
  const std::string code = state == nullptr ? "" : state;
  std::string details = "SQLSTATE " + (code.empty() ? "none" : code) + ": " + library_->error_message(connection_.get());
  const auto advice = advice_of(code);
  const std::string prefix = "the search index in " + name_ + " cannot be read or written: ";
  if (!advice.empty()) return fail(errc::source_unavailable, prefix + std::string(advice), std::move(details));
  if (!is_alive())
    return fail(errc::source_unavailable, prefix + "the connection was lost; hondana reconnects when the server is reachable",
                std::move(details));
  return fail(errc::source_unavailable, prefix + "see the log for the reason", std::move(details));
}

result<void> postgres_connection::run(const char* sql) {
  const postgres_rows response(*library_, library_->exec(connection_.get(), sql));
  const auto status = library_->result_status(response.raw());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return error(response.raw());
  return {};
}

result<postgres_rows> postgres_connection::query(const char* sql, const arguments& parameters) {
  const bound_parameters bound(parameters);
  postgres_rows response(*library_, library_->exec_params(connection_.get(), sql, bound.count(), nullptr, bound.values.data(),
                                                          bound.lengths.data(), bound.formats.data(), 1));
  const auto status = library_->result_status(response.raw());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) return error(response.raw());
  return response;
}

result<void> postgres_connection::commit() {
  const postgres_rows response(*library_, library_->exec(connection_.get(), "COMMIT"));
  if (library_->result_status(response.raw()) != PGRES_COMMAND_OK) return error(response.raw());
  if (std::string_view(library_->command_status(response.raw())) != "COMMIT")
    return fail(errc::source_unavailable, "a write to the search index in " + name_ + " was rolled back");
  return {};
}

bool postgres_connection::is_alive() const noexcept {
  return connection_ && library_->status(connection_.get()) == CONNECTION_OK;
}

bool postgres_connection::is_in_transaction() const noexcept {
  return connection_ && library_->transaction_status(connection_.get()) != PQTRANS_IDLE;
}

}  // namespace hondana::search
