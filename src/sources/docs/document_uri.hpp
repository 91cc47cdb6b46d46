/// URIs and paths of documents, parsed and built.
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

/// `docs://SET`, what all URIs of a set begin with.
[[nodiscard]] std::string claim_of(std::string_view set);
/// Of a document or a folder; canonical. `path`: decoded, with `/` between names.
[[nodiscard]] std::string uri_of(std::string_view set, std::string_view path);
/// Of the list of all documents of a set.
[[nodiscard]] std::string uri_of_outline(std::string_view set);

/// The last name of a path, and everything before its last `/` (empty when there is none).
[[nodiscard]] std::string_view last_name(std::string_view path) noexcept;
[[nodiscard]] std::string_view parent_of(std::string_view path) noexcept;
/// A name without what follows its last dot.
[[nodiscard]] std::string_view stem_of(std::string_view name) noexcept;

/// A path as people read it: UTF-8 in NFC, whatever its bytes are.
[[nodiscard]] std::string readable(std::string_view path);

/// In which form.
enum class form : std::uint8_t {
  usual,     ///< A document as text, a folder as the URIs in it, the set as its outline.
  outline,   ///< `format=outline`
  json,      ///< `format=json`
  original,  ///< `format=original`
};

struct address {
  bool is_set = false;  ///< `docs://SET/`, the outline of the set.
  /// Decoded; empty with `is_set`, and for `docs://SET`, the set as a folder.
  std::string path{};
  /// False: the path is written otherwise than lists write it, such as with "(" for "%28". Rules know the listed form alone.
  bool is_as_listed = true;
  form how = form::usual;
  std::optional<std::string> section{};  ///< As written, decoded.
  /// From 1, both included; the second is the largest number for "3-".
  std::optional<std::pair<std::size_t, std::size_t>> pages{};

  /// It is no whole document, folder or set.
  [[nodiscard]] bool is_part() const noexcept { return section || pages || how != form::usual; }
};

/// Takes a canonical URI apart. Errors: resource_not_found for what can be no document of the set; invalid_argument for
/// parameters that there are not, or that do not go together.
[[nodiscard]] result<address> address_of(std::string_view set, std::string_view uri);

}  // namespace hondana::docs
