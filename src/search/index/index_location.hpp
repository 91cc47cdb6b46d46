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

/// Its folder, the dictionary, the addresses of its services and the files with their secrets. Errors: invalid_argument for an
/// address of a service that cannot be one.
[[nodiscard]] result<needs> needs_of(const search_options& options);

/// Absolute paths of the password file, keys and certificates that libpq reads for this URL: those that it or the environment
/// names, and the usual ones, of which `~/.postgresql` is a folder.
[[nodiscard]] std::vector<std::string> postgres_files(const std::string& url);

/// Makes the folder of an index in a file, readable by this user alone, where there is none: before a sandbox, which can open
/// only what is there. Errors: source_unavailable.
[[nodiscard]] result<void> make_folder_for(const search_options& options);

/// What is kept where `options` say; nothing: there is none, or it is kept in memory. Makes nothing. Errors:
/// source_unavailable.
[[nodiscard]] result<std::optional<kept_index>> look_at_kept(const search_options& options);

/// Where nothing of an index lies there yet: whether what is there is another's file. Makes nothing. Errors:
/// source_unavailable, in the words of who would open it.
[[nodiscard]] result<void> refuse_foreign(const search_options& options);

}  // namespace hondana::search
