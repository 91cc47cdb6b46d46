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
/// The canonical URI of a document or folder. `path`: not percent-encoded, with `/` between names.
[[nodiscard]] std::string uri_of(std::string_view set, std::string_view path);
/// `docs://SET/`, the URI of the tree of all documents of a set.
[[nodiscard]] std::string outline_uri(std::string_view set);

/// The last name of a path.
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;
/// Everything before the last `/` of a path; empty if there is none.
[[nodiscard]] std::string_view parent_of(std::string_view path) noexcept;
/// A name without its last dot and everything after it. Unchanged if the name begins with its only dot.
[[nodiscard]] std::string_view stem_of(std::string_view name) noexcept;

/// A path for display, in valid UTF-8 and normal form C. Converts names in Shift_JIS and other encodings if possible.
[[nodiscard]] std::string display_path(std::string_view path);

/// The form of the content that a URI requests.
enum class output_format : std::uint8_t {
  default_format,  ///< A document as text, a folder as the URIs of its children, the set as its outline.
  outline,         ///< `format=outline`: the headings of a document, or the tree of documents of a folder or set.
  json,            ///< `format=json`: the same as JSON.
  original,        ///< `format=original`: the original file of a document.
};

/// A parsed URI of a set.
struct address {
  bool is_set = false;  ///< `docs://SET/`, the tree of all documents.
  /// Percent-decoded. Empty with `is_set`, and for `docs://SET`, the set as a folder.
  std::string path{};
  /// Whether the path is percent-encoded as in lists. False for "(" instead of "%28", for example. Access rules match the
  /// listed spelling only.
  bool is_listed_form = true;
  output_format format = output_format::default_format;
  std::optional<std::string> section{};  ///< The heading or id, percent-decoded.
  /// The first and the last page, counted from 1. For "3-", the last is the largest number.
  std::optional<std::pair<std::size_t, std::size_t>> pages{};

  /// Whether it has a parameter: names a section, pages, or a form other than the default.
  [[nodiscard]] bool is_part() const noexcept { return section || pages || format != output_format::default_format; }
};

/// Parses a canonical URI. Does not check whether the document exists. Errors: resource_not_found if it cannot be a URI of the
/// set; invalid_argument for unknown, malformed or conflicting parameters.
[[nodiscard]] result<address> parse_address(std::string_view set, std::string_view uri);

}  // namespace hondana::docs
