/// HTML as text, with all that its two readers want to know of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/markup/pieces.hpp"

namespace hondana::markup {

struct html_text {
  std::string text{};
  /// Of `text`. The first line of a table is its header.
  std::vector<piece> pieces{};
  /// For each line of `text` where it begins and ends in the source; both never go back.
  std::vector<std::size_t> first_source_lines{};
  std::vector<std::size_t> last_source_lines{};
  outline of_text{};
  outline of_source{};
  std::string language{};
};

[[nodiscard]] html_text read_html(std::string_view html);
[[nodiscard]] outline outline_of_html(std::string_view html);

}  // namespace hondana::markup
