/// Chunkers for prose, HTML, JSON, tables and logs.
#include "search/chunking/chunkers.hpp"

#include <algorithm>

#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::chunking {
namespace {

using markup::piece;
using markup::piece_kind;

/// Limit in bytes for one heading in a path. The passage text has the whole heading.
constexpr std::size_t max_heading_bytes = 200;

class prose_chunker final : public markup::markup_listener {
 public:
  explicit prose_chunker(const chunking_options& options) : packer_(options) {}

  /// Sets the text that the next pieces refer to, and its position in the whole text.
  void set_source(std::string_view text, std::uint64_t begin, std::size_t line, std::size_t page) noexcept {
    text_ = text;
    begin_ = begin;
    line_ = line;
    page_ = page;
    last_line_ = 0;
  }

  bool on_piece(piece block) override {
    switch (block.kind) {
      case piece_kind::front_matter:
        if (title_.empty()) title_ = std::move(block.heading);
        break;
      case piece_kind::mark:
        break;
      case piece_kind::heading:
        add_heading(std::move(block));
        break;
      case piece_kind::prose:
        add_prose(block);
        break;
      case piece_kind::code:
        add_lines(block);
        break;
      case piece_kind::table:
        add_table(block);
        break;
    }
    return !packer_.is_full();
  }
  void on_link(markup::link) override {}
  [[nodiscard]] bool wants_links() const noexcept override { return false; }

  void set_title(std::string title) { title_ = std::move(title); }
  [[nodiscard]] chunked_text finish() { return packer_.finish(title_); }
  [[nodiscard]] bool is_full() const noexcept { return packer_.is_full(); }

 private:
  struct step {
    int level;
    std::string heading;
  };

  unit make_unit(const piece& block, int rank) {
    unit out;
    out.source = text_.substr(block.begin, block.end - block.begin);
    out.begin = begin_ + block.begin;
    out.end = begin_ + block.end;
    out.first_line = line_ + block.first_line - 1;
    out.last_line = line_ + block.last_line - 1;
    out.rank = rank;
    out.leading_glue = last_line_ != 0 && block.first_line == last_line_ + 1 ? glue::line : glue::paragraph;
    out.page = page_;
    out.breadcrumbs = breadcrumbs_;
    last_line_ = block.last_line;
    return out;
  }

  void add_heading(piece block) {
    if (title_.empty()) title_ = block.heading;
    while (!steps_.empty() && steps_.back().level >= block.level) steps_.pop_back();
    const bool is_below = block.level > section_level_;
    const bool is_sibling = block.level == section_level_ && block.level >= 3;
    packer_.begin_section(is_below || is_sibling ? small_section : 0);
    if (packer_.size() == 0) section_level_ = block.level;
    steps_.push_back({block.level, std::string(markup::utf8_prefix(block.heading, max_heading_bytes))});
    auto breadcrumbs = std::make_shared<path>();
    breadcrumbs->reserve(steps_.size());
    for (const auto& entry : steps_) breadcrumbs->push_back(entry.heading);
    breadcrumbs_ = std::move(breadcrumbs);
    auto unit = make_unit(block, ranks::section + block.level);
    unit.is_heading = true;
    unit.replacement = std::move(block.heading);
    unit.leading_glue = glue::paragraph;
    packer_.add(std::move(unit));
  }

  void add_prose(const piece& block) {
    auto unit = make_unit(block, ranks::block);
    while (!unit.source.empty() && ascii::is_space(unit.source.back())) unit.source.remove_suffix(1);
    unit.end = unit.begin + unit.source.size();
    // Markdown does not treat a line with, for example, only a vertical tab as blank, but the trimmed text excludes it. So
    // count again.
    unit.last_line = unit.first_line + static_cast<std::size_t>(std::count(unit.source.begin(), unit.source.end(), '\n'));
    if (markup::trim(unit.source).starts_with('<') && unit.source.size() <= packer_.options().target_bytes) {
      unit.replacement = std::string(markup::trim(markup::read_html(unit.source).text));
      if (unit.replacement.empty()) return;
    }
    if (unit.text().size() <= packer_.options().target_bytes / 2) return packer_.add(std::move(unit));
    unit.replacement.clear();
    packer_.add_sentences(unit.source, unit);
  }

  void add_lines(const piece& block) {
    if (block.end - block.begin <= packer_.options().target_bytes / 2) return packer_.add(make_unit(block, ranks::block));
    add_each_line(block, nullptr, 0);
  }

  void add_table(const piece& block) {
    if (block.end - block.begin <= packer_.options().target_bytes / 2) return packer_.add(make_unit(block, ranks::block));
    const auto table = text_.substr(block.begin, block.end - block.begin);
    const auto first = table.substr(0, table.find('\n'));
    add_each_line(block, header_of(first, packer_.options()), 1);
  }

  /// Adds the piece line by line. From line number `first_row` on, lines have `header` above them.
  void add_each_line(const piece& block, const std::shared_ptr<const std::string>& header, std::size_t first_row) {
    markup::line_reader reader(text_.substr(0, block.end), block.begin, block.first_line);
    markup::text_line next;
    std::size_t count = 0;
    for (; reader.read(next) && !packer_.is_full(); ++count) {
      const auto raw = text_.substr(next.begin, next.end - next.begin);
      if (markup::is_blank(raw)) continue;
      // Skip the rule below a header.
      if (header != nullptr && count == 1 && raw.find_first_not_of("|-: \t=+") == std::string_view::npos) continue;
      auto unit = make_unit({block.kind, next.begin, next.end, next.number, next.number, 0, {}, {}},
                            count == 0 ? ranks::block : ranks::line);
      unit.is_row = block.kind == piece_kind::table;
      if (unit.is_row && count >= first_row) unit.header = header;
      packer_.add(std::move(unit));
    }
    last_line_ = block.last_line;
  }

  packer packer_;
  std::string title_{};
  std::string_view text_{};
  std::uint64_t begin_ = 0;
  std::size_t line_ = 1;
  std::size_t page_ = 0;
  std::size_t last_line_ = 0;
  int section_level_ = 0;
  std::vector<step> steps_{};
  std::shared_ptr<const path> breadcrumbs_{};
};

}  // namespace

chunked_text chunk_prose(markup::markup_format format, std::string_view text, const chunking_options& options) {
  prose_chunker chunker(options);
  const bool has_pages = text.find('\f') != std::string_view::npos;
  std::size_t line = 1;
  std::size_t page = has_pages ? 1 : 0;
  for (std::size_t begin = 0; begin < text.size() && !chunker.is_full(); ++page) {
    const auto end = has_pages ? std::min(text.find('\f', begin), text.size()) : text.size();
    const auto page_text = text.substr(begin, end - begin);
    chunker.set_source(page_text, begin, line, page);
    markup::read(format, page_text, chunker);
    line += static_cast<std::size_t>(std::count(page_text.begin(), page_text.end(), '\n'));
    begin = end + 1;
  }
  return chunker.finish();
}

chunked_text chunk_html(std::string_view html, const chunking_options& options) {
  auto rendered = markup::read_html(html);
  prose_chunker chunker(options);
  chunker.set_source(rendered.text, 0, 1, 0);
  for (auto& block : rendered.pieces)
    if (!chunker.on_piece(std::move(block))) break;
  chunker.set_title(rendered.text_outline.title);
  auto chunked = chunker.finish();
  std::vector<std::pair<std::size_t, std::size_t>> source{{0, 0}};
  markup::line_reader lines(html);
  for (markup::text_line line; lines.read(line);) source.emplace_back(line.begin, line.end);
  for (auto& passage : chunked.passages) {
    passage.first_line = std::min(rendered.first_source_lines[passage.first_line - 1], source.size() - 1);
    passage.last_line = std::min(rendered.last_source_lines[passage.last_line - 1], source.size() - 1);
    passage.begin = source[passage.first_line].first;
    passage.end = source[passage.last_line].second;
  }
  return chunked;
}

namespace {

constexpr std::size_t max_key_depth = 2;
constexpr std::size_t max_key_bytes = 120;
/// Limit in bytes for a quoted field. A longer one is an unclosed quote.
constexpr std::size_t max_field_bytes = 64 * 1024;

/// Splits JSON, even with comments or syntax errors, by scanning for strings, brackets and commas only.
class json_chunker {
 public:
  json_chunker(std::string_view text, const chunking_options& options) : text_(text), packer_(options, true) {}

  chunked_text run() {
    while (position_ < text_.size() && !packer_.is_full()) step();
    add_unit(text_.size());
    return packer_.finish({});
  }

 private:
  void step() {
    const char c = text_[position_];
    if (c == '"') return scan_string();
    if (c == '\n') ++line_;
    ++position_;
    if (c == '{' || c == '[') {
      ++depth_;
      key_.clear();
      add_unit(position_);
    } else if (c == '}' || c == ']') {
      if (depth_ > 0) --depth_;
    } else if (c == ',') {
      add_unit(position_);
      key_.clear();
    } else if (c == ':' && depth_ > 0 && depth_ <= max_key_depth && !key_.empty()) {
      names_.resize(std::min(names_.size(), depth_ - 1));
      names_.push_back(key_);
      breadcrumbs_ = std::make_shared<const path>(names_);
    }
  }

  void scan_string() {
    const auto begin = ++position_;
    while (position_ < text_.size() && text_[position_] != '"') {
      if (text_[position_] == '\\') ++position_;
      if (position_ < text_.size() && text_[position_] == '\n') ++line_;
      ++position_;
    }
    position_ = std::min(position_, text_.size());
    if (depth_ <= max_key_depth) key_ = markup::utf8_prefix(text_.substr(begin, position_ - begin), max_key_bytes);
    if (position_ < text_.size()) ++position_;
  }

  /// Adds the text between the last call and `end` as one unit.
  void add_unit(std::size_t end) {
    auto begin = begin_;
    auto line = first_line_;
    for (; begin < end && ascii::is_space(text_[begin]); ++begin)
      if (text_[begin] == '\n') ++line;
    const auto leading_glue = begin == begin_ ? glue::none : line != first_line_ ? glue::line : glue::space;
    unit member;
    member.source = text_.substr(begin, end - begin);
    while (!member.source.empty() && ascii::is_space(member.source.back())) member.source.remove_suffix(1);
    member.begin = begin;
    member.end = begin + member.source.size();
    member.first_line = line;
    member.last_line = line + static_cast<std::size_t>(std::count(member.source.begin(), member.source.end(), '\n'));
    member.rank = is_outer_ ? ranks::section : ranks::block + static_cast<int>(std::min<std::size_t>(started_depth_, 20));
    member.leading_glue = leading_glue;
    member.breadcrumbs = breadcrumbs_;
    // Begin a new passage with each top-level member, if the current one is large enough. A search then finds members by name.
    if (started_depth_ == 1 && packer_.size() >= packer_.options().target_bytes / 2) packer_.flush();
    if (!member.source.empty()) packer_.add(std::move(member));
    begin_ = end;
    first_line_ = line_;
    started_depth_ = depth_;
    is_outer_ = depth_ == 1;
  }

  std::string_view text_;
  packer packer_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  std::size_t begin_ = 0;
  std::size_t first_line_ = 1;
  std::size_t depth_ = 0;
  std::size_t started_depth_ = 0;
  bool is_outer_ = false;
  std::string key_{};
  path names_{};
  std::shared_ptr<const path> breadcrumbs_{};
};

class row_chunker {
 public:
  row_chunker(std::string_view text, char separator, const chunking_options& options)
      : text_(text), separator_(separator), packer_(options) {}

  chunked_text run() {
    std::size_t line = 1;
    std::shared_ptr<const std::string> header;
    bool is_first = true;
    for (std::size_t position = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0; position < text_.size() && !packer_.is_full();) {
      const auto end = record_end(position);
      unit row;
      row.source = text_.substr(position, end - position);
      const auto lines = static_cast<std::size_t>(std::count(row.source.begin(), row.source.end(), '\n'));
      while (!row.source.empty() && (row.source.back() == '\n' || row.source.back() == '\r')) row.source.remove_suffix(1);
      row.begin = position;
      row.end = position + row.source.size();
      row.first_line = line;
      row.last_line = line + static_cast<std::size_t>(std::count(row.source.begin(), row.source.end(), '\n'));
      row.rank = ranks::line;
      row.leading_glue = glue::line;
      row.is_row = true;
      row.header = header;
      line += lines;
      position = end;
      if (markup::is_blank(row.source)) continue;
      if (is_first && separator_ != 0) header = header_of(row.source, packer_.options());
      is_first = false;
      packer_.add(std::move(row));
    }
    return packer_.finish({});
  }

 private:
  /// The position after the newline that ends the record beginning at `begin`.
  std::size_t record_end(std::size_t begin) noexcept {
    const auto line_end = std::min(text_.find('\n', begin), text_.size() - 1) + 1;
    if (separator_ == 0 || !has_quotes_) return line_end;
    bool is_field_begin = true;
    for (auto next = begin; next < text_.size(); ++next) {
      const char c = text_[next];
      if (c == '\n') return next + 1;
      if (is_field_begin && c == '"') {
        const auto close = closing_quote(next + 1);
        if (close == std::string_view::npos) {
          // The quote is unclosed, so quotes have no meaning in this file. Read it line by line from here on.
          has_quotes_ = false;
          return line_end;
        }
        next = close;
        is_field_begin = false;
        continue;
      }
      is_field_begin = c == separator_;
    }
    return text_.size();
  }

  std::size_t closing_quote(std::size_t begin) const noexcept {
    const auto field = text_.substr(0, std::min(text_.size(), begin + max_field_bytes));
    for (auto quote = field.find('"', begin); quote != std::string_view::npos; quote = field.find('"', quote + 2))
      if (quote + 1 >= field.size() || field[quote + 1] != '"') return quote;
    return std::string_view::npos;
  }

  std::string_view text_;
  char separator_;
  bool has_quotes_ = true;
  packer packer_;
};

}  // namespace

chunked_text chunk_json(std::string_view text, const chunking_options& options) { return json_chunker(text, options).run(); }
chunked_text chunk_rows(std::string_view text, char separator, const chunking_options& options) {
  return row_chunker(text, separator, options).run();
}
chunked_text chunk_records(std::string_view text, const chunking_options& options) {
  return row_chunker(text, 0, options).run();
}

}  // namespace hondana::chunking
