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

/// A prepared statement with its current row. Bound texts and bytes must live until `reset`.
/// Threads: those of its connection.
class statement {
 public:
  statement() = default;
  statement& bind(int index, std::int64_t number);
  statement& bind(int index, std::string_view bytes);
  statement& bind_text(int index, std::string_view text);
  statement& bind_real(int index, double number);
  /// Binds a pointer for our own SQL functions. `type`: a string literal.
  statement& bind_pointer(int index, void* pointer, const char* type);
  /// Returns true if there is a row. Errors: source_unavailable; the statement is then reset.
  [[nodiscard]] result<bool> step();
  /// Executes the statement, ignores its rows, and resets it.
  [[nodiscard]] result<void> execute();
  void reset() noexcept;

  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::string_view bytes(int column) const;  ///< Valid until the next step.

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
  /// Opens an existing file. Empty `path`: in memory. `name`: the name of the file in errors ("metrics store").
  /// Errors: source_unavailable.
  [[nodiscard]] static result<connection> open(const std::string& path, std::string name);

  /// Leaves the log unchanged when this is the last connection to close, because its name may belong to a new file by then.
  void disable_checkpoint_on_close() noexcept;
  [[nodiscard]] result<void> execute(const char* sql);
  [[nodiscard]] result<statement> prepare(const char* sql);
  /// The key of the last inserted row.
  [[nodiscard]] std::int64_t last_insert_rowid() const noexcept;
  /// Runs a query and returns the first column of its first row.
  [[nodiscard]] result<std::int64_t> number(const char* sql);
  [[nodiscard]] result<std::string> text(const char* sql);
  /// Copies the part of the log that no reader needs into the file.
  [[nodiscard]] result<void> checkpoint();
  [[nodiscard]] bool is_open() const noexcept { return connection_ != nullptr; }
  [[nodiscard]] bool is_in_transaction() const noexcept;
  /// For functions that this class does not offer. Null when no file is open.
  [[nodiscard]] sqlite3* raw() const noexcept { return connection_.get(); }
  /// Converts a result code of a call on `raw()` to an error.
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
  [[nodiscard]] static result<transaction> begin(connection& database);
  transaction(transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  transaction& operator=(transaction&&) = delete;
  ~transaction();
  [[nodiscard]] result<void> commit();

 private:
  explicit transaction(connection& database) noexcept : database_(&database) {}
  connection* database_;
};

/// Whether an SQLite error means that the file is damaged, and not only unavailable.
[[nodiscard]] bool is_corruption(const failure& error) noexcept;
/// Makes a source_unavailable error for which `is_corruption` is true.
[[nodiscard]] failure corruption_failure(std::string public_text, std::string private_text);

}  // namespace hondana::sqlite
