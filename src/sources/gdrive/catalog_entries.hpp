/// Resource entries, metadata keys, resource templates and scheme documentation of a Google Drive source.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/gdrive/item.hpp"

namespace hondana::gdrive {

/// Metadata keys of entries and contents, which clients see in `_meta`.
inline constexpr std::string_view id_key = "dev.hondana/id";
inline constexpr std::string_view link_key = "dev.hondana/webLink";
inline constexpr std::string_view starred_key = "dev.hondana/starred";
inline constexpr std::string_view target_key = "dev.hondana/target";
inline constexpr std::string_view original_type_key = "dev.hondana/originalType";
inline constexpr std::string_view original_key = "dev.hondana/original";
inline constexpr std::string_view problem_key = "dev.hondana/problem";
inline constexpr std::string_view truncated_key = "dev.hondana/cut";
inline constexpr std::string_view pages_key = "dev.hondana/pages";
inline constexpr std::string_view charset_key = "dev.hondana/charset";
inline constexpr std::string_view replaced_key = "dev.hondana/replaced";
inline constexpr std::string_view sheet_key = "dev.hondana/sheet";
inline constexpr std::string_view export_link_key = "dev.hondana/exportLink";
inline constexpr std::string_view offline_key = "dev.hondana/offline";
inline constexpr std::string_view age_key = "dev.hondana/ageSeconds";

inline constexpr std::string_view folder_mime_type = "inode/directory";

/// A file's display name on one line, or its id if the name has no visible characters.
[[nodiscard]] std::string display_name(const item& item);
/// The metadata of a file, for its entry and its contents. Contains the web link only if it is an https: URL.
[[nodiscard]] metadata make_metadata(const item& item);
/// The entry of a file or folder. `rating`: gives the priority and the reason for it.
[[nodiscard]] resource make_entry(const item& item, std::string uri, const priority_rating& rating);
/// The entry of one sheet. `workbook`: the entry of the workbook.
[[nodiscard]] resource make_sheet_entry(const resource& workbook, const std::string& sheet);
[[nodiscard]] std::string sheet_uri(std::string_view uri, std::string_view sheet);
/// The entry of a drive, which is listed as a folder.
[[nodiscard]] resource make_drive_entry(std::string uri, std::string name);

[[nodiscard]] std::vector<resource_template> make_templates(const std::string& scheme, const std::string& name);
[[nodiscard]] scheme_documentation describe_scheme();

}  // namespace hondana::gdrive
