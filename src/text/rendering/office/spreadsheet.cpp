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
std::string letters_of(std::string_view code) {
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

std::string plain_number(double number) {
  std::array<char, 64> text{};
  // Spreadsheets keep 15 significant digits.
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::general, 15);
  return error == std::errc() ? std::string(text.data(), end) : std::string();
}

std::string percent(double number, std::size_t decimals) {
  std::array<char, 64> text{};
  const int count =
      std::snprintf(text.data(), text.size(), "%.*f%%", static_cast<int>(std::min<std::size_t>(decimals, 10)), number * 100);
  return count > 0 && static_cast<std::size_t>(count) < text.size() ? std::string(text.data()) : plain_number(number);
}

std::string date_text(std::int64_t days, bool counts_from_1904) {
  using namespace std::chrono;
  // Workbooks with the 1900 date system count a 29 February 1900, which did not exist.
  const auto base = counts_from_1904 ? sys_days(year(1904) / 1 / 1)
                    : days < 60      ? sys_days(year(1899) / 12 / 31)
                                     : sys_days(year(1899) / 12 / 30);
  const year_month_day on{base + std::chrono::days(days)};
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02u", static_cast<int>(on.year()), static_cast<unsigned>(on.month()),
                static_cast<unsigned>(on.day()));
  return text.data();
}

std::string time_text(std::int64_t seconds) {
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%02lld:%02lld:%02lld", static_cast<long long>(seconds / 3600),
                static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
  return text.data();
}

}  // namespace

number_format format_in(std::string_view code) {
  const auto letters = letters_of(code);
  if (letters == "general" || letters.find('@') != std::string::npos) return {};
  const auto has = [&letters](std::string_view any) { return letters.find_first_of(any) != std::string::npos; };
  const bool has_time = has("hs");
  // "e" and "g" are years of an era, except in exponents.
  const bool has_date = has("yd") || (has("m") && !has_time) || (has("ge") && !has("0#?"));
  if (has_date && !has("0#?")) return {has_time ? number_kind::date_and_time : number_kind::date, 0};
  if (has_time) return {has_date ? number_kind::date_and_time : number_kind::time, 0};
  if (!has("%")) return {};
  const auto dot = letters.find('.');
  if (dot == std::string::npos) return {number_kind::percent, 0};
  const auto end = std::min(letters.find_first_not_of("0#?", dot + 1), letters.size());
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

std::string shown_number(double number, const number_format& as, bool counts_from_1904) {
  constexpr double last_day = 2'958'466;  // 31 December 9999, plus one
  if (as.kind == number_kind::percent) return percent(number, as.decimals);
  if (as.kind == number_kind::plain || !(number >= 0 && number < last_day)) return plain_number(number);
  const auto seconds = static_cast<std::int64_t>(std::llround(number * 86'400));
  if (as.kind == number_kind::time) return time_text(seconds);
  const auto date = date_text(seconds / 86'400, counts_from_1904);
  return as.kind == number_kind::date ? date : date + ' ' + time_text(seconds % 86'400);
}

std::size_t column_of(std::string_view reference) noexcept {
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

constexpr std::size_t most_rows = 100'000;  // of one sheet
constexpr std::size_t most_columns = 256;
constexpr std::size_t most_sheets = 1'000;
constexpr std::size_t longest_cell = 1u << 20;
constexpr std::size_t most_shared = 256u << 20;  // bytes

struct sheet_entry {
  std::string name;
  std::string id;
};

class workbook_events final : public events {
 public:
  void begin(const element& what, const attributes& with) override {
    if (what.in != space::sheet) return;
    if (what.name == "workbook") is_workbook = true;
    if (what.name == "workbookPr") {
      const auto mode = with.text(space::none, "date1904");
      counts_from_1904 = mode == "1" || mode == "true";
    }
    // Skip hidden sheets.
    if (what.name != "sheet" || with.text(space::none, "state").find("idden") != std::string::npos) return;
    if (sheets.size() < most_sheets) {
      sheets.push_back({with.text(space::none, "name"), with.text(space::relation, "id")});
    } else {
      is_cut = true;
    }
  }
  void end(const element&) override {}
  void text(std::string_view) override {}

  std::vector<sheet_entry> sheets{};
  bool counts_from_1904 = false;
  bool is_workbook = false;
  bool is_cut = false;
};

/// The shared strings, which cells refer to by index.
class shared_texts final : public events {
 public:
  void begin(const element& what, const attributes&) override {
    if (what.is(space::sheet, "si")) all.emplace_back();
    if (what.is(space::sheet, "rPh")) in_reading_ = true;
    in_text_ = what.is(space::sheet, "t") && !in_reading_;
  }
  void end(const element& what) override {
    in_text_ = false;
    if (what.is(space::sheet, "rPh")) in_reading_ = false;
  }
  void text(std::string_view piece) override {
    if (!in_text_ || all.empty()) return;
    if (all.back().size() > longest_cell) {
      is_cut_ = true;
      return;
    }
    all.back() += piece;
    size_ += piece.size();
  }
  [[nodiscard]] bool has_enough() const override { return size_ + all.size() * sizeof(std::string) > most_shared; }

  [[nodiscard]] bool is_cut() const noexcept { return is_cut_ || has_enough(); }

  std::vector<std::string> all{};

 private:
  std::size_t size_ = 0;
  bool is_cut_ = false;
  bool in_text_ = false;
  bool in_reading_ = false;  // furigana
};

class sheet_styles final : public events {
 public:
  void begin(const element& what, const attributes& with) override {
    if (what.in != space::sheet) return;
    if (what.name == "numFmt") {
      if (const auto id = with.number(space::none, "numFmtId")) own_[*id] = format_in(with.text(space::none, "formatCode"));
    } else if (what.name == "cellXfs") {
      in_cells_ = true;
    } else if (what.name == "xf" && in_cells_ && all_.size() < 65'536) {
      const auto id = with.number(space::none, "numFmtId").value_or(0);
      const auto own = own_.find(id);
      all_.push_back(own == own_.end() ? builtin_format(id) : own->second);
    }
  }
  void end(const element& what) override {
    if (what.is(space::sheet, "cellXfs")) in_cells_ = false;
  }
  void text(std::string_view) override {}

  [[nodiscard]] number_format of(std::optional<std::size_t> style) const {
    return style && *style < all_.size() ? all_[*style] : number_format();
  }

 private:
  std::map<std::size_t, number_format> own_;
  std::vector<number_format> all_;
  bool in_cells_ = false;
};

/// The data for interpreting the content of cells.
struct cell_meanings {
  const shared_texts& texts;
  const sheet_styles& styles;
  bool counts_from_1904 = false;
};

/// Receives the rows of a sheet. `number`: from 1, increasing; rows without cells are left out.
class row_taker {
 public:
  row_taker() = default;
  row_taker(const row_taker&) = delete;
  row_taker& operator=(const row_taker&) = delete;
  virtual ~row_taker() = default;
  virtual void row(const std::vector<std::string>& cells, std::size_t number, std::size_t width) = 0;
  /// Called if there are more rows.
  virtual void cut() = 0;
  [[nodiscard]] virtual bool is_full() const = 0;
};

class table_rows final : public row_taker {
 public:
  explicit table_rows(std::size_t most) : to_(most) {}
  void row(const std::vector<std::string>& cells, std::size_t, std::size_t width) override {
    to_.row(cells, std::exchange(is_first_, false), width);
  }
  void cut() override { to_.cut(); }
  [[nodiscard]] bool is_full() const override { return to_.is_full(); }
  [[nodiscard]] const std::string& output() const noexcept { return to_.so_far(); }

 private:
  text_output to_;
  bool is_first_ = true;
};

void append_csv_cell(std::string& to, std::string_view cell) {
  if (cell.find_first_of(",\"\r\n") == std::string_view::npos) {
    to += cell;
    return;
  }
  to += '"';
  for (const char c : cell) {
    to += c;
    if (c == '"') to += c;
  }
  to += '"';
}

class csv_rows final : public row_taker {
 public:
  /// `room`: bytes left for all sheets together.
  explicit csv_rows(std::size_t& room) : room_(room) {}
  void row(const std::vector<std::string>& cells, std::size_t number, std::size_t) override {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += ',';
      append_csv_cell(line, cells[i]);
    }
    const auto gap = number > next_ ? std::min(number - next_, most_rows - lines_.size()) : 0;
    const auto size = line.size() + 1 + gap * sizeof(struct line);
    if (lines_.size() + gap >= most_rows || size > room_) return cut();
    room_ -= line.size() + 1 + gap * sizeof(struct line);
    lines_.resize(lines_.size() + gap);
    lines_.push_back({std::move(line), cells.size()});
    width_ = std::max(width_, cells.size());
    next_ = number + 1;
  }
  void cut() override { is_full_ = true; }
  [[nodiscard]] bool is_full() const override { return is_full_; }
  /// The rows, padded to the same number of cells.
  [[nodiscard]] std::string output() const {
    std::string out;
    for (const auto& one : lines_) {
      out += one.text;
      out.append(width_ - std::max<std::size_t>(one.cells, 1), ',');
      out += '\n';
    }
    return out;
  }

 private:
  struct line {
    std::string text{};
    std::size_t cells = 0;
  };
  std::size_t& room_;
  std::vector<line> lines_;
  std::size_t next_ = 1;
  std::size_t width_ = 1;
  bool is_full_ = false;
};

class sheet_events final : public events {
 public:
  sheet_events(const cell_meanings& by, row_taker& to, text_beside& beside) : by_(by), to_(to), beside_(beside) {}

  [[nodiscard]] bool is_cut() const noexcept { return is_cut_ || to_.is_full(); }
  [[nodiscard]] bool has_enough() const override { return to_.is_full(); }

  void begin(const element& what, const attributes& with) override {
    if (what.in != space::sheet) return;
    if (what.name == "dimension") {
      const auto where = with.text(space::none, "ref");
      const auto last = column_of(std::string_view(where).substr(where.find(':') + 1));
      if (last < most_columns) width_ = last + 1;
    } else if (what.name == "row") {
      cells_.clear();
      number_ = std::max(with.number(space::none, "r").value_or(0), number_ + 1);
    } else if (what.name == "c") {
      begin_cell(with);
    } else if (what.name == "rPh") {
      in_reading_ = true;
    } else {
      in_value_ = what.name == "v" || (what.name == "t" && !in_reading_);
      in_margin_ = what.name.ends_with("Header") || what.name.ends_with("Footer");
    }
  }

  void end(const element& what) override {
    in_value_ = false;
    if (std::exchange(in_margin_, false)) beside_.add("\n");
    if (what.in != space::sheet) return;
    if (what.name == "c") {
      end_cell();
    } else if (what.name == "row") {
      end_row();
    } else if (what.name == "rPh") {
      in_reading_ = false;
    }
  }

  void text(std::string_view piece) override {
    if (in_margin_) beside_.add(piece);
    if (!in_value_) return;
    if (value_.size() >= longest_cell) {
      is_cut_ = true;
    } else {
      value_ += piece;
    }
  }

 private:
  void begin_cell(const attributes& with) {
    const auto where = with.find(space::none, "r");
    column_ = where ? column_of(*where) : cells_.size();
    type_ = with.text(space::none, "t");
    style_ = with.number(space::none, "s");
    value_.clear();
  }

  void end_cell() {
    if (value_.empty()) return;
    if (column_ >= most_columns) {
      is_cut_ = true;
      return;
    }
    if (cells_.size() <= column_) cells_.resize(column_ + 1);
    cells_[column_] = shown();
  }

  void end_row() {
    if (cells_.empty()) return;
    if (rows_++ == most_rows) return to_.cut();
    to_.row(cells_, number_, width_);
    cells_.clear();
  }

  [[nodiscard]] std::string shown() const {
    if (type_ == "s") {
      std::size_t index = 0;
      const auto read = std::from_chars(value_.data(), value_.data() + value_.size(), index);
      return read.ec == std::errc() && index < by_.texts.all.size() ? by_.texts.all[index] : std::string();
    }
    if (type_ == "b") return value_ == "1" ? "TRUE" : "FALSE";
    if (!type_.empty() && type_ != "n") return value_;
    double number = 0;
    const auto read = std::from_chars(value_.data(), value_.data() + value_.size(), number);
    if (read.ec != std::errc() || read.ptr != value_.data() + value_.size()) return value_;
    return shown_number(number, by_.styles.of(style_), by_.counts_from_1904);
  }

  const cell_meanings& by_;
  row_taker& to_;
  text_beside& beside_;
  std::vector<std::string> cells_;
  std::string value_;
  std::string type_;
  std::optional<std::size_t> style_;
  std::size_t column_ = 0;
  std::size_t width_ = 0;
  std::size_t rows_ = 0;
  std::size_t number_ = 0;
  bool in_value_ = false;
  bool in_reading_ = false;
  bool in_margin_ = false;  // in the header or footer of printed pages
  bool is_cut_ = false;     // columns or the text of a cell were cut
};

struct read_sheet {
  std::string name;
  std::unique_ptr<row_taker> rows;
  std::unique_ptr<sheet_events> by;
};

/// Reads the visible sheets, in order. `make` creates the receiver of each sheet's rows. If two sheets name the same part, the
/// first one gets it.
result<std::vector<read_sheet>> read_all(const office_file& from, const std::string& main, findings_of_office& found,
                                         const std::function<std::unique_ptr<row_taker>()>& make) {
  workbook_events book;
  shared_texts texts;
  sheet_styles styles;
  const auto styles_part = from.one_of(main, "styles");
  const auto texts_part = from.one_of(main, "sharedStrings");
  auto read = from.parts.read([&](const std::string& name) -> events* {
    if (name == main) return &book;
    return name == styles_part ? static_cast<events*>(&styles) : name == texts_part ? &texts : nullptr;
  });
  if (!read) return tl::unexpected(std::move(read.error()));
  if (!book.is_workbook) return fail(errc::invalid_argument, "the file does not contain a workbook; check its format");
  const cell_meanings by{texts, styles, book.counts_from_1904};
  std::vector<read_sheet> all;
  std::map<std::string, sheet_events*, std::less<>> by_part;
  for (const auto& one : book.sheets) {
    auto rows = make();
    auto reader = std::make_unique<sheet_events>(by, *rows, found.beside);
    by_part.emplace(from.by_id(main, one.id), reader.get());
    all.push_back({one.name, std::move(rows), std::move(reader)});
  }
  read = from.parts.read([&](const std::string& name) -> events* {
    const auto one = by_part.find(name);
    return one == by_part.end() || name.empty() ? nullptr : one->second;
  });
  if (!read) return tl::unexpected(std::move(read.error()));
  found.is_cut = found.is_cut || book.is_cut || texts.is_cut();
  for (const auto& one : all) found.is_cut = found.is_cut || one.by->is_cut();
  return all;
}

}  // namespace

result<void> render_sheets(const office_file& from, const std::string& main, text_output& to, findings_of_office& found) {
  const auto all = read_all(from, main, found, [&to] { return std::make_unique<table_rows>(to.room()); });
  if (!all) return tl::unexpected(all.error());
  for (const auto& one : *all) {
    to.heading(2, one.name);
    to.blocks(static_cast<const table_rows&>(*one.rows).output());
  }
  return {};
}

result<void> cut_sheets(const office_file& from, const std::string& main, std::size_t most, std::vector<sheet>& to,
                        findings_of_office& found) {
  auto room = most;
  const auto all = read_all(from, main, found, [&room] { return std::make_unique<csv_rows>(room); });
  if (!all) return tl::unexpected(all.error());
  for (const auto& one : *all) to.push_back({one.name, static_cast<const csv_rows&>(*one.rows).output(), one.by->is_cut()});
  return {};
}

}  // namespace hondana::rendering
