/// The location of an index: the files and addresses it needs, and a check from outside the server.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/search.hpp>

#include "search/index/store.hpp"

namespace hondana::search {

/// Returns what an index needs of the system: its folder, the dictionary, addresses of services, and files with secrets.
/// Errors: invalid_argument for settings of embeddings.
[[nodiscard]] result<system_requirements> needs_of(const search_options& options);

/// Returns the absolute paths of the password and service files, keys and certificates that libpq may read for this URL.
/// Includes those named by the URL or the environment, and the default ones, even if they do not exist. `~/.postgresql` is a
/// folder.
[[nodiscard]] std::vector<std::string> postgres_files(const std::string& url);

/// Creates the missing folder of an index file, with access for this user only. Does nothing for other indexes. Call before the
/// sandbox starts, because it can only open existing folders. Errors: source_unavailable.
[[nodiscard]] result<void> make_folder_for(const search_options& options);

/// Reads counts and progress of the stored index. No value: there is no index, or it is in memory. Creates nothing. Errors:
/// source_unavailable; invalid_argument for the PostgreSQL URL or schema.
[[nodiscard]] result<std::optional<stored_index>> inspect_stored(const search_options& options);

/// Checks that the path of the index file is not in use by another program's file. Not checked if an index was opened there
/// before. Creates nothing. Errors: source_unavailable, with the same message as opening the index.
[[nodiscard]] result<void> reject_foreign(const search_options& options);

}  // namespace hondana::search
