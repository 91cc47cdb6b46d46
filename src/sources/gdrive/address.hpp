/// The URIs of a Google Drive: parsing them, and spelling file and drive names in them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/gdrive/drive/api_types.hpp"

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

struct address {
  enum class place : std::uint8_t {
    top,      ///< `gdrive:///`: the drives.
    starred,  ///< `gdrive:///starred`
    recent,   ///< `gdrive:///recent`
    id,       ///< `gdrive:///ID`
    path,     ///< `gdrive://DRIVE` and `gdrive://DRIVE/PATH`
  };
  place what = place::top;
  std::string id{};
  std::string uri{};  ///< With `path`: without its parameters.
  std::optional<std::string> sheet{};
  bool is_original = false;  ///< `format=original`
};

/// Takes a canonical URI apart. Errors: resource_not_found for what can be nothing of Drive's; invalid_argument for parameters
/// that there are not, or that do not go together.
[[nodiscard]] result<address> address_of(std::string_view scheme, std::string_view uri);

}  // namespace hondana::gdrive
