/// Renders Word documents.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "text/rendering/office/office.hpp"
#include "text/rendering/office/xml_parser.hpp"

namespace hondana::rendering {

/// styles.xml.
class word_styles final : public events {
 public:
  explicit word_styles(findings_of_office& found) noexcept : found_(found) {}
  void begin(const element& what, const attributes& with) override;
  void end(const element& what) override;
  void text(std::string_view) override {}

  /// The level of headings in that style, from 1; nothing when they are none.
  [[nodiscard]] std::optional<std::size_t> level_of(std::string_view style) const;
  /// The numbering of that style, or "".
  [[nodiscard]] std::string numbering_of(std::string_view style) const;

 private:
  struct style {
    std::string base;
    std::string numbering;
    std::optional<std::size_t> level;  ///< 0: body text.
  };
  findings_of_office& found_;
  std::map<std::string, style, std::less<>> all_;
  style* now_ = nullptr;
};

/// numbering.xml.
class word_numberings final : public events {
 public:
  void begin(const element& what, const attributes& with) override;
  void end(const element& what) override;
  void text(std::string_view) override {}
  /// Whether that level of that numbering counts; false: it has bullets.
  [[nodiscard]] bool counts(std::string_view numbering, std::size_t level) const;

 private:
  std::map<std::string, std::string, std::less<>> abstract_of_;
  std::map<std::pair<std::string, std::size_t>, bool> counting_;
  std::string abstract_;
  std::string number_;
  std::size_t level_ = 0;
};

/// The level that a style's name says ("heading 2", "見出し 2"): 1 for a title; nothing when it says none.
[[nodiscard]] std::optional<std::size_t> heading_level_in(std::string_view style_name);

}  // namespace hondana::rendering
