/// Tables, sheets and slides of OpenDocument.
#include <algorithm>
#include <utility>

#include "text/rendering/office/open_content.hpp"

namespace hondana::rendering {
namespace {

constexpr std::size_t most_rows_of_sheet = 100'000;
constexpr std::size_t most_columns_of_sheet = 256;
constexpr std::size_t most_pages = 5'000;

/// "2024-04-01T12:30:00": "2024-04-01 12:30:00".
std::string date_as_shown(std::string date) {
  std::replace(date.begin(), date.end(), 'T', ' ');
  return date;
}

}  // namespace

void open_content::begin_table(std::string_view name, const attributes& with) {
  if (name == "table") {
    if (is_of_sheets()) {
      begin_sheet(with);
    } else {
      tables_.begin();
    }
  } else if (name == "table-row") {
    row_ = {};
    row_.repeated = std::max<std::size_t>(with.number(space::table, "number-rows-repeated").value_or(1), 1);
    tables_.begin_row();
  } else if (name == "table-cell" || name == "covered-table-cell") {
    begin_cell(with);
  }
}

void open_content::end_table(std::string_view name) {
  if (name == "table-cell" || name == "covered-table-cell") {
    end_cell();
  } else if (name == "table-row") {
    end_row();
  } else if (name == "table") {
    tables_.end();
  }
}

void open_content::begin_sheet(const attributes& with) {
  if (styles_.is_hidden(with.text(space::table, "style-name"))) {
    passed_over_ = 1;
    return;
  }
  to_.heading(2, with.text(space::table, "name"));
  rows_ = 0;
}

void open_content::begin_cell(const attributes& with) {
  span_ = std::max<std::size_t>(with.number(space::table, "number-columns-repeated").value_or(1), 1);
  cell_.clear();
  const auto type = with.text(space::office, "value-type");
  cell_value_ = type == "date"      ? date_as_shown(with.text(space::office, "date-value"))
                : type == "boolean" ? (with.text(space::office, "boolean-value") == "true" ? "TRUE" : "FALSE")
                                    : std::string();
  value_ = type == "float" || type == "currency" || type == "percentage" ? with.text(space::office, "value") : std::string();
  tables_.begin_cell();
}

void open_content::end_cell() {
  if (!is_of_sheets()) return tables_.end_cell(span_);
  // As readers see it, if that is written.
  const auto& shown = !cell_value_.empty() ? cell_value_ : cell_.empty() ? value_ : cell_;
  auto& cells = row_.cells;
  const auto wanted = std::min(most_columns_of_sheet, cells.size() + span_);
  if (wanted < cells.size() + span_ && !shown.empty()) found_.is_cut = true;
  cells.resize(wanted, shown);
  span_ = 1;
}

void open_content::end_row() {
  if (!is_of_sheets()) return tables_.end_row(what_ == format::odp ? slide_ : to_);
  auto& cells = row_.cells;
  while (!cells.empty() && cells.back().empty()) cells.pop_back();
  if (cells.empty()) return;
  for (std::size_t i = 0; i < row_.repeated && !to_.is_full(); ++i) {
    if (rows_ == most_rows_of_sheet) {
      found_.is_cut = true;
      return;
    }
    to_.row(cells, rows_++ == 0);
  }
}

void open_content::begin_slide(const attributes& with) {
  slide_name_ = with.text(space::draw, "name");
  slide_title_.clear();
  slide_notes_.clear();
  slide_.reset(to_.room());
  if (++found_.pages > most_pages) to_.cut();
}

void open_content::end_slide() {
  const auto number = "Slide " + std::to_string(found_.pages);
  to_.heading(2, !slide_title_.empty() ? slide_title_ : slide_name_.empty() ? number : slide_name_);
  to_.blocks(slide_.so_far());
  if (slide_.is_cut()) found_.is_cut = true;
  if (!slide_notes_.empty()) {
    to_.paragraph("Notes:");
    to_.paragraph(slide_notes_);
  }
  to_.page_end();
}

}  // namespace hondana::rendering
