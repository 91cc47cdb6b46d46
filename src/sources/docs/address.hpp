/// What a docs:// URI asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/error.hpp>

namespace hondana::docs {

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
