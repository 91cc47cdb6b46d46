/// Names of Drive as parts of URIs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sources/gdrive/drive/entries.hpp"

namespace hondana::gdrive {

/// Authorities that are no shared drive's.
inline constexpr std::string_view my_drive = "my-drive";
inline constexpr std::string_view shared_with_me = "shared-with-me";

/// What divides a name from the id that tells it from others of that name.
inline constexpr char id_mark = '~';

/// A name as one segment of a path, canonical: in NFC, everything but letters and digits of ASCII and `-._~` escaped, a slash
/// too; NUL is U+FFFD. Empty for what can be no segment: "", "." and "..".
[[nodiscard]] std::string segment_of(std::string_view name);
/// The same, told from others by the id: `NAME~ID`.
[[nodiscard]] std::string segment_of(std::string_view name, std::string_view id);
/// A URI by path with its names as lists spell them: in NFC, with everything escaped that `segment_of` escapes, and without a
/// slash at the end.
[[nodiscard]] std::string listed_spelling(std::string_view uri);
/// A name for people: in NFC, on one line, without control characters.
[[nodiscard]] std::string shown(std::string_view name);

/// Slugs of shared drives by their ids: letters and digits of the name with `-` between, `drive-` and eight hexadecimal digits
/// of the id's SHA-256 where there are none. Of drives with one slug the one whose id comes first has it; the others, and what
/// would be one of the authorities above, have `-` and these digits behind it.
[[nodiscard]] std::map<std::string, std::string, std::less<>> slugs_of(const std::vector<drive::shared_drive>& all);

}  // namespace hondana::gdrive
