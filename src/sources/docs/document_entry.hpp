/// Catalog entries, metadata and resource templates of documents.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/file_stamp.hpp"
#include "sources/docs/snapshot.hpp"

namespace hondana::docs {

/// Metadata keys of entries and contents, which clients see in `_meta`.
inline constexpr std::string_view language_key = "dev.hondana/lang";
inline constexpr std::string_view charset_key = "dev.hondana/charset";
inline constexpr std::string_view replaced_key = "dev.hondana/replaced";
inline constexpr std::string_view pages_key = "dev.hondana/pages";
inline constexpr std::string_view original_type_key = "dev.hondana/originalType";
inline constexpr std::string_view original_key = "dev.hondana/original";
inline constexpr std::string_view withheld_key = "dev.hondana/originalWithheld";
inline constexpr std::string_view problem_key = "dev.hondana/problem";
inline constexpr std::string_view truncated_key = "dev.hondana/cut";
/// True: the document has not been rendered yet, and its title comes from a rule or its name.
inline constexpr std::string_view provisional_key = "dev.hondana/provisional";

/// The entry of a document. Metadata that is not known yet is missing.
[[nodiscard]] resource make_entry(const std::string& set, const document& document);
/// The title of a document.
[[nodiscard]] std::string title_of(const document& document, const document_properties& properties);
/// For `hondana check`: the reason for the priority, and problems of the document.
[[nodiscard]] std::string inventory_note(const document& document);
/// The metadata of a document, for its text and its entry.
[[nodiscard]] metadata make_metadata(const document& document, const document_properties& properties);

[[nodiscard]] std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modification_time(const disk::stamp& stamp);
/// The version of a document that has not just changed. It includes the encoding that a rule sets.
[[nodiscard]] std::string version_of(const disk::stamp& stamp, const std::string& charset_rule);

[[nodiscard]] std::vector<resource_template> make_templates(const std::string& set);
[[nodiscard]] scheme_documentation describe_scheme();

}  // namespace hondana::docs
