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

/// The folder of the index, the dictionary, the addresses of its services and the files with their secrets. Errors:
/// invalid_argument for an invalid address.
[[nodiscard]] result<system_requirements> needs_of(const search_options& options);

/// Absolute paths of the password file, keys and certificates that libpq reads for this URL. Includes those named by the URL or
/// the environment, and the default ones. `~/.postgresql` is a folder.
[[nodiscard]] std::vector<std::string> postgres_files(const std::string& url);

/// Creates the missing folder of an index in a file, with access for this user only. Call before the sandbox starts, because it
/// can only open existing folders. Errors: source_unavailable.
[[nodiscard]] result<void> make_folder_for(const search_options& options);

/// Reads counts and progress of the stored index. No value: there is no index, or it is in memory. Creates nothing. Errors:
/// source_unavailable.
[[nodiscard]] result<std::optional<stored_index>> inspect_stored(const search_options& options);

/// Checks, if there is no index yet, whether another program's file has its path. Creates nothing. Errors: source_unavailable,
/// with the same message as opening the index.
[[nodiscard]] result<void> reject_foreign(const search_options& options);

}  // namespace hondana::search
