/// What Docs editors files are exported as.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "drive/stand_in/things.hpp"

namespace drive_test {

/// Types that a MIME type of Docs editors can be exported as, the usual ones first; empty for a plain file.
const std::vector<std::string>& export_types(std::string_view type);
/// "exportFormat" of export links.
std::string export_format(std::string_view exported_as);
/// Nothing when it cannot be exported so.
std::optional<std::string> exported(const file& one, std::string_view as);
/// Whether it is of the Docs editors: has no bytes of its own.
bool is_editors(std::string_view type);

/// One sheet as CSV (RFC 4180, lines end with CRLF but the last).
std::string csv_of(const sheet& one);

}  // namespace drive_test
