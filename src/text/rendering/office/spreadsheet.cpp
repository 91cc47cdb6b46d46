/// Renders Excel workbooks, with their number formats.
#include "text/rendering/office/spreadsheet.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/rendering/office/office.hpp"

namespace hondana::rendering {
namespace {

/// The significant characters of a format code: without quoted and escaped characters, padding, and conditions in brackets.
/// Elapsed times such as "[h]:mm" stay.
std::string significant_characters(std::string_view code) {
  std::string out;
  for (std::size_t i = 0; i < code.size() && code[i] != ';'; ++i) {
    const char c = code[i];
    if (c == '"') {
      i = std::min(code.find('"', i + 1), code.size());
    } else if (c == '\\' || c == '_' || c == '*') {
      ++i;
    } else if (c == '[') {
      const auto end = std::min(code.find(']', i), code.size());
      const auto inner = code.substr(i + 1, end - i - 1);
      if (!inner.empty() && inner.find_first_not_of("hHmMsS") == std::string_view::npos) out += inner;
      i = end;
    } else {
      out += static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c);
    }
  }
  return out;
}

std::string format_number(double number) {
  std::array<char, 64> text{};
  // Spreadsheets keep 15 significant digits.
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 15);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

std::string format_percent(double number, std::size_t decimals) {
  std::array<char, 64> text{};
  const int count =
      std::snprintf(text.data(), text.size(), "%.*f%%", static_cast<int>(std::min<std::size_t>(decimals, 10)), number * 100);
  return count > 0 && static_cast<std::size_t>(count) < text.size() ? std::string(text.data()) : format_number(number);
}

std::string format_date(std::int64_t days, bool uses_1904_dates) {
  using namespace std::chrono;
  // Workbooks with the 1900 date system count a 29 February 1900, which did not exist.
  const auto base = uses_1904_dates ? sys_days(year(1904) / 1 / 1)
                    : days < 60     ? sys_days(year(1899) / 12 / 31)
                                    : sys_days(year(1899) / 12 / 30);
  const year_month_day date{base + std::chrono::days(days)};
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()));
  return text.data();
}

std::string format_time(std::int64_t seconds) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%02lld:%02lld:%02lld", static_cast<long long>(seconds / 3600),
                static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
  return text.data();
}

}  // namespace

number_format parse_number_format(std::string_view code) {
  const auto characters = significant_characters(code);
  if (characters == "general" || characters.find('@') != std::string::npos) return {};
  const auto has_any_of = [&characters](std::string_view candidates) {
    return characters.find_first_of(candidates) != std::string::npos;
  };
  const bool has_time = has_any_of("hs");
  // "e" and "g" are years of an era, except in exponents.
  const bool has_date = has_any_of("yd") || (has_any_of("m") && !has_time) || (has_any_of("ge") && !has_any_of("0#?"));
  if (has_date && !has_any_of("0#?")) return {has_time ? number_kind::date_and_time : number_kind::date, 0};
  if (has_time) return {has_date ? number_kind::date_and_time : number_kind::time, 0};
  if (!has_any_of("%")) return {};
  const auto dot = characters.find('.');
  if (dot == std::string::npos) return {number_kind::percent, 0};
  const auto end = std::min(characters.find_first_not_of("0#?", dot + 1), characters.size());
  return {number_kind::percent, end - dot - 1};
}

number_format builtin_format(std::size_t number) {
  if (number == 9) return {number_kind::percent, 0};
  if (number == 10) return {number_kind::percent, 2};
  if (number == 22) return {number_kind::date_and_time, 0};
  if ((number >= 18 && number <= 21) || (number >= 45 && number <= 47) || (number >= 32 && number <= 35))
    return {number_kind::time, 0};
  if ((number >= 14 && number <= 17) || (number >= 27 && number <= 31) || number == 36 || (number >= 50 && number <= 58))
    return {number_kind::date, 0};
  return {};
}

std::string display_number(double number, const number_format& format, bool uses_1904_dates) {
  constexpr double last_day = 2'958'466;  // 31 December 9999, plus one
  if (format.kind == number_kind::percent) return format_percent(number, format.decimals);
  if (format.kind == number_kind::plain || !(number >= 0 && number < last_day)) return format_number(number);
  const auto seconds = static_cast<std::int64_t>(std::llround(number * 86'400));
  if (format.kind == number_kind::time) return format_time(seconds);
  const auto date = format_date(seconds / 86'400, uses_1904_dates);
  return format.kind == number_kind::date ? date : date + ' ' + format_time(seconds % 86'400);
}

std::size_t parse_column(std::string_view reference) noexcept {
  std::size_t column = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const char c = reference[i];
    if (c >= '0' && c <= '9') return i == 0 ? no_column : column - 1;
    if (c < 'A' || c > 'Z' || i > 3) return no_column;
    column = column * 26 + static_cast<std::size_t>(c - 'A') + 1;
  }
  return no_column;
}

namespace {

constexpr std::size_t max_rows = 100'000;  // of one sheet
constexpr std::size_t max_columns = 256;
constexpr std::size_t max_sheets = 1'000;
constexpr std::size_t max_cell_bytes = 1u << 20;
constexpr std::size_t max_shared_bytes = 256u << 20;

struct sheet_entry {
  std::string name;
  std::string id;
};

class workbook_handler final : public xml_handler {
 public:
  void begin(const element& element, const attributes& attributes) override {
    if (element.ns != xml_ns::sheet) return;
    if (element.name == "workbook") is_workbook = true;
    if (element.name == "workbookPr") {
      const auto mode = attributes.text(xml_ns::none, "date1904");
      uses_1904_dates = mode == "1" || mode == "true";
    }
    // Skip hidden sheets.
    if (element.name != "sheet" || attributes.text(xml_ns::none, "state").find("idden") != std::string::npos) return;
    if (sheets.size() < max_sheets) {
      sheets.push_back({attributes.text(xml_ns::none, "name"), attributes.text(xml_ns::relation, "id")});
    } else {
      is_truncated = true;
    }
  }
  void end(const element&) override {}
  void text(std::string_view) override {}

  std::vector<sheet_entry> sheets{};
  bool uses_1904_dates = false;
  bool is_workbook = false;
  bool is_truncated = false;
};

/// The shared strings, which cells refer to by index.
class shared_strings final : public xml_handler {
 public:
  void begin(const element& element, const attributes&) override {
    if (element.matches(xml_ns::sheet, "si")) strings.emplace_back();
    if (element.matches(xml_ns::sheet, "rPh")) in_phonetic_ = true;
    in_text_ = element.matches(xml_ns::sheet, "t") && !in_phonetic_;
  }
  void end(const element& element) override {
    in_text_ = false;
    if (element.matches(xml_ns::sheet, "rPh")) in_phonetic_ = false;
  }
  void text(std::string_view piece) override {
    if (!in_text_ || strings.empty()) return;
    if (strings.back().size() > max_cell_bytes) {
      is_truncated_ = true;
      return;
    }
    strings.back() += piece;
    size_ += piece.size();
  }
  [[nodiscard]] bool has_enough() const override { return size_ + strings.size() * sizeof(std::string) > max_shared_bytes; }

  [[nodiscard]] bool is_truncated() const noexcept { return is_truncated_ || has_enough(); }

  std::vector<std::string> strings{};

 private:
  std::size_t size_ = 0;
  bool is_truncated_ = false;
  bool in_text_ = false;
  bool in_phonetic_ = false;  // furigana
};

class sheet_styles final : public xml_handler {
 public:
  void begin(const element& element, const attributes& attributes) override {
    if (element.ns != xml_ns::sheet) return;
    if (element.name == "numFmt") {
      if (const auto id = attributes.number(xml_ns::none, "numFmtId"))
        custom_formats_[*id] = parse_number_format(attributes.text(xml_ns::none, "formatCode"));
    } else if (element.name == "cellXfs") {
      in_cells_ = true;
    } else if (element.name == "xf" && in_cells_ && cell_formats_.size() < 65'536) {
      const auto id = attributes.number(xml_ns::none, "numFmtId").value_or(0);
      const auto custom = custom_formats_.find(id);
      cell_formats_.push_back(custom == custom_formats_.end() ? builtin_format(id) : custom->second);
    }
  }
  void end(const element& element) override {
    if (element.matches(xml_ns::sheet, "cellXfs")) in_cells_ = false;
  }
  void text(std::string_view) override {}

  [[nodiscard]] number_format format_of(std::optional<std::size_t> style) const {
    return style && *style < cell_formats_.size() ? cell_formats_[*style] : number_format();
  }

 private:
  std::map<std::size_t, number_format> custom_formats_;
  std::vector<number_format> cell_formats_;
  bool in_cells_ = false;
};

/// The data for interpreting the content of cells.
struct cell_context {
  const shared_strings& strings;
  const sheet_styles& styles;
  bool uses_1904_dates = false;
};

/// Receives the rows of a sheet. `number`: from 1, increasing; rows without cells are left out.
class row_sink {
 public:
  row_sink() = default;
  row_sink(const row_sink&) = delete;
  row_sink& operator=(const row_sink&) = delete;
  virtual ~row_sink() = default;
  virtual void row(const std::vector<std::string>& cells, std::size_t number, std::size_t width) = 0;
  /// Called if there are more rows.
  virtual void truncate() = 0;
  [[nodiscard]] virtual bool is_full() const = 0;
};

class table_rows final : public row_sink {
 public:
  explicit table_rows(std::size_t max_bytes) : out_(max_bytes) {}
  void row(const std::vector<std::string>& cells, std::size_t, std::size_t width) override {
    out_.row(cells, std::exchange(is_first_, false), width);
  }
  void truncate() override { out_.truncate(); }
  [[nodiscard]] bool is_full() const override { return out_.is_full(); }
  [[nodiscard]] const std::string& output() const noexcept { return out_.text(); }

 private:
  text_output out_;
  bool is_first_ = true;
};

void append_csv_cell(std::string& out, std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += cell;
    return;
  }
  out += '"';
  for (const char c : cell) {
    out += c;
    if (c == '"') out += c;
  }
  out += '"';
}

class csv_rows final : public row_sink {
 public:
  /// `bytes_left`: bytes left for all sheets together.
  explicit csv_rows(std::size_t& bytes_left) : bytes_left_(bytes_left) {}
  void row(const std::vector<std::string>& cells, std::size_t number, std::size_t) override {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += ',';
      append_csv_cell(line, cells[i]);
    }
    const auto gap = number > next_number_ ? std::min(number - next_number_, max_rows - lines_.size()) : 0;
    const auto size = line.size() + 1 + gap * sizeof(struct line);
    if (lines_.size() + gap >= max_rows || size > bytes_left_) return truncate();
    bytes_left_ -= line.size() + 1 + gap * sizeof(struct line);
    lines_.resize(lines_.size() + gap);
    lines_.push_back({std::move(line), cells.size()});
    width_ = std::max(width_, cells.size());
    next_number_ = number + 1;
  }
  void truncate() override { is_full_ = true; }
  [[nodiscard]] bool is_full() const override { return is_full_; }
  /// The rows, padded to the same number of cells.
  [[nodiscard]] std::string output() const {
    std::string out;
    for (const auto& entry : lines_) {
      out += entry.text;
      out.append(width_ - std::max<std::size_t>(entry.cells, 1), ',');
      out += '\n';
    }
    return out;
  }

 private:
  struct line {
    std::string text{};
    std::size_t cells = 0;
  };
  std::size_t& bytes_left_;
  std::vector<line> lines_;
  std::size_t next_number_ = 1;
  std::size_t width_ = 1;
  bool is_full_ = false;
};

class sheet_handler final : public xml_handler {
 public:
  sheet_handler(const cell_context& context, row_sink& sink, extra_text_buffer& extra_text)
      : context_(context), sink_(sink), extra_text_(extra_text) {}

  [[nodiscard]] bool is_truncated() const noexcept { return is_truncated_ || sink_.is_full(); }
  [[nodiscard]] bool has_enough() const override { return sink_.is_full(); }

  void begin(const element& element, const attributes& attributes) override {
    if (element.ns != xml_ns::sheet) return;
    if (element.name == "dimension") {
      const auto reference = attributes.text(xml_ns::none, "ref");
      const auto last = parse_column(std::string_view(reference).substr(reference.find(':') + 1));
      if (last < max_columns) width_ = last + 1;
    } else if (element.name == "row") {
      cells_.clear();
      number_ = std::max(attributes.number(xml_ns::none, "r").value_or(0), number_ + 1);
    } else if (element.name == "c") {
      begin_cell(attributes);
    } else if (element.name == "rPh") {
      in_phonetic_ = true;
    } else {
      in_value_ = element.name == "v" || (element.name == "t" && !in_phonetic_);
      in_margin_ = element.name.ends_with("Header") || element.name.ends_with("Footer");
    }
  }

  void end(const element& element) override {
    in_value_ = false;
    if (std::exchange(in_margin_, false)) extra_text_.add("\n");
    if (element.ns != xml_ns::sheet) return;
    if (element.name == "c") {
      end_cell();
    } else if (element.name == "row") {
      end_row();
    } else if (element.name == "rPh") {
      in_phonetic_ = false;
    }
  }

  void text(std::string_view piece) override {
    if (in_margin_) extra_text_.add(piece);
    if (!in_value_) return;
    if (value_.size() >= max_cell_bytes) {
      is_truncated_ = true;
    } else {
      value_ += piece;
    }
  }

 private:
  void begin_cell(const attributes& attributes) {
    const auto reference = attributes.find(xml_ns::none, "r");
    column_ = reference ? parse_column(*reference) : cells_.size();
    type_ = attributes.text(xml_ns::none, "t");
    style_ = attributes.number(xml_ns::none, "s");
    value_.clear();
  }

  void end_cell() {
    if (value_.empty()) return;
    if (column_ >= max_columns) {
      is_truncated_ = true;
      return;
    }
    if (cells_.size() <= column_) cells_.resize(column_ + 1);
    cells_[column_] = display_text();
  }

  void end_row() {
    if (cells_.empty()) return;
    if (row_count_++ == max_rows) return sink_.truncate();
    sink_.row(cells_, number_, width_);
    cells_.clear();
  }

  [[nodiscard]] std::string display_text() const {
    if (type_ == "s") {
      std::size_t index = 0;
      const auto parsed = std::from_chars(value_.data(), value_.data() + value_.size(), index);
      return parsed.ec == std::errc() && index < context_.strings.strings.size() ? context_.strings.strings[index]
                                                                                 : std::string();
    }
    if (type_ == "b") return value_ == "1" ? "TRUE" : "FALSE";
    if (!type_.empty() && type_ != "n") return value_;
    double number = 0;
    const auto parsed = std::from_chars(value_.data(), value_.data() + value_.size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != value_.data() + value_.size()) return value_;
    return display_number(number, context_.styles.format_of(style_), context_.uses_1904_dates);
  }

  const cell_context& context_;
  row_sink& sink_;
  extra_text_buffer& extra_text_;
  std::vector<std::string> cells_;
  std::string value_;
  std::string type_;
  std::optional<std::size_t> style_;
  std::size_t column_ = 0;
  std::size_t width_ = 0;
  std::size_t row_count_ = 0;
  std::size_t number_ = 0;
  bool in_value_ = false;
  bool in_phonetic_ = false;
  bool in_margin_ = false;     // in the header or footer of printed pages
  bool is_truncated_ = false;  // columns or the text of a cell were cut
};

struct read_sheet {
  std::string name;
  std::unique_ptr<row_sink> rows;
  std::unique_ptr<sheet_handler> handler;
};

/// Reads the visible sheets, in order. `make_sink` creates the sink for each sheet's rows. If two sheets name the same part,
/// the first one gets it.
result<std::vector<read_sheet>> read_sheets(const office_file& file, const std::string& main, office_findings& findings,
                                            const std::function<std::unique_ptr<row_sink>()>& make_sink) {
  workbook_handler workbook;
  shared_strings strings;
  sheet_styles styles;
  const auto styles_part = file.find_related(main, "styles");
  const auto strings_part = file.find_related(main, "sharedStrings");
  auto status = file.parts.read([&](const std::string& name) -> xml_handler* {
    if (name == main) return &workbook;
    return name == styles_part ? static_cast<xml_handler*>(&styles) : name == strings_part ? &strings : nullptr;
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  if (!workbook.is_workbook) return fail(errc::invalid_argument, "the file does not contain a workbook; check its format");
  const cell_context context{strings, styles, workbook.uses_1904_dates};
  std::vector<read_sheet> sheets;
  std::map<std::string, sheet_handler*, std::less<>> by_part;
  for (const auto& entry : workbook.sheets) {
    auto rows = make_sink();
    auto handler = std::make_unique<sheet_handler>(context, *rows, findings.extra_text);
    by_part.emplace(file.find_by_id(main, entry.id), handler.get());
    sheets.push_back({entry.name, std::move(rows), std::move(handler)});
  }
  status = file.parts.read([&](const std::string& name) -> xml_handler* {
    const auto match = by_part.find(name);
    return match == by_part.end() || name.empty() ? nullptr : match->second;
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  findings.is_truncated = findings.is_truncated || workbook.is_truncated || strings.is_truncated();
  for (const auto& result : sheets) findings.is_truncated = findings.is_truncated || result.handler->is_truncated();
  return sheets;
}

}  // namespace

result<void> render_sheets(const office_file& file, const std::string& main, text_output& out, office_findings& findings) {
  const auto sheets = read_sheets(file, main, findings, [&out] { return std::make_unique<table_rows>(out.max_bytes()); });
  if (!sheets) return tl::unexpected(sheets.error());
  for (const auto& result : *sheets) {
    out.heading(2, result.name);
    out.blocks(static_cast<const table_rows&>(*result.rows).output());
  }
  return {};
}

result<void> render_each_sheet(const office_file& file, const std::string& main, std::size_t max_bytes,
                               std::vector<sheet>& sheets, office_findings& findings) {
  auto bytes_left = max_bytes;
  const auto results = read_sheets(file, main, findings, [&bytes_left] { return std::make_unique<csv_rows>(bytes_left); });
  if (!results) return tl::unexpected(results.error());
  for (const auto& result : *results)
    sheets.push_back({result.name, static_cast<const csv_rows&>(*result.rows).output(), result.handler->is_truncated()});
  return {};
}

}  // namespace hondana::rendering
