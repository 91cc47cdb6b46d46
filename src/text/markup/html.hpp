/// Reads HTML as text, with its tags, entities and outline.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/markup/pieces.hpp"

namespace hondana::markup {

/// Appends what the entity at `at`, where a `&` stands, means. Returns its bytes; 0: it is none, and stays as it is.
std::size_t decode_entity(std::string_view text, std::size_t at, std::string& out);

[[nodiscard]] std::string decoded(std::string_view text);

struct tag {
  std::string name{};  ///< In lower case.
  bool is_end = false;
  bool is_self_closed = false;
  std::size_t end = 0;  ///< Behind its `>`.
  /// Names in lower case, values decoded; at most 64, beyond which they are passed over.
  std::vector<std::pair<std::string, std::string>> attributes{};

  /// Nothing: there is none of that name.
  [[nodiscard]] const std::string* find(std::string_view attribute) const noexcept;
};

/// Reads the tag at `at`, where a `<` stands. False: there is none, or it does not end within 64 KiB.
[[nodiscard]] bool read_tag(std::string_view text, std::size_t at, tag& into);

/// Prose without its tags and comments, entities as they stand.
[[nodiscard]] std::string without_tags(std::string_view text);

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
