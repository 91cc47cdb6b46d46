/// One connection to PostgreSQL by libpq, which is loaded on first use, with binary parameters and results.
#pragma once

#include <libpq-fe.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::search {

/// The arguments of one statement, `$1` first, whose types the statement says by casts.
class arguments {
 public:
  arguments& text(std::string_view value);   ///< ::text. Without NUL.
  arguments& bytes(std::string_view value);  ///< ::bytea, and what has a binary form of its own.
  arguments& number(std::int64_t value);     ///< ::bigint
  arguments& real(double value);             ///< ::float8
  arguments& null();
  arguments& texts(std::span<const std::string> values);     ///< ::text[]
  arguments& blobs(std::span<const std::string> values);     ///< ::bytea[]
  arguments& vectors(std::span<const std::string> values);   ///< ::tsvector[]
  arguments& numbers(std::span<const std::int64_t> values);  ///< ::bigint[]

  struct value {
    std::string bytes{};
    bool is_null = false;
  };
  [[nodiscard]] const std::vector<value>& all() const noexcept { return all_; }

 private:
  std::vector<value> all_;
};

/// Big-endian, as the protocol has it. Of other lengths: 0.
[[nodiscard]] std::int64_t number_of(std::string_view bytes) noexcept;
[[nodiscard]] double real_of(std::string_view bytes) noexcept;

/// What is used of libpq, under its own names less their prefix.
struct libpq_library {
  decltype(&::PQconninfoParse) conninfo_parse;
  decltype(&::PQconninfoFree) conninfo_free;
  decltype(&::PQfreemem) freemem;
  decltype(&::PQconnectdbParams) connect;
  decltype(&::PQfinish) finish;
  decltype(&::PQstatus) status;
  decltype(&::PQtransactionStatus) transaction_status;
  decltype(&::PQserverVersion) server_version;
  decltype(&::PQparameterStatus) parameter_status;
  decltype(&::PQerrorMessage) error_message;
  decltype(&::PQconnectionNeedsPassword) needs_password;
  decltype(&::PQconnectionUsedPassword) used_password;
  decltype(&::PQsetNoticeProcessor) set_notice_processor;
  decltype(&::PQexec) exec;
  decltype(&::PQexecParams) exec_params;
  decltype(&::PQresultStatus) result_status;
  decltype(&::PQresultErrorField) result_error_field;
  decltype(&::PQcmdStatus) command_status;
  decltype(&::PQclear) clear;
  decltype(&::PQntuples) rows;
  decltype(&::PQgetisnull) is_null;
  decltype(&::PQgetlength) length;
  decltype(&::PQgetvalue) value;
};

/// Loads the library of that name. Never unloaded. Threads: any. Errors: source_unavailable: there is none (the loader's words
/// are private), or it is another library or too old.
[[nodiscard]] result<libpq_library> load_libpq(const char* name);
/// Loads libpq with the first call that can. Errors: as `load_libpq`; the next call tries again. Threads: any.
[[nodiscard]] result<const libpq_library*> loaded_libpq();

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
