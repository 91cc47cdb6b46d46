/// An index in a schema of a PostgreSQL database, which several servers may share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "search/index/store.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::search {

struct postgres_options {
  /// `postgresql://user@host:port/database?sslmode=verify-full`, with all parameters of libpq, but without a password: that is
  /// in ~/.pgpass, in a file that PGPASSFILE names, or in PGPASSWORD.
  std::string url{};
  std::string schema = "hondana_search";  ///< Lower-case letters, digits and `_`. Created if it does not exist.
  std::shared_ptr<const tokenizer::tokenizer> tokenizer{};
  std::function<void(std::string_view)> log{};  ///< Threads: any.
};

/// Connects, and creates missing schema and tables (PostgreSQL 12 or later, encoding UTF-8). Rejects an index of another
/// version, and an index with documents of another tokenizer, because other servers may be using it.
///
/// While the PostgreSQL server is down, calls fail; when it is back, they work again. One of the servers that share the index
/// updates it (`store::acquire_write_access`) as long as its connection lives; the others see its commits. Writers that have
/// not acquired write access wait for each other, from the first change to its commit.
///
/// A word counts at most 255 times per passage, and only its first 2046 bytes are compared. If pgvector is installed, it
/// answers `index_snapshot::nearest`. This is not tested, because Debian 12 has no package of it.
///
/// Errors: invalid_argument (URL, schema); source_unavailable.
[[nodiscard]] result<std::shared_ptr<store>> open_postgres(postgres_options options);

/// Reads counts and progress from the schema, even while servers write it. No value: there is no index, and none is created.
/// Errors: as `open_postgres`.
[[nodiscard]] result<std::optional<stored_index>> inspect_postgres(const std::string& url, const std::string& schema);

}  // namespace hondana::search
