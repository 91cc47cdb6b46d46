/// Text from elsewhere on its way to a terminal, in pieces.
#pragma once

#include <string>
#include <string_view>

namespace hondana::cli {

/// Makes what passes visible (`visible`), but lets tabs and line ends through; characters may lie across two pieces.
class text_filter {
 public:
  /// What of the piece can be shown already.
  [[nodiscard]] std::string pass(std::string_view piece);
  /// What was held back, at the end.
  [[nodiscard]] std::string rest();

 private:
  std::string held_;  // the beginning of a character
};

/// Whether bytes are text as far as they show: no NUL and well-formed UTF-8, but for a last character that is cut.
[[nodiscard]] bool looks_like_text(std::string_view beginning);

}  // namespace hondana::cli
