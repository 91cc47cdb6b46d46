/// Renders OpenDocument texts, sheets and slides.

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/rendering/office/office.hpp"
#include "text/rendering/office/text_output.hpp"
#include "text/rendering/office/xml_parser.hpp"

namespace hondana::rendering {

/// Reads styles from styles.xml and content.xml.
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

namespace {

/// A BCP 47 tag from a language and a country: "ja", "JP" → "ja-JP".
std::string language_tag(const std::string& language, const std::string& country) {
  if (language.empty() || language == "none" || language == "zxx") return {};
  return country.empty() || country == "none" ? language : language + '-' + country;
}

}  // namespace

void open_styles::begin(const element& what, const attributes& with) {
  if (what.is(space::style, "style") || what.is(space::style, "default-style")) {
    style_ = with.text(space::style, "name");
  } else if (what.is(space::style, "table-properties")) {
    if (with.text(space::table, "display") == "false") hidden_.insert(style_);
  } else if (what.is(space::style, "text-properties")) {
    // The first style with a language is the default style.
    if (found_.western_language.empty())
      found_.western_language = language_tag(with.text(space::format, "language"), with.text(space::format, "country"));
    if (found_.eastern_language.empty())
      found_.eastern_language =
          language_tag(with.text(space::style, "language-asian"), with.text(space::style, "country-asian"));
  } else if (what.is(space::text, "list-style")) {
    list_ = with.text(space::style, "name");
  } else if (what.is(space::text, "list-level-style-number")) {
    if (with.text(space::text, "level") == "1") counting_.insert(list_);
  }
}

/// Reads texts, sheets and slides; each format has elements that the others lack.
class open_content final : public events {
 public:
  open_content(format what, open_styles& styles, text_output& to, findings_of_office& found)
      : what_(what), styles_(styles), to_(to), found_(found), notes_(to.room()) {}

  /// Whether the body has the expected format.
  [[nodiscard]] bool has_body() const noexcept { return has_body_; }
  /// Footnotes, to be appended at the end.
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
  /// A row or cell that is repeated.
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
  std::string cell_;        // formatted text of the cell
  std::string cell_value_;  // a date or boolean as text; empty for other types
  std::string value_;       // the number without its format
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

namespace {

constexpr std::size_t longest_text = 16u << 20;
constexpr std::size_t most_repeated_spaces = 1000;

/// Whether readers do not see the element: deleted text, comments, furigana, and numbers that notes and lists have anyway.
bool is_left_out(const element& what) {
  return what.is(space::text, "tracked-changes") || what.is(space::office, "annotation") || what.is(space::text, "ruby-text") ||
         what.is(space::text, "note-citation") || what.is(space::office, "forms") || what.is(space::table, "tracked-changes") ||
         what.is(space::table, "shapes") || what.is(space::text, "page-number") || what.is(space::office, "event-listeners");
}

std::string_view body_of(format what) {
  return what == format::ods ? "spreadsheet" : what == format::odp ? "presentation" : "text";
}

}  // namespace

void open_content::begin(const element& what, const attributes& with) {
  if (passed_over_ > 0 || is_left_out(what)) {
    ++passed_over_;
  } else if (!in_body_) {
    styles_.begin(what, with);
    in_body_ = what.is(space::office, "body");
  } else if (what.in == space::office) {
    has_body_ = has_body_ || what.name == body_of(what_);
  } else if (what.in == space::text) {
    begin_text(what.name, with);
  } else if (what.in == space::table) {
    begin_table(what.name, with);
  } else if (what.is(space::draw, "page")) {
    begin_slide(with);
  } else if (what.is(space::draw, "frame")) {
    const auto kind = with.text(space::presentation, "class");
    in_title_ = kind == "title";
  } else if (what.is(space::presentation, "notes")) {
    in_slide_notes_ = true;
  }
}

void open_content::end(const element& what) {
  if (passed_over_ > 0) {
    --passed_over_;
  } else if (!in_body_) {
    return;
  } else if (what.is(space::office, "body")) {
    in_body_ = false;
  } else if (what.in == space::text) {
    end_text(what.name);
  } else if (what.in == space::table) {
    end_table(what.name);
  } else if (what.is(space::draw, "page")) {
    end_slide();
  } else if (what.is(space::draw, "frame")) {
    in_title_ = false;
  } else if (what.is(space::presentation, "notes")) {
    in_slide_notes_ = false;
  }
}

void open_content::text(std::string_view piece) {
  if (passed_over_ > 0 || open_.empty()) return;
  // A run of white space counts once, as in HTML. White space to keep has elements of its own.
  auto& into = open_.back().text;
  if (into.size() > longest_text) {
    found_.is_cut = true;
    return;
  }
  for (const char c : piece) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      into += c;
    } else if (!into.empty() && !into.ends_with(' ') && !into.ends_with('\n')) {
      into += ' ';
    }
  }
}

void open_content::add(std::string_view text) {
  if (open_.empty()) return;
  if (open_.back().text.size() < longest_text) {
    open_.back().text += text;
  } else {
    found_.is_cut = true;
  }
}

void open_content::begin_text(std::string_view name, const attributes& with) {
  if (name == "p") {
    open_.emplace_back();
  } else if (name == "h") {
    open_.push_back({{}, with.number(space::text, "outline-level").value_or(1)});
  } else if (name == "s") {
    add(std::string(std::clamp<std::size_t>(with.number(space::text, "c").value_or(1), 1, most_repeated_spaces), ' '));
  } else if (name == "tab") {
    add("\t");
  } else if (name == "line-break") {
    add("\n");
  } else if (name == "list") {
    const auto style = with.find(space::text, "style-name");
    const bool counts = style ? styles_.counts(*style) : !lists_.empty() && lists_.back().counts;
    lists_.push_back({counts, false});
  } else if (name == "list-item") {
    if (!lists_.empty()) lists_.back().begins_item = true;
  } else if (name == "note") {
    const auto id = with.text(space::text, "id");
    add("[^" + id + ']');
    note_ = "[^" + id + "]:";
  } else if (name == "note-body") {
    in_note_ = true;
  }
}

void open_content::end_text(std::string_view name) {
  if (name == "p" || name == "h") {
    end_paragraph();
  } else if (name == "list") {
    if (!lists_.empty()) lists_.pop_back();
  } else if (name == "note-body") {
    in_note_ = false;
    notes_.paragraph(note_);
  }
}

void open_content::end_paragraph() {
  if (open_.empty()) return;
  const auto done = std::move(open_.back());
  open_.pop_back();
  const auto shown = trimmed(done.text);
  if (shown.empty()) return;
  if (in_note_) {
    note_.append(" ").append(shown);
  } else if (in_slide_notes_) {
    slide_notes_.append(slide_notes_.empty() ? "" : "\n\n").append(shown);
  } else if (in_title_) {
    slide_title_.append(slide_title_.empty() ? "" : " ").append(on_one_line(shown));
  } else if (is_of_sheets()) {
    cell_.append(cell_.empty() ? "" : " ").append(shown);
  } else if (tables_.are_open()) {
    tables_.add(shown);
  } else {
    auto& to = what_ == format::odp ? slide_ : to_;
    if (done.heading > 0) return to.heading(done.heading, shown);
    if (lists_.empty() || !lists_.back().begins_item) return to.paragraph(shown);
    lists_.back().begins_item = false;
    to.item(lists_.size() - 1, lists_.back().counts, shown);
  }
}

namespace {

constexpr std::size_t most_rows_of_sheet = 100'000;
constexpr std::size_t most_columns_of_sheet = 256;
constexpr std::size_t most_pages = 5'000;

/// "2024-04-01T12:30:00" → "2024-04-01 12:30:00"
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
  // Prefer a date or boolean, then the formatted text, then the number.
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

namespace {

class styles_part final : public events {
 public:
  explicit styles_part(open_styles& into) noexcept : into_(into) {}
  void begin(const element& what, const attributes& with) override { into_.begin(what, with); }
  void end(const element&) override {}
  void text(std::string_view) override {}

 private:
  open_styles& into_;
};

}  // namespace

result<void> render_open_document(format what, package& from, text_output& to, findings_of_office& found) {
  open_styles styles(found);
  styles_part first(styles);
  auto read = from.read([&](const std::string& name) -> events* { return name == "styles.xml" ? &first : nullptr; });
  if (!read) return read;
  open_content content(what, styles, to, found);
  read = from.read([&](const std::string& name) -> events* { return name == "content.xml" ? &content : nullptr; });
  if (!read) return read;
  if (!content.has_body())
    return fail(errc::invalid_argument, "the file does not contain OpenDocument content of that kind; check its format");
  to.blocks(content.notes().so_far());
  found.is_cut = found.is_cut || content.notes().is_cut();
  return {};
}

}  // namespace hondana::rendering
