/// Chunkers for prose, HTML, JSON, tables and logs.
#include "search/chunking/chunkers.hpp"

#include <algorithm>

#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::chunking {
namespace {

using markup::part;
using markup::piece;

/// Limit in bytes for one heading in a path. The passage text has the whole heading.
constexpr std::size_t longest_step = 200;

class prose_cutter final : public markup::hearer {
 public:
  explicit prose_cutter(const cutting& by) : packer_(by) {}

  /// Sets the text that the next pieces refer to, and its position in the whole text.
  void at(std::string_view text, std::uint64_t begin, std::size_t line, std::size_t page) noexcept {
    text_ = text;
    begin_ = begin;
    line_ = line;
    page_ = page;
    last_line_ = 0;
  }

  bool take(piece one) override {
    switch (one.what) {
      case part::front_matter:
        if (title_.empty()) title_ = std::move(one.heading);
        break;
      case part::mark:
        break;
      case part::heading:
        heading(std::move(one));
        break;
      case part::prose:
        prose(one);
        break;
      case part::code:
        lines(one);
        break;
      case part::table:
        table(one);
        break;
    }
    return !packer_.is_full();
  }
  void refer(markup::link) override {}
  [[nodiscard]] bool wants_links() const noexcept override { return false; }

  void say_title(std::string title) { title_ = std::move(title); }
  [[nodiscard]] cut finish() { return packer_.finish(title_); }
  [[nodiscard]] bool is_full() const noexcept { return packer_.is_full(); }

 private:
  struct step {
    int level;
    std::string heading;
  };

  unit unit_of(const piece& one, int rank) {
    unit made;
    made.seen = text_.substr(one.begin, one.end - one.begin);
    made.begin = begin_ + one.begin;
    made.end = begin_ + one.end;
    made.first_line = line_ + one.first_line - 1;
    made.last_line = line_ + one.last_line - 1;
    made.rank = rank;
    made.before = last_line_ != 0 && one.first_line == last_line_ + 1 ? glue::line : glue::paragraph;
    made.page = page_;
    made.where = where_;
    last_line_ = one.last_line;
    return made;
  }

  void heading(piece one) {
    if (title_.empty()) title_ = one.heading;
    while (!steps_.empty() && steps_.back().level >= one.level) steps_.pop_back();
    const bool is_below = one.level > section_level_;
    const bool is_sibling = one.level == section_level_ && one.level >= 3;
    packer_.begin_section(is_below || is_sibling ? small_section : 0);
    if (packer_.size() == 0) section_level_ = one.level;
    steps_.push_back({one.level, std::string(markup::front_of(one.heading, longest_step))});
    auto above = std::make_shared<path>();
    above->reserve(steps_.size());
    for (const auto& each : steps_) above->push_back(each.heading);
    where_ = std::move(above);
    auto made = unit_of(one, ranks::section + one.level);
    made.is_heading = true;
    made.own = std::move(one.heading);
    made.before = glue::paragraph;
    packer_.add(std::move(made));
  }

  void prose(const piece& one) {
    auto made = unit_of(one, ranks::block);
    while (!made.seen.empty() && ascii::is_space(made.seen.back())) made.seen.remove_suffix(1);
    made.end = made.begin + made.seen.size();
    // Markdown does not treat a line with, for example, only a vertical tab as blank, but the trimmed text excludes it. So
    // count again.
    made.last_line = made.first_line + static_cast<std::size_t>(std::count(made.seen.begin(), made.seen.end(), '\n'));
    if (markup::trimmed(made.seen).starts_with('<') && made.seen.size() <= packer_.how().wanted) {
      made.own = std::string(markup::trimmed(markup::without_tags(made.seen)));
      if (made.own.empty()) return;
    }
    if (made.text().size() <= packer_.how().wanted / 2) return packer_.add(std::move(made));
    made.own.clear();
    packer_.add_sentences(made.seen, made);
  }

  void lines(const piece& one) {
    if (one.end - one.begin <= packer_.how().wanted / 2) return packer_.add(unit_of(one, ranks::block));
    each_line(one, nullptr, 0);
  }

  void table(const piece& one) {
    if (one.end - one.begin <= packer_.how().wanted / 2) return packer_.add(unit_of(one, ranks::block));
    const auto whole = text_.substr(one.begin, one.end - one.begin);
    const auto first = whole.substr(0, whole.find('\n'));
    each_line(one, header_of(first, packer_.how()), 1);
  }

  /// Adds the piece line by line. From line number `headed` on, lines have `header` above them.
  void each_line(const piece& one, const std::shared_ptr<const std::string>& header, std::size_t headed) {
    markup::line_reader reader(text_.substr(0, one.end), one.begin, one.first_line);
    markup::line next;
    std::size_t count = 0;
    for (; reader.read(next) && !packer_.is_full(); ++count) {
      const auto raw = text_.substr(next.begin, next.end - next.begin);
      if (markup::is_blank(raw)) continue;
      // Skip the rule below a header.
      if (header != nullptr && count == 1 && raw.find_first_not_of("|-: \t=+") == std::string_view::npos) continue;
      auto made = unit_of({one.what, next.begin, next.end, next.number, next.number, 0, {}, {}},
                          count == 0 ? ranks::block : ranks::line);
      made.is_row = one.what == part::table;
      if (made.is_row && count >= headed) made.header = header;
      packer_.add(std::move(made));
    }
    last_line_ = one.last_line;
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
  std::shared_ptr<const path> where_{};
};

}  // namespace

cut cut_prose(markup::format how, std::string_view text, const cutting& by) {
  prose_cutter cutter(by);
  const bool has_pages = text.find('\f') != std::string_view::npos;
  std::size_t line = 1;
  std::size_t page = has_pages ? 1 : 0;
  for (std::size_t begin = 0; begin < text.size() && !cutter.is_full(); ++page) {
    const auto end = has_pages ? std::min(text.find('\f', begin), text.size()) : text.size();
    const auto of_page = text.substr(begin, end - begin);
    cutter.at(of_page, begin, line, page);
    markup::read(how, of_page, cutter);
    line += static_cast<std::size_t>(std::count(of_page.begin(), of_page.end(), '\n'));
    begin = end + 1;
  }
  return cutter.finish();
}

cut cut_html(std::string_view html, const cutting& by) {
  auto shown = markup::read_html(html);
  prose_cutter cutter(by);
  cutter.at(shown.text, 0, 1, 0);
  for (auto& one : shown.pieces)
    if (!cutter.take(std::move(one))) break;
  cutter.say_title(shown.of_text.title);
  auto made = cutter.finish();
  std::vector<std::pair<std::size_t, std::size_t>> source{{0, 0}};
  markup::line_reader lines(html);
  for (markup::line one; lines.read(one);) source.emplace_back(one.begin, one.end);
  for (auto& one : made.passages) {
    one.first_line = std::min(shown.first_source_lines[one.first_line - 1], source.size() - 1);
    one.last_line = std::min(shown.last_source_lines[one.last_line - 1], source.size() - 1);
    one.begin = source[one.first_line].first;
    one.end = source[one.last_line].second;
  }
  return made;
}

namespace {

constexpr std::size_t deepest_named = 2;
constexpr std::size_t longest_key = 120;
/// Limit in bytes for a quoted field. A longer one is an unclosed quote.
constexpr std::size_t longest_field = 64 * 1024;

/// Splits JSON, even with comments or syntax errors, by scanning for strings, brackets and commas only.
class json_cutter {
 public:
  json_cutter(std::string_view text, const cutting& by) : text_(text), packer_(by, true) {}

  cut run() {
    while (at_ < text_.size() && !packer_.is_full()) step();
    give(text_.size());
    return packer_.finish({});
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '"') return string();
    if (c == '\n') ++line_;
    ++at_;
    if (c == '{' || c == '[') {
      ++depth_;
      key_.clear();
      give(at_);
    } else if (c == '}' || c == ']') {
      if (depth_ > 0) --depth_;
    } else if (c == ',') {
      give(at_);
      key_.clear();
    } else if (c == ':' && depth_ > 0 && depth_ <= deepest_named && !key_.empty()) {
      names_.resize(std::min(names_.size(), depth_ - 1));
      names_.push_back(key_);
      where_ = std::make_shared<const path>(names_);
    }
  }

  void string() {
    const auto begin = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      if (text_[at_] == '\\') ++at_;
      if (at_ < text_.size() && text_[at_] == '\n') ++line_;
      ++at_;
    }
    at_ = std::min(at_, text_.size());
    if (depth_ <= deepest_named) key_ = markup::front_of(text_.substr(begin, at_ - begin), longest_key);
    if (at_ < text_.size()) ++at_;
  }

  /// Adds the text between the last call and `end` as one unit.
  void give(std::size_t end) {
    auto begin = begin_;
    auto number = first_line_;
    for (; begin < end && ascii::is_space(text_[begin]); ++begin)
      if (text_[begin] == '\n') ++number;
    const auto before = begin == begin_ ? glue::none : number != first_line_ ? glue::line : glue::space;
    unit made;
    made.seen = text_.substr(begin, end - begin);
    while (!made.seen.empty() && ascii::is_space(made.seen.back())) made.seen.remove_suffix(1);
    made.begin = begin;
    made.end = begin + made.seen.size();
    made.first_line = number;
    made.last_line = number + static_cast<std::size_t>(std::count(made.seen.begin(), made.seen.end(), '\n'));
    made.rank = is_outer_ ? ranks::section : ranks::block + static_cast<int>(std::min<std::size_t>(started_depth_, 20));
    made.before = before;
    made.where = where_;
    // Begin a new passage with each top-level member, if the current one is large enough. A search then finds members by name.
    if (started_depth_ == 1 && packer_.size() >= packer_.how().wanted / 2) packer_.flush();
    if (!made.seen.empty()) packer_.add(std::move(made));
    begin_ = end;
    first_line_ = line_;
    started_depth_ = depth_;
    is_outer_ = depth_ == 1;
  }

  std::string_view text_;
  packer packer_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t begin_ = 0;
  std::size_t first_line_ = 1;
  std::size_t depth_ = 0;
  std::size_t started_depth_ = 0;
  bool is_outer_ = false;
  std::string key_{};
  path names_{};
  std::shared_ptr<const path> where_{};
};

class row_cutter {
 public:
  row_cutter(std::string_view text, char separator, const cutting& by) : text_(text), separator_(separator), packer_(by) {}

  cut run() {
    std::size_t line = 1;
    std::shared_ptr<const std::string> header;
    bool is_first = true;
    for (std::size_t at = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0; at < text_.size() && !packer_.is_full();) {
      const auto end = record_end(at);
      unit made;
      made.seen = text_.substr(at, end - at);
      const auto lines = static_cast<std::size_t>(std::count(made.seen.begin(), made.seen.end(), '\n'));
      while (!made.seen.empty() && (made.seen.back() == '\n' || made.seen.back() == '\r')) made.seen.remove_suffix(1);
      made.begin = at;
      made.end = at + made.seen.size();
      made.first_line = line;
      made.last_line = line + static_cast<std::size_t>(std::count(made.seen.begin(), made.seen.end(), '\n'));
      made.rank = ranks::line;
      made.before = glue::line;
      made.is_row = true;
      made.header = header;
      line += lines;
      at = end;
      if (markup::is_blank(made.seen)) continue;
      if (is_first && separator_ != 0) header = header_of(made.seen, packer_.how());
      is_first = false;
      packer_.add(std::move(made));
    }
    return packer_.finish({});
  }

 private:
  /// The position after the newline that ends the record beginning at `at`.
  std::size_t record_end(std::size_t at) noexcept {
    const auto line_end = std::min(text_.find('\n', at), text_.size() - 1) + 1;
    if (separator_ == 0 || !has_quotes_) return line_end;
    bool is_field_begin = true;
    for (auto next = at; next < text_.size(); ++next) {
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

  std::size_t closing_quote(std::size_t at) const noexcept {
    const auto within = text_.substr(0, std::min(text_.size(), at + longest_field));
    for (auto found = within.find('"', at); found != std::string_view::npos; found = within.find('"', found + 2))
      if (found + 1 >= within.size() || within[found + 1] != '"') return found;
    return std::string_view::npos;
  }

  std::string_view text_;
  char separator_;
  bool has_quotes_ = true;
  packer packer_;
};

}  // namespace

cut cut_json(std::string_view text, const cutting& by) { return json_cutter(text, by).run(); }
cut cut_rows(std::string_view text, char separator, const cutting& by) { return row_cutter(text, separator, by).run(); }
cut cut_records(std::string_view text, const cutting& by) { return row_cutter(text, 0, by).run(); }

}  // namespace hondana::chunking
