/// SQLite connections, statements and transactions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/error.hpp>

struct sqlite3;
struct sqlite3_stmt;

namespace hondana::sqlite {

class connection;

/// A prepared statement with its current row. Parameters are numbered from 1, columns from 0.
/// Bound texts and bytes must live until `reset`. Threads: one at a time, with its connection.
class statement {
 public:
  statement() = default;
  statement& bind(int index, std::int64_t number);
  statement& bind(int index, std::string_view bytes);
  statement& bind_text(int index, std::string_view text);
  statement& bind_real(int index, double number);
  /// Binds a pointer for our own SQL functions. `type`: a string literal that identifies the type of the pointer.
  statement& bind_pointer(int index, void* pointer, const char* type);
  /// Moves to the next row. Returns false if there is none. Errors: as `connection::execute`; the statement is then reset.
  [[nodiscard]] result<bool> step();
  /// Executes the statement, ignores its rows, and resets it. Errors: as `connection::execute`.
  [[nodiscard]] result<void> execute();
  /// Prepares for the next execution and removes the bound values.
  void reset() noexcept;

  // The values of the current row, converted if they have another type.

  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::string_view bytes(int column) const;  ///< Valid until the next `step` or `reset`.

 private:
  friend class connection;
  struct finalizer {
    void operator()(sqlite3_stmt* pointer) const noexcept;
  };
  std::shared_ptr<const std::string> name_{};
  std::unique_ptr<sqlite3_stmt, finalizer> statement_{};
};

/// A connection to one database file. Threads: one at a time.
class connection {
 public:
  connection() = default;
  /// Opens an existing file for reading and writing. Empty `path`: a new database in memory.
  /// `name`: the name of the file in errors ("metrics store"). Errors: as `execute`.
  [[nodiscard]] static result<connection> open(const std::string& path, std::string name);

  /// Prevents that closing the last connection copies the log (WAL) into the file and deletes it.
  /// For files that may be moved while they are open: the log's name can then belong to a new file.
  void disable_checkpoint_on_close() noexcept;
  /// Runs one or more statements, and ignores their rows. Waits at most two seconds for locks of other connections.
  /// Errors: source_unavailable (`is_corruption` says whether the file is damaged); internal if memory is exhausted.
  [[nodiscard]] result<void> execute(const char* sql);
  /// Compiles a statement. Errors: as `execute`.
  [[nodiscard]] result<statement> prepare(const char* sql);
  /// The key of the row that this connection inserted last.
  [[nodiscard]] std::int64_t last_insert_rowid() const noexcept;
  /// Runs a query and returns the first column of its first row; 0 if there is no row. Errors: as `execute`.
  [[nodiscard]] result<std::int64_t> number(const char* sql);
  /// Runs a query and returns the first column of its first row; empty if there is no row. Errors: as `execute`.
  [[nodiscard]] result<std::string> text(const char* sql);
  /// Copies as much of the log (WAL) into the file as is possible without waiting for other connections. Errors: as `execute`.
  [[nodiscard]] result<void> checkpoint();
  [[nodiscard]] bool is_open() const noexcept { return connection_ != nullptr; }
  [[nodiscard]] bool is_in_transaction() const noexcept;
  /// For functions that this class does not offer. Null if no database is open.
  [[nodiscard]] sqlite3* raw() const noexcept { return connection_.get(); }
  /// Converts a result code of a call with `raw()` to an error.
  [[nodiscard]] tl::unexpected<failure> error(int code) const;

 private:
  struct finalizer {
    void operator()(sqlite3* pointer) const noexcept;
  };
  std::shared_ptr<const std::string> name_{};
  std::unique_ptr<sqlite3, finalizer> connection_{};
};

/// A transaction. Destruction rolls it back unless it was committed.
class transaction {
 public:
  /// Begins a transaction and locks the file for writing. `database` must outlive it. Errors: as `connection::execute`.
  [[nodiscard]] static result<transaction> begin(connection& database);
  transaction(transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  transaction& operator=(transaction&&) = delete;
  ~transaction();
  /// Errors: as `connection::execute`. Destruction then rolls back the transaction.
  [[nodiscard]] result<void> commit();

 private:
  explicit transaction(connection& database) noexcept : database_(&database) {}
  connection* database_;
};

/// Whether an error of this module means that the file is damaged, and not only unavailable.
[[nodiscard]] bool is_corruption(const failure& error) noexcept;
/// Makes a source_unavailable error for which `is_corruption` is true.
[[nodiscard]] failure corruption_failure(std::string public_text, std::string private_text);

}  // namespace hondana::sqlite
