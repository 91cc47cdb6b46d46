/// SQLite connections, statements and transactions.
#include "os/sqlite/sqlite.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <utility>

namespace hondana::sqlite {
namespace {

constexpr std::string_view damaged_state = "damaged";

tl::unexpected<failure> cannot_store(sqlite3* on, int code, const std::string& what) {
  // SQLite saves errno for some errors only.
  const int last = errno;
  auto basic = code & 0xff;
  std::string inner = "SQLite " + std::to_string(code) + ": " + (on == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(on));
  int system = on == nullptr ? 0 : sqlite3_system_errno(on);
  if (system == 0 && basic == SQLITE_IOERR) system = last;
  if (system != 0) inner += ", errno " + std::to_string(system);
  // Exceeded quotas and file size limits are not disk errors either.
  if (basic == SQLITE_IOERR && (system == ENOSPC || system == EDQUOT || system == EFBIG)) basic = SQLITE_FULL;
  switch (basic) {
    case SQLITE_FULL:
      return fail(errc::source_unavailable,
                  "the disk is full, so the " + what + " cannot be written; free disk space, or store less", std::move(inner));
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return tl::unexpected(
          damaged("the " + what + " is damaged; restart to move it aside and create a new one", std::move(inner)));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(errc::source_unavailable, "another program has locked the " + what + "; stop that program", std::move(inner));
    case SQLITE_NOMEM:
      return fail(errc::internal, "not enough memory for the " + what, std::move(inner));
    default:
      return fail(errc::source_unavailable, "the " + what + " cannot be read or written; the log says why", std::move(inner));
  }
}

}  // namespace

failure damaged(std::string public_text, std::string private_text) {
  failure why{errc::source_unavailable, std::move(public_text), std::move(private_text)};
  why.about = damaged_state;
  return why;
}

bool says_damaged(const failure& what) noexcept { return what.about == damaged_state; }

void statement::closing::operator()(sqlite3_stmt* what) const noexcept { sqlite3_finalize(what); }
void connection::closing::operator()(sqlite3* what) const noexcept { sqlite3_close_v2(what); }

statement& statement::bind(int at, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), at, number);
  return *this;
}
statement& statement::bind_real(int at, double number) {
  sqlite3_bind_double(statement_.get(), at, number);
  return *this;
}
statement& statement::bind_pointer(int at, void* what, const char* type) {
  sqlite3_bind_pointer(statement_.get(), at, what, type, nullptr);
  return *this;
}
statement& statement::bind(int at, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), at, bytes.data(), bytes.size(), SQLITE_STATIC);
  return *this;
}
statement& statement::bind_text(int at, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), at, text.data() == nullptr ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  return *this;
}

result<bool> statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto out = cannot_store(sqlite3_db_handle(statement_.get()), code, *what_);
  reset();
  return out;
}

result<void> statement::run() {
  for (;;) {
    HONDANA_TRY(const auto more, step());
    if (!more) break;
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

tl::unexpected<failure> connection::error(int code) const { return cannot_store(connection_.get(), code, *what_); }

result<connection> connection::open(const std::string& path, std::string what) {
  sqlite3* raw = nullptr;
  // Each connection is used by one thread at a time, so SQLite need not lock it.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (path.empty() ? SQLITE_OPEN_MEMORY | SQLITE_OPEN_CREATE : 0);
  const int code = sqlite3_open_v2(path.empty() ? ":memory:" : path.c_str(), &raw, flags, nullptr);
  connection out;
  out.what_ = std::make_shared<const std::string>(std::move(what));
  out.connection_.reset(raw);
  if (code != SQLITE_OK) return out.error(code);
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, 2000);
  sqlite3_limit(raw, SQLITE_LIMIT_ATTACHED, 0);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return out;
}

void connection::only_reads() noexcept { sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

result<void> connection::run(const char* sql) {
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return error(code);
  return {};
}

result<statement> connection::prepare(const char* sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(connection_.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  if (code != SQLITE_OK) return error(code);
  statement out;
  out.what_ = what_;
  out.statement_.reset(raw);
  return out;
}

std::int64_t connection::last_row() const noexcept { return sqlite3_last_insert_rowid(connection_.get()); }

result<std::int64_t> connection::number(const char* sql) {
  HONDANA_TRY(auto asked, prepare(sql));
  HONDANA_TRY(const auto more, asked.step());
  return more ? asked.number(0) : 0;
}

result<std::string> connection::text(const char* sql) {
  HONDANA_TRY(auto asked, prepare(sql));
  HONDANA_TRY(const auto more, asked.step());
  return more ? std::string(asked.bytes(0)) : std::string();
}

result<void> connection::checkpoint() {
  const int code = sqlite3_wal_checkpoint_v2(connection_.get(), nullptr, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (code != SQLITE_OK && (code & 0xff) != SQLITE_BUSY) return error(code);
  return {};
}

bool connection::is_in_transaction() const noexcept { return is_open() && sqlite3_get_autocommit(connection_.get()) == 0; }

result<transaction> transaction::begin(connection& on) {
  // Lock for writing immediately, so that the transaction cannot fail later because of another writer.
  HONDANA_TRY(on.run("BEGIN IMMEDIATE"));
  return transaction(on);
}

transaction::~transaction() {
  if (on_ == nullptr || !on_->is_in_transaction()) return;  // a full disk has already rolled it back
  const auto undone = on_->run("ROLLBACK");
  static_cast<void>(undone);  // if the rollback fails, the next opening of the file does it
}

result<void> transaction::commit() {
  auto done = on_->run("COMMIT");
  if (done) on_ = nullptr;
  return done;
}

}  // namespace hondana::sqlite
