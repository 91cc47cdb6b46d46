/// Completing the `path` of a template, folder by folder.
#pragma once

#include <string>
#include <string_view>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "providers/files/root.hpp"

namespace hondana::files {

/// Values for `{+path}` that go on from what was typed: names in the folder typed so far that begin with the last segment,
/// then names that hold its letters in order (`pvh` finds `provider.hpp`); upper and lower case are the same to both, but exact
/// ones come first. Folders end in `/`. At most 100, with a total when that is known; what is not served, or not
/// shown by the caller's view, is never among them.
/// Errors: cancelled, timed_out. A folder that is not there has no values.
[[nodiscard]] result<complete_result> complete_path(const root& of, std::string_view typed, const call& by);

/// A path as it is written into a `{+path}`: what would mean something else there, or is no readable text, is percent-encoded.
[[nodiscard]] std::string template_value(std::string_view path);

}  // namespace hondana::files
