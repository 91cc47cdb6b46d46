/// One connection to PostgreSQL with libpq, which is loaded on first use; binary parameters and results.
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

#include "os/libraries/shared_library.hpp"

namespace hondana::search {

/// The arguments of one statement, `$1` first. The statement declares their types with casts.
class arguments {
 public:
  arguments& text(std::string_view value);   ///< ::text. Without NUL.
  arguments& bytes(std::string_view value);  ///< ::bytea, and binary forms of other types.
  arguments& number(std::int64_t value);     ///< ::bigint
  arguments& real(double value);             ///< ::float8
  arguments& null();
  arguments& texts(std::span<const std::string> values);     ///< ::text[]
  arguments& blobs(std::span<const std::string> values);     ///< ::bytea[]
  arguments& vectors(std::span<const std::string> values);   ///< ::tsvector[], in binary form.
  arguments& numbers(std::span<const std::int64_t> values);  ///< ::bigint[]

  struct value {
    std::string bytes{};
    bool is_null = false;
  };
  [[nodiscard]] const std::vector<value>& values() const noexcept { return values_; }

 private:
  std::vector<value> values_;
};

/// Decodes a bigint of the binary protocol; 0 for any length other than 8 bytes.
[[nodiscard]] std::int64_t number_of(std::string_view bytes) noexcept;
/// Decodes a float8 in the same way.
[[nodiscard]] double real_of(std::string_view bytes) noexcept;

/// The functions of libpq that are used, named without their prefix.
struct libpq_library {
  libraries::function<decltype(&::PQconninfoParse)> conninfo_parse{"PQconninfoParse"};
  libraries::function<decltype(&::PQconninfoFree)> conninfo_free{"PQconninfoFree"};
  libraries::function<decltype(&::PQfreemem)> freemem{"PQfreemem"};
  libraries::function<decltype(&::PQconnectdbParams)> connect{"PQconnectdbParams"};
  libraries::function<decltype(&::PQfinish)> finish{"PQfinish"};
  libraries::function<decltype(&::PQstatus)> status{"PQstatus"};
  libraries::function<decltype(&::PQtransactionStatus)> transaction_status{"PQtransactionStatus"};
  libraries::function<decltype(&::PQserverVersion)> server_version{"PQserverVersion"};
  libraries::function<decltype(&::PQparameterStatus)> parameter_status{"PQparameterStatus"};
  libraries::function<decltype(&::PQerrorMessage)> error_message{"PQerrorMessage"};
  libraries::function<decltype(&::PQconnectionNeedsPassword)> needs_password{"PQconnectionNeedsPassword"};
  libraries::function<decltype(&::PQconnectionUsedPassword)> used_password{"PQconnectionUsedPassword"};
  libraries::function<decltype(&::PQsetNoticeProcessor)> set_notice_processor{"PQsetNoticeProcessor"};
  libraries::function<decltype(&::PQexec)> exec{"PQexec"};
  libraries::function<decltype(&::PQexecParams)> exec_params{"PQexecParams"};
  libraries::function<decltype(&::PQresultStatus)> result_status{"PQresultStatus"};
  libraries::function<decltype(&::PQresultErrorField)> result_error_field{"PQresultErrorField"};
  libraries::function<decltype(&::PQcmdStatus)> command_status{"PQcmdStatus"};
  libraries::function<decltype(&::PQclear)> clear{"PQclear"};
  libraries::function<decltype(&::PQntuples)> rows{"PQntuples"};
  libraries::function<decltype(&::PQgetisnull)> is_null{"PQgetisnull"};
  libraries::function<decltype(&::PQgetlength)> length{"PQgetlength"};
  libraries::function<decltype(&::PQgetvalue)> value{"PQgetvalue"};
};

/// Returns libpq, which the first successful call loads. Errors: source_unavailable, see `libraries::load_once`. Threads: any.
[[nodiscard]] result<const libpq_library*> shared_libpq();

/// The location of an index. Contains no secrets: libpq reads them from ~/.pgpass, the file that PGPASSFILE names, or
/// PGPASSWORD.
struct postgres_location {
  std::string url{};     ///< `postgresql://user@host:port/database?sslmode=verify-full`
  std::string schema{};  ///< The schema of the tables: lower-case letters, digits and `_`.

  /// For people: "PostgreSQL on db.example.org, database docs". Without secrets.
  std::string name{};
};
/// Checks a URL and the name of a schema. Errors: invalid_argument if the URL is not one of PostgreSQL or contains a password,
/// or if the name is not allowed.
[[nodiscard]] result<postgres_location> parse_location(const libpq_library& library, const std::string& url,
                                                       const std::string& schema);

/// Rows of binary values. Views of them are valid during the lifetime of this object. An object from the default constructor
/// has no rows.
class postgres_rows {
 public:
  postgres_rows() = default;
  postgres_rows(const libpq_library& library, PGresult* rows) : library_(&library), result_(rows, library.clear.pointer) {}
  [[nodiscard]] int count() const noexcept { return result_ ? library_->rows(result_.get()) : 0; }
  [[nodiscard]] bool is_null(int row, int column) const noexcept { return library_->is_null(result_.get(), row, column) != 0; }
  [[nodiscard]] std::string_view bytes(int row, int column) const noexcept {
    return {library_->value(result_.get(), row, column),
            static_cast<std::size_t>(library_->length(result_.get(), row, column))};
  }
  [[nodiscard]] std::string text(int row, int column) const { return std::string(bytes(row, column)); }
  [[nodiscard]] std::int64_t number(int row, int column) const noexcept { return number_of(bytes(row, column)); }
  [[nodiscard]] double real(int row, int column) const noexcept { return real_of(bytes(row, column)); }
  [[nodiscard]] PGresult* raw() const noexcept { return result_.get(); }

 private:
  const libpq_library* library_ = nullptr;
  std::unique_ptr<PGresult, void (*)(PGresult*)> result_{nullptr, nullptr};
};

/// A connection. Threads: one at a time. Errors of all functions: source_unavailable, with advice; `open`: also internal.
class postgres_connection {
 public:
  postgres_connection() = default;
  /// Connects. `settings`: SQL statements to run first. `library` must outlive the connection.
  [[nodiscard]] static result<postgres_connection> open(const libpq_library& library, const postgres_location& location,
                                                        const char* settings);

  /// Runs one or several statements without arguments.
  [[nodiscard]] result<void> run(const char* sql);
  /// Runs one statement and returns its rows.
  [[nodiscard]] result<postgres_rows> query(const char* sql, const arguments& parameters = {});
  /// Ends the transaction. Errors: also if the server has rolled back instead.
  [[nodiscard]] result<void> commit();

  /// Whether this object has a connection, even a lost one.
  [[nodiscard]] bool is_open() const noexcept { return connection_ != nullptr; }
  /// False: the connection is lost; open another one.
  [[nodiscard]] bool is_alive() const noexcept;
  [[nodiscard]] bool is_in_transaction() const noexcept;

 private:
  [[nodiscard]] tl::unexpected<failure> error(const PGresult* failed) const;

  const libpq_library* library_ = nullptr;
  std::string name_;
  std::unique_ptr<PGconn, void (*)(PGconn*)> connection_{nullptr, nullptr};
};

}  // namespace hondana::search
