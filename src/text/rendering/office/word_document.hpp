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

/// Reads styles.xml, and the languages of the document into `findings`.
class word_styles final : public xml_handler {
 public:
  explicit word_styles(office_findings& findings) noexcept : findings_(findings) {}
  void begin(const element& element, const attributes& attributes) override;
  void end(const element& element) override;
  void text(std::string_view) override {}

  /// Returns the heading level of a style, from 1; no value if it is not a heading style. `style`: its id.
  [[nodiscard]] std::optional<std::size_t> level_of(std::string_view style) const;
  /// Returns the id of the style's numbering; "" if it has none.
  [[nodiscard]] std::string numbering_of(std::string_view style) const;

 private:
  struct style {
    std::string base;
    std::string numbering;
    std::optional<std::size_t> level;  ///< 0: body text.
  };
  office_findings& findings_;
  std::map<std::string, style, std::less<>> styles_;
  style* current_ = nullptr;
};

/// Reads numbering.xml.
class word_numberings final : public xml_handler {
 public:
  void begin(const element& element, const attributes& attributes) override;
  void end(const element& element) override;
  void text(std::string_view) override {}
  /// Whether this level, from 0, of a numbering has numbers; false: bullets. `numbering`: its id.
  [[nodiscard]] bool is_numbered(std::string_view numbering, std::size_t level) const;

 private:
  std::map<std::string, std::string, std::less<>> abstract_ids_;
  std::map<std::pair<std::string, std::size_t>, bool> numbered_levels_;
  std::string abstract_;
  std::string number_;
  std::size_t level_ = 0;
};

/// Returns the heading level from a style's name ("heading 2", "見出し 2"); 1 for a title; no value if it is not a heading
/// style.
[[nodiscard]] std::optional<std::size_t> parse_heading_level(std::string_view style_name);

}  // namespace hondana::rendering
