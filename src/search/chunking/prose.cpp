/// Prose: by headings, then by paragraphs and sentences; pages and rows of tables by themselves.
#include <algorithm>

#include "search/chunking/cutters.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"
#include "text/markup/lines.hpp"
#include "text/markup/pieces.hpp"
#include "text/markup/tags.hpp"

namespace hondana::chunking {
namespace {

using markup::part;
using markup::piece;

/// Headings in a path are cut there; the whole one is in the text.
constexpr std::size_t longest_step = 200;

class prose_cutter final : public markup::hearer {
 public:
  explicit prose_cutter(const cutting& by) : packer_(by) {}

  /// The text of the pieces that follow, and where it stands in the whole.
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
    // A vertical tab, say, is no blank line for Markdown, and is none of the text.
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

  /// From the line `headed` on they have a header above them.
  void each_line(const piece& one, const std::shared_ptr<const std::string>& header, std::size_t headed) {
    markup::line_reader reader(text_.substr(0, one.end), one.begin, one.first_line);
    markup::line next;
    std::size_t count = 0;
    for (; reader.read(next) && !packer_.is_full(); ++count) {
      const auto raw = text_.substr(next.begin, next.end - next.begin);
      if (markup::is_blank(raw)) continue;
      // The rule below a header says nothing.
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

}  // namespace hondana::chunking
