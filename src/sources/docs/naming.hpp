/// Names of documents: as URIs, and taken apart.
#pragma once

#include <string>
#include <string_view>

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

}  // namespace hondana::docs
