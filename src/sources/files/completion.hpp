/// Completes paths, lines and bytes in the URI templates of a root.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/files/listing.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Values for `{+path}` that go on from what was typed: first of all names in the folder typed so far, and then whatever lies
/// below it and fits in its last name, as `match::matcher` says; when there is no such folder, whatever in the root fits all
/// that was typed. Of equal fits the shorter comes first, then the one of higher priority, then the one changed more lately.
/// Folders end in `/`. At most 100, with the number of all.
///
/// `listed` is waited for, at most 100 ms; as long as it is not whole, or when it is null, only the folder itself is looked at,
/// name by name, for at most 100 ms. Without a total, `has_more` says that not everything was looked at. What is not
/// served, or not shown by the caller's view, is never among them and never counted.
/// Errors: cancelled, timed_out. A folder that is not there has no values.
[[nodiscard]] result<complete_result> complete_path(const root& of, const listing* listed, std::string_view typed,
                                                    const call& by);

/// Values for `lines` (`is_lines`) or `bytes` of the file at `path`, a value of `{+path}`: all of it, the pages of it, and what
/// goes on from a first number typed, as far as they begin with what was typed. At most 100, with the number of all. Lines are
/// counted in the first 8 MiB of a text file; of more, and of what is no text, none are offered.
/// Errors: cancelled, timed_out. What is no file, is not served or not shown by the caller's view has no values.
[[nodiscard]] result<complete_result> complete_range(const root& of, std::string_view path, bool is_lines,
                                                     std::string_view typed, const call& by);

/// A path as it is written into a `{+path}`: what would mean something else there, or is no readable text, is percent-encoded.
[[nodiscard]] std::string template_value(std::string_view path);

}  // namespace hondana::files
