/// What an index needs of the machine, before it is opened.
#pragma once

#include <string>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/search.hpp>

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

}  // namespace hondana::search
