/// What the styles of an OpenDocument file say: languages, lists that count, tables that are hidden.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "text/rendering/office/markup.hpp"
#include "text/rendering/office/office.hpp"

namespace hondana::rendering {

/// Takes the elements of styles, of styles.xml and of content.xml.
class open_styles {
 public:
  explicit open_styles(findings_of_office& found) noexcept : found_(found) {}
  void begin(const element& what, const attributes& with);

  [[nodiscard]] bool counts(std::string_view list_style) const { return counting_.contains(list_style); }
  [[nodiscard]] bool is_hidden(std::string_view table_style) const { return hidden_.contains(table_style); }

 private:
  findings_of_office& found_;
  std::set<std::string, std::less<>> counting_;
  std::set<std::string, std::less<>> hidden_;
  std::string style_;
  std::string list_;
};

}  // namespace hondana::rendering
