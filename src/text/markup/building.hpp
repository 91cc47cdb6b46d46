/// Makes an outline of pieces: unique ids, and where sections end.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "text/markup/pieces.hpp"

namespace hondana::markup {

/// As GitHub makes it: letters in lower case, digits, marks, `_` and `-` stay, spaces become `-`, all else goes.
/// "section" where nothing is left.
[[nodiscard]] std::string id_of(std::string_view heading);

class outline_builder final : public hearer {
 public:
  bool take(piece one) override;
  void refer(link one) override;
  [[nodiscard]] bool wants_links() const noexcept override { return true; }
  /// Of a text of so many bytes and lines.
  [[nodiscard]] outline finish(std::size_t bytes, std::size_t lines);

 private:
  std::string unique(std::string id);

  outline made_{};
  bool has_front_title_ = false;
  std::unordered_map<std::string, std::size_t> seen_{};
};

}  // namespace hondana::markup
