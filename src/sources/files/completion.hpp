/// Completes paths, lines and bytes in the URI templates of a root.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/files/listing.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Completes `{+path}`. Candidates are the names in the folder typed so far, then the paths below it whose last name matches,
/// as `match::matcher` defines. If that folder does not exist, every path in the root that matches the whole input is a
/// candidate. Of equal matches the shorter one comes first, then the one of higher priority, then the one changed more
/// recently. Folders end in `/`. At most 100 values, with the total number.
///
/// Waits for `listing` for at most 100 ms. While it is incomplete, or if it is null, only the names in the folder itself are
/// examined, for at most 100 ms. Without a total, `has_more` means that not everything was examined. Entries that are not
/// served, or that the caller's access filter hides, are neither returned nor counted.
/// Errors: cancelled, timed_out. A folder that does not exist has no values.
[[nodiscard]] result<complete_result> complete_path(const served_root& root, const listing* listing, std::string_view input,
                                                    const request_context& context);

/// Completes `lines` (`is_lines`) or `bytes` of the file at `path`, a value of `{+path}`. Offers the whole range, its pages,
/// and continuations of a first number, as far as they begin with the input. At most 100 values, with the total number. Lines
/// are counted in text files of up to 8 MiB; other files have no values for `lines`.
/// Errors: cancelled, timed_out. A path has no values if it is not a file, is not served, or is hidden by the caller's access
/// filter.
[[nodiscard]] result<complete_result> complete_range(const served_root& root, std::string_view path, bool is_lines,
                                                     std::string_view input, const request_context& context);

/// A path as it is written into `{+path}`. Percent-encodes control characters, characters with a meaning there, and invalid
/// UTF-8.
[[nodiscard]] std::string encode_template_value(std::string_view path);

}  // namespace hondana::files
