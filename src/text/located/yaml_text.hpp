/// Where things end in a text of YAML that was parsed already.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::located {

/// Behind white space, ends of lines and comments.
[[nodiscard]] std::size_t skip_yaml_space(std::string_view text, std::size_t at) noexcept;

/// Behind tags and anchors from `at` on, with what stands between them and the value.
[[nodiscard]] std::size_t skip_yaml_properties(std::string_view text, std::size_t at) noexcept;

/// The end of the scalar that begins at `at` and says `meant`.
[[nodiscard]] std::size_t end_of_yaml_scalar(std::string_view text, std::size_t at, std::string_view meant) noexcept;

/// The end of the alias at `at`.
[[nodiscard]] std::size_t end_of_yaml_alias(std::string_view text, std::size_t at) noexcept;

/// A scalar as UTF-8: yaml-cpp writes `\N` and `\_` in quotes as one byte each.
[[nodiscard]] std::string as_utf8(std::string_view scalar);

/// The library holds all of a line that may be a key, which one that begins with a bracket may. So texts are looked at before:
/// where one has opened this many brackets more than it has closed, and where a line has this many brackets and commas; the end
/// of the text when there is none.
[[nodiscard]] std::size_t first_nested_by(std::string_view text, std::size_t brackets) noexcept;
[[nodiscard]] std::size_t first_line_with_marks(std::string_view text, std::size_t marks) noexcept;

}  // namespace hondana::located
