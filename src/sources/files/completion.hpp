/// Completes paths, lines and bytes in the URI templates of a root.
#pragma once

#include <string>
#include <string_view>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/files/listing.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Completes `{+path}` in the template of a root. `input` is a folder up to its last `/`, and then a pattern.
///
/// Candidates are the paths below that folder whose last name matches the pattern, as `match::matcher` defines. For an empty
/// pattern, they are the direct children of the folder. If the folder does not exist, they are all paths in the root that match
/// the whole input.
/// Of equal matches the shorter one comes first, then the one of higher priority, then the one changed more recently. Folders
/// end in `/`. At most 100 values.
///
/// Waits at most 100 ms until `listing` is complete. If it is not, or is null, only direct children of the folder are examined,
/// for at most 100 ms. The total is missing if not everything was examined; then `has_more` is true. Entries that are not
/// served, or that the caller's access filter hides, are neither returned nor counted.
/// Errors: cancelled, timed_out. Throws std::system_error when descriptors or memory run out, or a disk fails.
[[nodiscard]] result<complete_result> complete_path(const served_root& root, const listing* listing, std::string_view input,
                                                    const request_context& context);

/// Completes `lines` (`is_lines`) or `bytes` of the file at `path`, a value of `{+path}`. Values are the whole range, pages of
/// 200 lines or 64 KiB, and ranges that begin at the number in `input`. At most 100 that begin with `input` are returned. Only
/// text files of up to 8 MiB have values for `lines`.
/// Errors: cancelled, timed_out. A path has no values if it is not a file, is not served, or is hidden by the caller's access
/// filter.
[[nodiscard]] result<complete_result> complete_range(const served_root& root, std::string_view path, bool is_lines,
                                                     std::string_view input, const request_context& context);

/// A path as a value of `{+path}`. Percent-encodes control characters, characters with a meaning in URIs, and invalid UTF-8.
[[nodiscard]] std::string encode_template_value(std::string_view path);

}  // namespace hondana::files
