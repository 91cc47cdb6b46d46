/// JSON by its members, tables by their rows, logs and such by their lines.
#include <algorithm>

#include "search/chunking/cutters.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/lines.hpp"

namespace hondana::chunking {
namespace {

constexpr std::size_t deepest_named = 2;
constexpr std::size_t longest_key = 120;
/// A quoted field that is longer is none: its quote was never closed.
constexpr std::size_t longest_field = 64 * 1024;

/// Reads JSON, with comments or broken, as rows of strings, brackets and commas.
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

  /// What stands before `end` and has not been given yet.
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
    // What has a name is found by it: a large member begins a passage.
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
  /// Behind the line feed that ends the record which begins at `at`.
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
          // Nobody closes it, so quotes mean nothing in this file: it is read line by line from here on.
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
