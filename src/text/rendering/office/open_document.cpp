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
class odf_styles {
 public:
  explicit odf_styles(office_findings& findings) noexcept : findings_(findings) {}
  void begin(const element& element, const attributes& attributes);

  [[nodiscard]] bool is_numbered(std::string_view list_style) const { return numbered_lists_.contains(list_style); }
  [[nodiscard]] bool is_hidden(std::string_view table_style) const { return hidden_tables_.contains(table_style); }

 private:
  office_findings& findings_;
  std::set<std::string, std::less<>> numbered_lists_;
  std::set<std::string, std::less<>> hidden_tables_;
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

void odf_styles::begin(const element& element, const attributes& attributes) {
  if (element.matches(xml_ns::style, "style") || element.matches(xml_ns::style, "default-style")) {
    style_ = attributes.text(xml_ns::style, "name");
  } else if (element.matches(xml_ns::style, "table-properties")) {
    if (attributes.text(xml_ns::table, "display") == "false") hidden_tables_.insert(style_);
  } else if (element.matches(xml_ns::style, "text-properties")) {
    // The first style with a language is the default style.
    if (findings_.western_language.empty())
      findings_.western_language =
          language_tag(attributes.text(xml_ns::format, "language"), attributes.text(xml_ns::format, "country"));
    if (findings_.eastern_language.empty())
      findings_.eastern_language =
          language_tag(attributes.text(xml_ns::style, "language-asian"), attributes.text(xml_ns::style, "country-asian"));
  } else if (element.matches(xml_ns::text, "list-style")) {
    list_ = attributes.text(xml_ns::style, "name");
  } else if (element.matches(xml_ns::text, "list-level-style-number")) {
    if (attributes.text(xml_ns::text, "level") == "1") numbered_lists_.insert(list_);
  }
}

/// Reads texts, sheets and slides; each format has elements that the others lack.
class odf_content_handler final : public xml_handler {
 public:
  odf_content_handler(format document_format, odf_styles& styles, text_output& out, office_findings& findings)
      : format_(document_format), styles_(styles), out_(out), findings_(findings), notes_(out.max_bytes()) {}

  /// Whether the body has the expected format.
  [[nodiscard]] bool has_body() const noexcept { return has_body_; }
  /// Footnotes, to be appended at the end.
  [[nodiscard]] const text_output& notes() const noexcept { return notes_; }

  void begin(const element& element, const attributes& attributes) override;
  void end(const element& element) override;
  void text(std::string_view piece) override;
  [[nodiscard]] bool has_enough() const override { return out_.is_full(); }

 private:
  struct paragraph {
    std::string text{};
    std::size_t heading = 0;
  };
  struct list {
    bool is_numbered = false;
    bool starts_item = false;
  };
  /// A row or cell that is repeated.
  struct sheet_row {
    std::vector<std::string> cells{};
    std::size_t repeated = 1;
  };

  void begin_text(std::string_view name, const attributes& attributes);
  void end_text(std::string_view name);
  void begin_table(std::string_view name, const attributes& attributes);
  void end_table(std::string_view name);
  void end_paragraph();
  void add(std::string_view text);
  void begin_sheet(const attributes& attributes);
  void begin_cell(const attributes& attributes);
  void end_cell();
  void end_row();
  void begin_slide(const attributes& attributes);
  void end_slide();
  [[nodiscard]] bool is_spreadsheet() const noexcept { return format_ == format::ods; }

  const format format_;
  odf_styles& styles_;
  text_output& out_;
  office_findings& findings_;
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

  std::size_t skip_depth_ = 0;
  bool in_body_ = false;
  bool has_body_ = false;
};

namespace {

constexpr std::size_t max_text_bytes = 16u << 20;
constexpr std::size_t max_repeated_spaces = 1000;

/// Whether readers do not see the element: deleted text, comments, furigana, and numbers that notes and lists have anyway.
bool is_unrendered(const element& element) {
  return element.matches(xml_ns::text, "tracked-changes") || element.matches(xml_ns::office, "annotation") ||
         element.matches(xml_ns::text, "ruby-text") || element.matches(xml_ns::text, "note-citation") ||
         element.matches(xml_ns::office, "forms") || element.matches(xml_ns::table, "tracked-changes") ||
         element.matches(xml_ns::table, "shapes") || element.matches(xml_ns::text, "page-number") ||
         element.matches(xml_ns::office, "event-listeners");
}

std::string_view body_element(format document_format) {
  return document_format == format::ods ? "spreadsheet" : document_format == format::odp ? "presentation" : "text";
}

}  // namespace

void odf_content_handler::begin(const element& element, const attributes& attributes) {
  if (skip_depth_ > 0 || is_unrendered(element)) {
    ++skip_depth_;
  } else if (!in_body_) {
    styles_.begin(element, attributes);
    in_body_ = element.matches(xml_ns::office, "body");
  } else if (element.ns == xml_ns::office) {
    has_body_ = has_body_ || element.name == body_element(format_);
  } else if (element.ns == xml_ns::text) {
    begin_text(element.name, attributes);
  } else if (element.ns == xml_ns::table) {
    begin_table(element.name, attributes);
  } else if (element.matches(xml_ns::draw, "page")) {
    begin_slide(attributes);
  } else if (element.matches(xml_ns::draw, "frame")) {
    const auto kind = attributes.text(xml_ns::presentation, "class");
    in_title_ = kind == "title";
  } else if (element.matches(xml_ns::presentation, "notes")) {
    in_slide_notes_ = true;
  }
}

void odf_content_handler::end(const element& element) {
  if (skip_depth_ > 0) {
    --skip_depth_;
  } else if (!in_body_) {
    return;
  } else if (element.matches(xml_ns::office, "body")) {
    in_body_ = false;
  } else if (element.ns == xml_ns::text) {
    end_text(element.name);
  } else if (element.ns == xml_ns::table) {
    end_table(element.name);
  } else if (element.matches(xml_ns::draw, "page")) {
    end_slide();
  } else if (element.matches(xml_ns::draw, "frame")) {
    in_title_ = false;
  } else if (element.matches(xml_ns::presentation, "notes")) {
    in_slide_notes_ = false;
  }
}

void odf_content_handler::text(std::string_view piece) {
  if (skip_depth_ > 0 || open_.empty()) return;
  // A run of white space counts once, as in HTML. White space to keep has elements of its own.
  auto& target = open_.back().text;
  if (target.size() > max_text_bytes) {
    findings_.is_truncated = true;
    return;
  }
  for (const char c : piece) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      target += c;
    } else if (!target.empty() && !target.ends_with(' ') && !target.ends_with('\n')) {
      target += ' ';
    }
  }
}

void odf_content_handler::add(std::string_view text) {
  if (open_.empty()) return;
  if (open_.back().text.size() < max_text_bytes) {
    open_.back().text += text;
  } else {
    findings_.is_truncated = true;
  }
}

void odf_content_handler::begin_text(std::string_view name, const attributes& attributes) {
  if (name == "p") {
    open_.emplace_back();
  } else if (name == "h") {
    open_.push_back({{}, attributes.number(xml_ns::text, "outline-level").value_or(1)});
  } else if (name == "s") {
    add(std::string(std::clamp<std::size_t>(attributes.number(xml_ns::text, "c").value_or(1), 1, max_repeated_spaces), ' '));
  } else if (name == "tab") {
    add("\t");
  } else if (name == "line-break") {
    add("\n");
  } else if (name == "list") {
    const auto style = attributes.find(xml_ns::text, "style-name");
    const bool is_numbered = style ? styles_.is_numbered(*style) : !lists_.empty() && lists_.back().is_numbered;
    lists_.push_back({is_numbered, false});
  } else if (name == "list-item") {
    if (!lists_.empty()) lists_.back().starts_item = true;
  } else if (name == "note") {
    const auto id = attributes.text(xml_ns::text, "id");
    add("[^" + id + ']');
    note_ = "[^" + id + "]:";
  } else if (name == "note-body") {
    in_note_ = true;
  }
}

void odf_content_handler::end_text(std::string_view name) {
  if (name == "p" || name == "h") {
    end_paragraph();
  } else if (name == "list") {
    if (!lists_.empty()) lists_.pop_back();
  } else if (name == "note-body") {
    in_note_ = false;
    notes_.paragraph(note_);
  }
}

void odf_content_handler::end_paragraph() {
  if (open_.empty()) return;
  const auto finished = std::move(open_.back());
  open_.pop_back();
  const auto visible_text = trim(finished.text);
  if (visible_text.empty()) return;
  if (in_note_) {
    note_.append(" ").append(visible_text);
  } else if (in_slide_notes_) {
    slide_notes_.append(slide_notes_.empty() ? "" : "\n\n").append(visible_text);
  } else if (in_title_) {
    slide_title_.append(slide_title_.empty() ? "" : " ").append(to_single_line(visible_text));
  } else if (is_spreadsheet()) {
    cell_.append(cell_.empty() ? "" : " ").append(visible_text);
  } else if (tables_.is_open()) {
    tables_.add(visible_text);
  } else {
    auto& out = format_ == format::odp ? slide_ : out_;
    if (finished.heading > 0) return out.heading(finished.heading, visible_text);
    if (lists_.empty() || !lists_.back().starts_item) return out.paragraph(visible_text);
    lists_.back().starts_item = false;
    out.item(lists_.size() - 1, lists_.back().is_numbered, visible_text);
  }
}

namespace {

constexpr std::size_t max_sheet_rows = 100'000;
constexpr std::size_t max_sheet_columns = 256;
constexpr std::size_t max_pages = 5'000;

/// "2024-04-01T12:30:00" → "2024-04-01 12:30:00"
std::string display_date(std::string date) {
  std::replace(date.begin(), date.end(), 'T', ' ');
  return date;
}

}  // namespace

void odf_content_handler::begin_table(std::string_view name, const attributes& attributes) {
  if (name == "table") {
    if (is_spreadsheet()) {
      begin_sheet(attributes);
    } else {
      tables_.begin();
    }
  } else if (name == "table-row") {
    row_ = {};
    row_.repeated = std::max<std::size_t>(attributes.number(xml_ns::table, "number-rows-repeated").value_or(1), 1);
    tables_.begin_row();
  } else if (name == "table-cell" || name == "covered-table-cell") {
    begin_cell(attributes);
  }
}

void odf_content_handler::end_table(std::string_view name) {
  if (name == "table-cell" || name == "covered-table-cell") {
    end_cell();
  } else if (name == "table-row") {
    end_row();
  } else if (name == "table") {
    tables_.end();
  }
}

void odf_content_handler::begin_sheet(const attributes& attributes) {
  if (styles_.is_hidden(attributes.text(xml_ns::table, "style-name"))) {
    skip_depth_ = 1;
    return;
  }
  out_.heading(2, attributes.text(xml_ns::table, "name"));
  rows_ = 0;
}

void odf_content_handler::begin_cell(const attributes& attributes) {
  span_ = std::max<std::size_t>(attributes.number(xml_ns::table, "number-columns-repeated").value_or(1), 1);
  cell_.clear();
  const auto type = attributes.text(xml_ns::office, "value-type");
  cell_value_ = type == "date"      ? display_date(attributes.text(xml_ns::office, "date-value"))
                : type == "boolean" ? (attributes.text(xml_ns::office, "boolean-value") == "true" ? "TRUE" : "FALSE")
                                    : std::string();
  value_ =
      type == "float" || type == "currency" || type == "percentage" ? attributes.text(xml_ns::office, "value") : std::string();
  tables_.begin_cell();
}

void odf_content_handler::end_cell() {
  if (!is_spreadsheet()) return tables_.end_cell(span_);
  // Prefer a date or boolean, then the formatted text, then the number.
  const auto& display_text = !cell_value_.empty() ? cell_value_ : cell_.empty() ? value_ : cell_;
  auto& cells = row_.cells;
  const auto size = std::min(max_sheet_columns, cells.size() + span_);
  if (size < cells.size() + span_ && !display_text.empty()) findings_.is_truncated = true;
  cells.resize(size, display_text);
  span_ = 1;
}

void odf_content_handler::end_row() {
  if (!is_spreadsheet()) return tables_.end_row(format_ == format::odp ? slide_ : out_);
  auto& cells = row_.cells;
  while (!cells.empty() && cells.back().empty()) cells.pop_back();
  if (cells.empty()) return;
  for (std::size_t i = 0; i < row_.repeated && !out_.is_full(); ++i) {
    if (rows_ == max_sheet_rows) {
      findings_.is_truncated = true;
      return;
    }
    out_.row(cells, rows_++ == 0);
  }
}

void odf_content_handler::begin_slide(const attributes& attributes) {
  slide_name_ = attributes.text(xml_ns::draw, "name");
  slide_title_.clear();
  slide_notes_.clear();
  slide_.reset(out_.max_bytes());
  if (++findings_.pages > max_pages) out_.truncate();
}

void odf_content_handler::end_slide() {
  const auto number = "Slide " + std::to_string(findings_.pages);
  out_.heading(2, !slide_title_.empty() ? slide_title_ : slide_name_.empty() ? number : slide_name_);
  out_.blocks(slide_.text());
  if (slide_.is_truncated()) findings_.is_truncated = true;
  if (!slide_notes_.empty()) {
    out_.paragraph("Notes:");
    out_.paragraph(slide_notes_);
  }
  out_.end_page();
}

namespace {

class styles_handler final : public xml_handler {
 public:
  explicit styles_handler(odf_styles& styles) noexcept : styles_(styles) {}
  void begin(const element& element, const attributes& attributes) override { styles_.begin(element, attributes); }
  void end(const element&) override {}
  void text(std::string_view) override {}

 private:
  odf_styles& styles_;
};

}  // namespace

result<void> render_open_document(format document_format, package& parts, text_output& out, office_findings& findings) {
  odf_styles styles(findings);
  styles_handler styles_reader(styles);
  auto status =
      parts.read([&](const std::string& name) -> xml_handler* { return name == "styles.xml" ? &styles_reader : nullptr; });
  if (!status) return status;
  odf_content_handler content(document_format, styles, out, findings);
  status = parts.read([&](const std::string& name) -> xml_handler* { return name == "content.xml" ? &content : nullptr; });
  if (!status) return status;
  if (!content.has_body())
    return fail(errc::invalid_argument, "the file does not contain OpenDocument content of that kind; check its format");
  out.blocks(content.notes().text());
  findings.is_truncated = findings.is_truncated || content.notes().is_truncated();
  return {};
}

}  // namespace hondana::rendering
