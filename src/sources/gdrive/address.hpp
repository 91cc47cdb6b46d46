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

/// Separates a file name from the id that makes it unique among files of the same name.
inline constexpr char id_separator = '~';

/// Encodes a name as one canonical path segment: in NFC, with everything escaped except ASCII letters, ASCII digits and `-._~`.
/// A slash is escaped, too. NUL becomes U+FFFD. Empty if the name cannot be a segment: "", "." and "..".
[[nodiscard]] std::string path_segment(std::string_view name);
/// The same, made unique by the id: `NAME~ID`.
[[nodiscard]] std::string path_segment(std::string_view name, std::string_view id);
/// Rewrites a URI by path as lists spell it: in NFC, escaped as by `path_segment`, and without a trailing slash.
[[nodiscard]] std::string to_listed_uri(std::string_view uri);
/// A name for display: in NFC, on one line, without control characters.
[[nodiscard]] std::string display_text(std::string_view name);

/// Returns the slug of each shared drive by drive id.
/// A slug has the letters and digits of the name, joined by `-`. A name without any gets `drive-` and the first eight
/// hexadecimal digits of the SHA-256 of the id. If several drives have the same slug, the one with the smallest id gets it. The
/// others get `-` and their digits appended, as do slugs that equal one of the authorities above.
[[nodiscard]] std::map<std::string, std::string, std::less<>> make_slugs(const std::vector<drive::shared_drive>& drives);

/// A parsed URI of this source.
struct address {
  enum class resource_kind : std::uint8_t {
    drive_list,  ///< `gdrive:///`, which lists the drives.
    starred,     ///< `gdrive:///starred`
    recent,      ///< `gdrive:///recent`
    id,          ///< `gdrive:///ID`
    path,        ///< `gdrive://DRIVE` and `gdrive://DRIVE/PATH`
  };
  resource_kind kind = resource_kind::drive_list;
  std::string id{};
  std::string uri{};  ///< For `path`: the URI without its parameters.
  std::optional<std::string> sheet{};
  bool is_original = false;  ///< `format=original`
};

/// Parses a canonical URI. Errors: resource_not_found if the URI cannot name anything in Drive; invalid_argument for unknown or
/// conflicting parameters.
[[nodiscard]] result<address> parse_address(std::string_view scheme, std::string_view uri);

}  // namespace hondana::gdrive
