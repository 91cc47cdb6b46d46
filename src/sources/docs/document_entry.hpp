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
inline constexpr std::string_view language_key = "dev.hondana/lang";              ///< BCP 47 tag.
inline constexpr std::string_view charset_key = "dev.hondana/charset";            ///< Encoding of the file.
inline constexpr std::string_view replaced_key = "dev.hondana/invalidSequences";  ///< Number of invalid byte sequences.
inline constexpr std::string_view pages_key = "dev.hondana/pages";                ///< Number of pages.
/// Media type of the file, if its text was converted from it.
inline constexpr std::string_view original_type_key = "dev.hondana/originalType";
inline constexpr std::string_view original_key = "dev.hondana/original";          ///< URI of the original file.
inline constexpr std::string_view withheld_key = "dev.hondana/originalWithheld";  ///< Why the original file is withheld.
inline constexpr std::string_view problem_key = "dev.hondana/error";              ///< Why the document cannot be read.
inline constexpr std::string_view truncated_key = "dev.hondana/truncated";        ///< True: a limit has cut the text.
/// True: the document has not been rendered yet, and its title comes from a rule or its name.
inline constexpr std::string_view provisional_key = "dev.hondana/provisional";

/// Makes the entry of a document. Without `document::properties`, metadata from the content is missing.
[[nodiscard]] resource make_entry(const std::string& set, const document& document);
/// The title of a document, from the first of: front matter, rule, heading, file name.
[[nodiscard]] std::string title_of(const document& document, const document_properties& properties);
/// For `hondana check`: the priority with its reason, and problems of the document.
[[nodiscard]] std::string inventory_note(const document& document);
/// Makes the metadata of a document, for contents and entries.
[[nodiscard]] metadata make_metadata(const document& document, const document_properties& properties);

/// The modification time; nothing if it is out of range.
[[nodiscard]] std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modification_time(const disk::stamp& stamp);
/// Derives the version of a document from its stamp, which must not be racy (`disk::is_racy`), and from the encoding that a
/// rule sets (empty: none).
[[nodiscard]] std::string version_of(const disk::stamp& stamp, const std::string& charset_rule);

[[nodiscard]] std::vector<resource_template> make_templates(const std::string& set);
[[nodiscard]] scheme_documentation describe_scheme();

}  // namespace hondana::docs
