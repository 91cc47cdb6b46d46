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

/// A prepared statement, and where it stands. Texts and bytes that are bound must live until `reset`. Threads: its
/// connection's.
class statement {
 public:
  statement() = default;
  statement& bind(int at, std::int64_t number);
  statement& bind(int at, std::string_view bytes);
  statement& bind_text(int at, std::string_view text);
  statement& bind_real(int at, double number);
  /// For functions of ours. `type`: a literal.
  statement& bind_pointer(int at, void* what, const char* type);
  /// True: there is a row. Errors: source_unavailable; then it is reset.
  [[nodiscard]] result<bool> step();
  /// Runs to its end without a look at rows, and is ready again.
  [[nodiscard]] result<void> run();
  void reset() noexcept;

  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::string_view bytes(int column) const;  ///< Good until the next step.

 private:
  friend class connection;
  struct closing {
    void operator()(sqlite3_stmt* what) const noexcept;
  };
  std::shared_ptr<const std::string> what_{};
  std::unique_ptr<sqlite3_stmt, closing> statement_{};
};

/// One connection to one file. Threads: one at a time.
class connection {
 public:
  connection() = default;
  /// `path` empty: in memory. The file is there already. `what`: what it is, as errors call it ("metrics store"). Errors:
  /// source_unavailable.
  [[nodiscard]] static result<connection> open(const std::string& path, std::string what);

  /// When it closes as the last one it leaves the log as it is: another's may stand under that name by then.
  void only_reads() noexcept;
  [[nodiscard]] result<void> run(const char* sql);
  [[nodiscard]] result<statement> prepare(const char* sql);
  /// The key of the row that was inserted last.
  [[nodiscard]] std::int64_t last_row() const noexcept;
  /// The first column of the first row.
  [[nodiscard]] result<std::int64_t> number(const char* sql);
  [[nodiscard]] result<std::string> text(const char* sql);
  /// As much of the log goes into the file as nobody reads it any more.
  [[nodiscard]] result<void> checkpoint();
  [[nodiscard]] bool is_open() const noexcept { return connection_ != nullptr; }
  [[nodiscard]] bool is_in_transaction() const noexcept;
  /// For what this header has no words for. Null where nothing is open.
  [[nodiscard]] sqlite3* raw() const noexcept { return connection_.get(); }
  /// A result code of a call on `raw()` as an error.
  [[nodiscard]] tl::unexpected<failure> error(int code) const;

 private:
  struct closing {
    void operator()(sqlite3* what) const noexcept;
  };
  std::shared_ptr<const std::string> what_{};
  std::unique_ptr<sqlite3, closing> connection_{};
};

/// Rolls back what has not been committed.
class transaction {
 public:
  [[nodiscard]] static result<transaction> begin(connection& on);
  transaction(transaction&& other) noexcept : on_(std::exchange(other.on_, nullptr)) {}
  transaction& operator=(transaction&&) = delete;
  ~transaction();
  [[nodiscard]] result<void> commit();

 private:
  explicit transaction(connection& on) noexcept : on_(&on) {}
  connection* on_;
};

/// Whether a failure of SQLite says that the file is damaged, and not that it could not be had.
[[nodiscard]] bool says_damaged(const failure& what) noexcept;
/// A source_unavailable of which `says_damaged` is true.
[[nodiscard]] failure damaged(std::string public_text, std::string private_text);

}  // namespace hondana::sqlite
