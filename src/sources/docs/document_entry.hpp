/// Catalog entries, metadata and templates of documents.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/file_stamp.hpp"
#include "sources/docs/snapshot.hpp"

namespace hondana::docs {

/// Facts among the metadata, and in `_meta`.
inline constexpr std::string_view language_key = "dev.hondana/lang";
inline constexpr std::string_view charset_key = "dev.hondana/charset";
inline constexpr std::string_view replaced_key = "dev.hondana/replaced";
inline constexpr std::string_view pages_key = "dev.hondana/pages";
inline constexpr std::string_view original_type_key = "dev.hondana/originalType";
inline constexpr std::string_view original_key = "dev.hondana/original";
inline constexpr std::string_view withheld_key = "dev.hondana/originalWithheld";
inline constexpr std::string_view problem_key = "dev.hondana/problem";
inline constexpr std::string_view cut_key = "dev.hondana/cut";
/// True: it has not been looked into yet, and its title is that of a rule, or its name.
inline constexpr std::string_view provisional_key = "dev.hondana/provisional";

/// Of a document, as far as it is known.
[[nodiscard]] resource entry_of(const std::string& set, const document& of);
/// Its title, by what is known of it.
[[nodiscard]] std::string title_of(const document& of, const facts& about);
/// For `hondana check`: why it has its priority, and what is wrong with it.
[[nodiscard]] std::string remark_on(const document& of);
/// What is told with its text, and in its entry.
[[nodiscard]] metadata facts_about(const document& of, const facts& about);

[[nodiscard]] std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified_of(const disk::stamp& state);
/// The version of a document that is not racy; it changes with the encoding that a rule says, too.
[[nodiscard]] std::string version_of(const disk::stamp& state, const std::string& charset_rule);

[[nodiscard]] std::vector<resource_template> templates_of(const std::string& set);
[[nodiscard]] scheme_documentation describe();

}  // namespace hondana::docs
