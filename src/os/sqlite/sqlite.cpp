/// SQLite connections, statements and transactions.
#include "os/sqlite/sqlite.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

namespace hondana::sqlite {
namespace {

constexpr std::string_view corruption_mark = "damaged";

tl::unexpected<failure> to_failure(sqlite3* database, int code, const std::string& name) {
  // SQLite saves errno for some errors only.
  const int saved_errno = errno;
  auto primary_code = code & 0xff;
  std::string details =
      "SQLite " + std::to_string(code) + ": " + (database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database));
  int system_errno = database == nullptr ? 0 : sqlite3_system_errno(database);
  if (system_errno == 0 && primary_code == SQLITE_IOERR) system_errno = saved_errno;
  if (system_errno != 0) details += ", errno " + std::to_string(system_errno);
  // Exceeded quotas and file size limits are not disk errors either.
  if (primary_code == SQLITE_IOERR && (system_errno == ENOSPC || system_errno == EDQUOT || system_errno == EFBIG))
    primary_code = SQLITE_FULL;
  switch (primary_code) {
    case SQLITE_FULL:
      return fail(errc::source_unavailable,
                  "the disk is full, so the " + name + " cannot be written; free disk space, or store less",
                  std::move(details));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return tl::unexpected(
          corruption_failure("the " + name + " is damaged; restart to move it aside and create a new one", std::move(details)));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(errc::source_unavailable, "another program has locked the " + name + "; stop that program",
                  std::move(details));
    case SQLITE_NOMEM:
      return fail(errc::internal, "not enough memory for the " + name, std::move(details));
    default:
      return fail(errc::source_unavailable, "the " + name + " cannot be read or written; the log says why", std::move(details));
  }
}

}  // namespace

failure corruption_failure(std::string public_text, std::string private_text) {
  failure error{errc::source_unavailable, std::move(public_text), std::move(private_text)};
  error.subject = corruption_mark;
  return error;
}

bool is_corruption(const failure& error) noexcept { return error.subject == corruption_mark; }

void statement::finalizer::operator()(sqlite3_stmt* pointer) const noexcept { sqlite3_finalize(pointer); }
void connection::finalizer::operator()(sqlite3* pointer) const noexcept { sqlite3_close_v2(pointer); }

statement& statement::bind(int index, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), index, number);
  return *this;
}
statement& statement::bind_real(int index, double number) {
  sqlite3_bind_double(statement_.get(), index, number);
  return *this;
}
statement& statement::bind_pointer(int index, void* pointer, const char* type) {
  sqlite3_bind_pointer(statement_.get(), index, pointer, type, nullptr);
  return *this;
}
statement& statement::bind(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), index, bytes.data(), bytes.size(), SQLITE_STATIC);
  return *this;
}
statement& statement::bind_text(int index, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), index, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

result<bool> statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto out = to_failure(sqlite3_db_handle(statement_.get()), code, *name_);
  reset();
  return out;
}

result<void> statement::execute() {
  for (;;) {
    HONDANA_TRY(const auto has_row, step());
    if (!has_row) break;
  }
  reset();
  return {};
}

void statement::reset() noexcept {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

std::int64_t statement::number(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }
bool statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
std::string_view statement::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_.get(), column));
  return data == nullptr ? std::string_view()
                         : std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)));
}

tl::unexpected<failure> connection::error(int code) const { return to_failure(connection_.get(), code, *name_); }

result<connection> connection::open(const std::string& path, std::string name) {
  sqlite3* raw = nullptr;
  // Each connection is used by one thread at a time, so SQLite need not lock it.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (path.empty() ? SQLITE_OPEN_MEMORY | SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path.empty() ? ":memory:" : path.c_str(), &raw, flags, nullptr);
  connection out;
  out.name_ = std::make_shared<const std::string>(std::move(name));
  out.connection_.reset(raw);
  if (code != SQLITE_OK) return out.error(code);
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, 2000);
  sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return out;
}

void connection::disable_checkpoint_on_close() noexcept {
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

result<void> connection::execute(const char* sql) {
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

result<statement> connection::prepare(const char* sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return error(code);
  statement out;
  out.name_ = name_;
  out.statement_.reset(raw);
  return out;
}

std::int64_t connection::last_insert_rowid() const noexcept { return sqlite3_last_insert_rowid(connection_.get()); }

result<std::int64_t> connection::number(const char* sql) {
  HONDANA_TRY(auto query, prepare(sql));
  HONDANA_TRY(const auto has_row, query.step());
  return has_row ? query.number(0) : 0;
}

result<std::string> connection::text(const char* sql) {
  HONDANA_TRY(auto query, prepare(sql));
  HONDANA_TRY(const auto has_row, query.step());
  return has_row ? std::string(query.bytes(0)) : std::string();
}

result<void> connection::checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(connection_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) return error(code);
  return {};
}

bool connection::is_in_transaction() const noexcept { return is_open() && sqlite3_get_autocommit(connection_.get()) == 0; }

result<transaction> transaction::begin(connection& database) {
  // Lock for writing immediately, so that the transaction cannot fail later because of another writer.
  HONDANA_TRY(database.execute("BEGIN IMMEDIATE"));
  return transaction(database);
}

transaction::~transaction() {
  if (database_ == nullptr || !database_->is_in_transaction()) return;  // a full disk has already rolled it back
  const auto rolled_back = database_->execute("ROLLBACK");
  static_cast<void>(rolled_back);  // if the rollback fails, the next opening of the file does it
}

result<void> transaction::commit() {
  auto committed = database_->execute("COMMIT");
  if (committed) database_ = nullptr;
  return committed;
}

}  // namespace hondana::sqlite
