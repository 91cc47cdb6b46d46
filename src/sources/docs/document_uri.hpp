/// Parses and builds URIs and paths of documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/error.hpp>

namespace hondana::docs {

inline constexpr std::string_view folder_type = "inode/directory";

/// `docs://SET`, the prefix of all URIs of a set.
[[nodiscard]] std::string uri_prefix(std::string_view set);
/// The canonical URI of a document or folder. `path`: decoded, with `/` between names.
[[nodiscard]] std::string uri_of(std::string_view set, std::string_view path);
/// The URI of the list of all documents of a set.
[[nodiscard]] std::string outline_uri(std::string_view set);

/// `last_name`: the last name of a path. `parent_of`: everything before its last `/`; empty if there is none.
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;
[[nodiscard]] std::string_view parent_of(std::string_view path) noexcept;
/// A name without its last dot and what follows.
[[nodiscard]] std::string_view stem_of(std::string_view name) noexcept;

/// A path for display, in valid UTF-8 and NFC.
[[nodiscard]] std::string display_path(std::string_view path);

/// The form of the content.
enum class output_format : std::uint8_t {
  default_format,  ///< A document as text, a folder as the URIs in it, the set as its outline.
  outline,         ///< `format=outline`
  json,            ///< `format=json`
  original,        ///< `format=original`
};

/// A parsed URI of a set.
struct address {
  bool is_set = false;  ///< `docs://SET/`, the outline of the set.
  /// Decoded. Empty with `is_set`, and for `docs://SET`, the set as a folder.
  std::string path{};
  /// False: the path is spelled differently from lists, for example with "(" for "%28". Access rules match the listed spelling
  /// only.
  bool is_listed_form = true;
  output_format format = output_format::default_format;
  std::optional<std::string> section{};  ///< As written, decoded.
  /// Counted from 1, both inclusive. For "3-", the second is the largest number.
  std::optional<std::pair<std::size_t, std::size_t>> pages{};

  /// Whether it names less than a whole document, folder or set, or another form of it.
  [[nodiscard]] bool is_part() const noexcept { return section || pages || format != output_format::default_format; }
};

/// Parses a canonical URI. Errors: resource_not_found if it cannot name a document of the set; invalid_argument for unknown or
/// conflicting parameters.
[[nodiscard]] result<address> parse_address(std::string_view set, std::string_view uri);

}  // namespace hondana::docs
