/// Code line by line: indentation, blank lines and names tell where it is best cut.
#include <algorithm>
#include <utility>

#include "search/chunking/cutters.hpp"
#include "search/chunking/declarations.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/lines.hpp"

namespace hondana::chunking {
namespace {

constexpr std::size_t longest_name = 120;
constexpr std::size_t deepest_path = 8;

class code_cutter {
 public:
  code_cutter(family how, std::string_view text, const cutting& by) : how_(how), text_(text), packer_(by, true) {}

  cut run() {
    markup::line_reader lines(text_, text_.starts_with("\xEF\xBB\xBF") ? 3 : 0);
    for (markup::line one; !packer_.is_full() && lines.read(one);) take(one);
    return packer_.finish({});
  }

 private:
  void take(const markup::line& one) {
    auto raw = text_.substr(one.begin, one.end - one.begin);
    while (!raw.empty() && ascii::is_space(raw.back())) raw.remove_suffix(1);
    if (raw.empty()) {
      has_blank_ = true;
      return;
    }
    std::size_t columns = 0;
    std::size_t bytes = 0;
    for (; bytes < raw.size() && (raw[bytes] == ' ' || raw[bytes] == '\t'); ++bytes) columns += raw[bytes] == '\t' ? 4 : 1;
    const auto content = raw.substr(bytes);
    const bool is_close = is_closing(content);
    const auto name = declared_in(how_, content, columns == 0);
    const bool is_free = has_blank_ || was_closed_ || (!name.empty() && !is_attached_);
    const bool is_section = columns == 0 && !is_close && is_free;
    note(name, columns, content, is_close);
    // What is declared begins with the comments before it.
    if (is_section && packer_.size() >= packer_.how().wanted / 2) packer_.flush();

    unit made;
    made.seen = raw;
    made.begin = one.begin;
    made.end = one.begin + raw.size();
    made.first_line = made.last_line = one.number;
    const int depth = static_cast<int>(std::min<std::size_t>(columns / 2, 8));
    made.rank = is_close     ? ranks::line + 9
                : is_section ? ranks::section
                : is_free    ? ranks::block + 2 * depth
                             : ranks::line + depth;
    made.before = has_blank_ ? glue::paragraph : glue::line;
    made.where = where_;
    packer_.add(std::move(made));

    has_blank_ = false;
    was_closed_ = is_close && columns == 0 && content.front() != '{' && !content.starts_with("else");
    is_attached_ = is_attachment(content);
  }

  /// A comment, an attribute or a decorator: it belongs to the next line.
  static bool is_attachment(std::string_view content) noexcept {
    const auto begins = [content](std::string_view mark) { return content.starts_with(mark); };
    return begins("//") || begins("/*") || begins("*") || begins("#[") || begins("@") || begins("--") || begins(";;") ||
           begins("# ") || begins("[[") || begins("template");
  }

  void note(std::string_view name, std::size_t columns, std::string_view content, bool is_close) {
    const bool is_beside = content.front() == '#' || is_attachment(content) || content.ends_with(':');
    const auto before = names_.size();
    while (!names_.empty() && !is_close && (!name.empty() || !is_beside || has_blank_) && names_.back().first >= columns)
      names_.pop_back();
    if (!name.empty() && names_.size() < deepest_path)
      names_.emplace_back(columns, std::string(markup::front_of(name, longest_name)));
    if (where_ != nullptr && before == names_.size() && name.empty()) return;
    auto made = std::make_shared<path>();
    made->reserve(names_.size());
    for (const auto& one : names_) made->push_back(one.second);
    where_ = std::move(made);
  }

  family how_;
  std::string_view text_;
  packer packer_;
  bool has_blank_ = false;
  bool was_closed_ = false;
  bool is_attached_ = false;
  std::vector<std::pair<std::size_t, std::string>> names_{};
  std::shared_ptr<const path> where_{};
};

}  // namespace

cut cut_code(family how, std::string_view text, const cutting& by) { return code_cutter(how, text, by).run(); }

}  // namespace hondana::chunking
