/// content.xml of an OpenDocument file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/rendering/office/markup.hpp"
#include "text/rendering/office/office.hpp"
#include "text/rendering/office/open_styles.hpp"
#include "text/rendering/office/tables.hpp"
#include "text/rendering/office/text_output.hpp"

namespace hondana::rendering {

/// Texts, sheets and slides alike: each has elements that the others have not.
class open_content final : public events {
 public:
  open_content(format what, open_styles& styles, text_output& to, findings_of_office& found)
      : what_(what), styles_(styles), to_(to), found_(found), notes_(to.room()) {}

  /// Whether the body is one of that format.
  [[nodiscard]] bool has_body() const noexcept { return has_body_; }
  /// Footnotes, to stand at the end.
  [[nodiscard]] const text_output& notes() const noexcept { return notes_; }

  void begin(const element& what, const attributes& with) override;
  void end(const element& what) override;
  void text(std::string_view piece) override;
  [[nodiscard]] bool has_enough() const override { return to_.is_full(); }

 private:
  struct paragraph {
    std::string text{};
    std::size_t heading = 0;
  };
  struct list {
    bool counts = false;
    bool begins_item = false;
  };
  /// A row or cell that stands for several alike.
  struct sheet_row {
    std::vector<std::string> cells{};
    std::size_t repeated = 1;
  };

  void begin_text(std::string_view name, const attributes& with);
  void end_text(std::string_view name);
  void begin_table(std::string_view name, const attributes& with);
  void end_table(std::string_view name);
  void end_paragraph();
  void add(std::string_view text);
  void begin_sheet(const attributes& with);
  void begin_cell(const attributes& with);
  void end_cell();
  void end_row();
  void begin_slide(const attributes& with);
  void end_slide();
  [[nodiscard]] bool is_of_sheets() const noexcept { return what_ == format::ods; }

  const format what_;
  open_styles& styles_;
  text_output& to_;
  findings_of_office& found_;
  text_output notes_;

  std::vector<paragraph> open_;
  std::vector<list> lists_;
  tables tables_;
  std::string note_;
  bool in_note_ = false;

  sheet_row row_;
  std::string cell_;        // as it is shown,
  std::string cell_value_;  // or what it is, where that says more,
  std::string value_;       // and the bare number
  std::size_t span_ = 1;
  std::size_t rows_ = 0;

  std::string slide_title_;
  std::string slide_name_;
  std::string slide_notes_;
  text_output slide_{0};
  bool in_title_ = false;
  bool in_slide_notes_ = false;

  std::size_t passed_over_ = 0;
  bool in_body_ = false;
  bool has_body_ = false;
};

}  // namespace hondana::rendering
