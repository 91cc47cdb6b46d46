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
  /// `postgresql://user@host:port/database?sslmode=verify-full`, with all that libpq knows, but no password: that stands in
  /// ~/.pgpass, a file that PGPASSFILE names, or PGPASSWORD.
  std::string url{};
  std::string schema = "hondana_search";  ///< Made if it is not there.
  std::shared_ptr<const tokenizer::tokenizer> words{};
  std::function<void(std::string_view)> log{};  ///< Threads: any.
};

/// Connects, and makes schema and tables where they are missing (PostgreSQL 12 or later, encoding UTF-8). An index made with
/// other words or by another version is refused unless it is empty, since others may be using it. When the server goes, what is
/// asked meanwhile fails, and with the server's return all goes on. One of the servers that share it keeps it up
/// (`store::take_turn`), as long as its connection lives, and the others see what it commits. Those that write without a turn
/// wait for each other, from the first change to its commit.
///
/// A word counts 255 times in a passage at most, and is compared by its first 2046 bytes. Where pgvector is installed,
/// `nearest` is answered by it; that has not been tried, since Debian 12 has no package of it.
///
/// Errors: invalid_argument (URL, schema); source_unavailable.
[[nodiscard]] result<std::shared_ptr<store>> open_postgres(postgres_options from);

/// What stands in the schema, which servers may be writing; nothing: there is none, and none is made. Errors as above.
[[nodiscard]] result<std::optional<kept_index>> look_at_postgres(const std::string& url, const std::string& schema);

}  // namespace hondana::search
