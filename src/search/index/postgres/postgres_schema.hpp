/// The tables of an index in PostgreSQL.
#pragma once

#include <cstdint>
#include <string>

#include <hondana/error.hpp>

#include "search/index/postgres/postgres_connection.hpp"

namespace hondana::search {

/// Of the tables below and of what stands in them.
inline constexpr std::int64_t postgres_schema_version = 3;

/// Makes schema and tables where they are missing, and looks whether what is there is of this version and of these words
/// (`tokenizer::tokenizer::id`). An index of others that has no document becomes ours; one that has is left alone, since other
/// servers may be using it. Errors: source_unavailable, saying what to do.
[[nodiscard]] result<void> make_tables(postgres_connection& on, const postgres_place& where, const std::string& words);
/// Whether pgvector can be used there; makes the extension where the user may.
[[nodiscard]] result<bool> has_pgvector(postgres_connection& on);
/// Whether this connection is the one of all servers' that keeps the index up, from now until it ends.
[[nodiscard]] result<bool> take_turn_by(postgres_connection& on, const postgres_place& where);
/// Only one of all servers that share the index does what follows, until its transaction ends.
[[nodiscard]] result<void> lock_index(postgres_connection& on, const postgres_place& where);

}  // namespace hondana::search
