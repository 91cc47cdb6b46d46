/// The first line of what a child writes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "text/rendering/rendering.hpp"

namespace hondana::rendering {

inline constexpr std::size_t longest_head = 64u << 10;

/// What a child says before the text.
struct child_head {
  document facts{};        ///< Without its text.
  std::size_t beside = 0;  ///< How many of the last bytes behind the head are `document::beside`; of who reads it.
  std::string lacks;       ///< What of the confinement cannot be had; empty: nothing.
};

/// Each with its newline.
[[nodiscard]] std::string line_of(const child_head& of);
[[nodiscard]] std::string line_of(const failure& why, std::string_view lacks);
/// The other way round, without the newline; `lacks` is set also beside an error. Errors: the one that the line says;
/// source_unavailable: the line is none of these.
[[nodiscard]] result<child_head> head_in(std::string_view line, std::string& lacks);

}  // namespace hondana::rendering
