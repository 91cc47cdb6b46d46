/// Parses the URIs of a Google Drive source, and encodes file and drive names for them.
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

/// URI authorities that do not name a shared drive.
inline constexpr std::string_view my_drive = "my-drive";
inline constexpr std::string_view shared_with_me = "shared-with-me";

/// Separates a file's name from its id in a path segment: `NAME~ID`.
inline constexpr char id_separator = '~';

/// Encodes a name as one canonical path segment: in NFC, with everything escaped except ASCII letters, ASCII digits and `-._~`.
/// NUL becomes U+FFFD. Empty: the name cannot be a segment, because it is "", "." or "..".
[[nodiscard]] std::string path_segment(std::string_view name);
/// Makes the segment `NAME~ID`, for a name that cannot be a segment or is not unique in its folder.
[[nodiscard]] std::string path_segment(std::string_view name, std::string_view id);
/// Converts a URI by path to the form that lists have: in NFC, escaped as by `path_segment`, and without a trailing slash.
[[nodiscard]] std::string to_listed_uri(std::string_view uri);
/// Converts a name for display: to NFC, and each run of control characters to a space.
[[nodiscard]] std::string display_text(std::string_view name);

/// Makes a slug, the drive's name in URIs, for each shared drive. Returns slugs by drive id.
/// A slug has the letters and digits of the name, joined by `-`. Without any, it is `drive-` and eight digits: the first ones
/// of the SHA-256 of the id, in hexadecimal. If several drives would have the same slug, the one with the smallest id gets it.
/// The others get `-` and their digits appended, as do slugs that equal one of the authorities above.
[[nodiscard]] std::map<std::string, std::string, std::less<>> make_slugs(const std::vector<drive::shared_drive>& drives);

/// A parsed URI of this source.
struct address {
  enum class resource_kind : std::uint8_t {
    drive_list,  ///< `gdrive:///`: the list of drives.
    starred,     ///< `gdrive:///starred`: the list of starred files.
    recent,      ///< `gdrive:///recent`: the list of recently changed files.
    id,          ///< `gdrive:///ID`: a file or folder by its id.
    path,        ///< `gdrive://DRIVE` and `gdrive://DRIVE/PATH`: a drive, or a file or folder by its path.
  };
  resource_kind kind = resource_kind::drive_list;
  std::string id{};                    ///< With `id`.
  std::string uri{};                   ///< With `path`: the URI without parameters and trailing slash.
  std::optional<std::string> sheet{};  ///< The parameter `sheet`, decoded.
  bool is_original = false;            ///< The parameter `format=original`.
};

/// Parses a canonical URI. `scheme`: that of the source, such as "gdrive". Errors: resource_not_found if the URI cannot name
/// anything in Drive; those of `uri::parse_query`, and invalid_argument for both parameters.
[[nodiscard]] result<address> parse_address(std::string_view scheme, std::string_view uri);

}  // namespace hondana::gdrive
