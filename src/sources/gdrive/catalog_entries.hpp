/// Resource entries, metadata keys, resource templates and scheme documentation of a Google Drive source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/gdrive/item.hpp"

namespace hondana::gdrive {

// Metadata keys of entries and contents, which clients see in `_meta`.
inline constexpr std::string_view id_key = "dev.hondana/id";            ///< `item::id`.
inline constexpr std::string_view link_key = "dev.hondana/webLink";     ///< `item::web_link`.
inline constexpr std::string_view starred_key = "dev.hondana/starred";  ///< True: the file is starred.
inline constexpr std::string_view target_key = "dev.hondana/target";    ///< URI of a shortcut's target.
inline constexpr std::string_view original_type_key =
    "dev.hondana/originalType";                                             ///< `item::mime_type`, if reads return another.
inline constexpr std::string_view original_key = "dev.hondana/original";    ///< URI of the unconverted file.
inline constexpr std::string_view problem_key = "dev.hondana/error";        ///< `fetch_result::problem`.
inline constexpr std::string_view truncated_key = "dev.hondana/truncated";  ///< True: `part::is_truncated`.
inline constexpr std::string_view charset_key = "dev.hondana/charset";      ///< `part::charset`.
inline constexpr std::string_view replaced_key = "dev.hondana/invalidSequences";  ///< `part::replaced_count`.
inline constexpr std::string_view sheet_key = "dev.hondana/sheet";                ///< Name of a sheet.
inline constexpr std::string_view export_link_key = "dev.hondana/exportLink";     ///< True: `fetch_result::uses_export_link`.
inline constexpr std::string_view offline_key = "dev.hondana/offline";            ///< True: cached, since Drive is unreachable.
inline constexpr std::string_view age_key = "dev.hondana/ageSeconds";             ///< `fetch_result::age`.

inline constexpr std::string_view folder_mime_type = "inode/directory";

/// The name of a file after `display_text`, or its id if the name has no visible characters.
[[nodiscard]] std::string display_name(const item& item);
/// Makes the metadata of a file, for its entry and its contents. Contains the web link only if it is an https: URL.
[[nodiscard]] metadata make_metadata(const item& item);
/// Makes the entry of a file or folder. `rating`: its priority.
[[nodiscard]] resource make_entry(const item& item, std::string uri, const priority_rating& rating);
/// Makes the entry of one sheet of a Google spreadsheet. `workbook`: the entry of the spreadsheet.
[[nodiscard]] resource make_sheet_entry(const resource& workbook, const std::string& sheet);
/// `uri`: of the spreadsheet, without parameters.
[[nodiscard]] std::string sheet_uri(std::string_view uri, std::string_view sheet);
/// Makes the entry of a drive, which is a folder for clients.
[[nodiscard]] resource make_drive_entry(std::string uri, std::string name);

/// `name`: the name of the source.
[[nodiscard]] std::vector<resource_template> make_templates(const std::string& scheme, const std::string& name);
[[nodiscard]] scheme_documentation describe_scheme();

}  // namespace hondana::gdrive
