/// One connection to PostgreSQL, and what it answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "search/index/postgres/arguments.hpp"
#include "search/index/postgres/libpq_library.hpp"

namespace hondana::search {

/// Where an index is. Secrets are in none of it: libpq finds them in ~/.pgpass, the file that PGPASSFILE names, or PGPASSWORD.
struct postgres_place {
  std::string url{};     ///< `postgresql://user@host:port/database?sslmode=verify-full`
  std::string schema{};  ///< Whose tables these are: small letters, digits and `_`.

  /// For people: "PostgreSQL on db.example.org, database docs". Nothing secret.
  std::string name{};
};
/// Errors: invalid_argument: it is no URL of PostgreSQL's, a password stands in it, or the schema is no plain name.
[[nodiscard]] result<postgres_place> place_of(const libpq_library& by, const std::string& url, const std::string& schema);

/// Rows of binary values, good as long as it lives.
class postgres_rows {
 public:
  postgres_rows() = default;
  postgres_rows(const libpq_library& by, PGresult* of) : by_(&by), of_(of, by.clear) {}
  [[nodiscard]] int count() const noexcept { return of_ ? by_->rows(of_.get()) : 0; }
  [[nodiscard]] bool is_null(int row, int column) const noexcept { return by_->is_null(of_.get(), row, column) != 0; }
  [[nodiscard]] std::string_view bytes(int row, int column) const noexcept {
    return {by_->value(of_.get(), row, column), static_cast<std::size_t>(by_->length(of_.get(), row, column))};
  }
  [[nodiscard]] std::string text(int row, int column) const { return std::string(bytes(row, column)); }
  [[nodiscard]] std::int64_t number(int row, int column) const noexcept { return number_of(bytes(row, column)); }
  [[nodiscard]] double real(int row, int column) const noexcept { return real_of(bytes(row, column)); }
  [[nodiscard]] PGresult* raw() const noexcept { return of_.get(); }

 private:
  const libpq_library* by_ = nullptr;
  std::unique_ptr<PGresult, void (*)(PGresult*)> of_{nullptr, nullptr};
};

/// Threads: one at a time. Errors of all: source_unavailable, saying what to do.
class postgres_connection {
 public:
  postgres_connection() = default;
  /// `settings`: statements that are run first.
  [[nodiscard]] static result<postgres_connection> open(const libpq_library& by, const postgres_place& where,
                                                        const char* settings);

  /// Several statements, without arguments.
  [[nodiscard]] result<void> run(const char* sql);
  [[nodiscard]] result<postgres_rows> ask(const char* sql, const arguments& with = {});
  /// Errors: also when the server has rolled back instead.
  [[nodiscard]] result<void> commit();

  [[nodiscard]] bool is_open() const noexcept { return connection_ != nullptr; }
  /// False: it has gone, and another must be opened.
  [[nodiscard]] bool is_alive() const noexcept;
  [[nodiscard]] bool is_in_transaction() const noexcept;

 private:
  [[nodiscard]] tl::unexpected<failure> error(const PGresult* of) const;

  const libpq_library* by_ = nullptr;
  std::string name_;
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_{nullptr, nullptr};
};

}  // namespace hondana::search
