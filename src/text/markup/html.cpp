/// Reads HTML as browsers show it, in one pass.
#include "text/markup/html.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/characters.hpp"
#include "text/markup/building.hpp"
#include "text/markup/html_writer.hpp"
#include "text/markup/lines.hpp"
#include "text/markup/tags.hpp"

namespace hondana::markup {
namespace {

using names = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view name, names all) noexcept { return std::find(all.begin(), all.end(), name) != all.end(); }

bool is_raw(std::string_view name) noexcept {
  return is_one_of(name, {"script", "style", "textarea", "title", "iframe", "noembed", "noframes", "xmp"});
}
bool is_void(std::string_view name) noexcept {
  return is_one_of(name,
                   {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"});
}
bool is_dropped(std::string_view name) noexcept {
  return is_one_of(name, {"template", "noscript", "svg", "math", "object", "canvas", "audio", "video", "select", "datalist"});
}
bool is_block(std::string_view name) noexcept {
  return is_one_of(name,
                   {"address", "article", "aside",  "blockquote", "body",       "center", "dd",      "details", "dialog",
                    "div",     "dl",      "dt",     "fieldset",   "figcaption", "figure", "footer",  "form",    "header",
                    "hr",      "html",    "legend", "main",       "nav",        "p",      "section", "summary", "caption"});
}

int heading_level(std::string_view name) noexcept {
  return name.size() == 2 && name[0] == 'h' && name[1] >= '1' && name[1] <= '6' ? name[1] - '0' : 0;
}

bool is_hidden(const tag& one) {
  if (one.find("hidden") != nullptr) return true;
  if (const auto* style = one.find("style")) {
    std::string plain;
    for (const char c : *style)
      if (!ascii::is_space(c)) plain += ascii::lower(c);
    if (plain.find("display:none") != std::string::npos || plain.find("visibility:hidden") != std::string::npos) return true;
  }
  // The sign at the end of a heading that links to itself.
  const auto* classes = one.find("class");
  return one.name == "a" && classes != nullptr && classes->find("headerlink") != std::string::npos;
}

class html_reader {
 public:
  explicit html_reader(std::string_view html) : html_(html) {}

  html_text read() {
    while (at_ < html_.size()) {
      const auto open = std::min(html_.find('<', at_), html_.size());
      text(open);
      if (open == html_.size()) break;
      markup();
    }
    auto made = writer_.finish(html_.size(), lines_in(html_));
    if (!title_.empty()) made.of_text.title = made.of_source.title = title_;
    made.language = std::move(language_);
    return made;
  }

 private:
  /// All up to `end` is text.
  void text(std::size_t end) {
    if (dropped_.empty() && end > at_) {
      if (!is_blank(html_.substr(at_, end - at_))) section_id_.clear();
      writer_.text(html_.substr(at_, end - at_));
    }
    move(end);
  }
  void move(std::size_t to) {
    const auto passed = html_.substr(at_, to - at_);
    // The writer has counted the lines of what it was given to show.
    line_ += static_cast<std::size_t>(std::count(passed.begin(), passed.end(), '\n'));
    writer_.at_source(to, line_);
    at_ = to;
  }

  /// Behind the next `mark`, or at the end.
  std::size_t behind(std::string_view mark, std::size_t from) const noexcept {
    const auto found = html_.find(mark, from);
    return found == std::string_view::npos ? html_.size() : found + mark.size();
  }

  void markup() {
    const auto rest = html_.substr(at_, 9);
    if (rest.starts_with("<!--")) return move(behind("-->", std::min(at_ + 4, html_.size())));
    if (rest.starts_with("<![CDATA[")) return move(behind("]]>", at_ + 9));
    if (rest.starts_with("<!") || rest.starts_with("<?")) return move(behind(">", at_));
    tag one;
    if (!read_tag(html_, at_, one)) return text(at_ + 1);
    if (!dropped_.empty())
      in_dropped(one);
    else if (one.is_end)
      end(one);
    else
      begin(one);
    move(std::max(one.end, skip_to_));
    skip_to_ = 0;
  }

  void in_dropped(const tag& one) {
    if (!one.is_end && is_raw(one.name)) skip_to_ = end_of_raw(one);
    if (dropped_ == "p" && !one.is_end && is_block(one.name)) {
      dropped_.clear();
      return begin(one);
    }
    if (one.name != dropped_ || one.is_self_closed) return;
    depth_ += one.is_end ? -1 : 1;
    if (depth_ == 0) dropped_.clear();
  }

  /// Where the end tag of an element stands that has no markup in it.
  std::size_t end_of_raw(const tag& one) const noexcept {
    for (auto at = html_.find("</", one.end); at != std::string_view::npos; at = html_.find("</", at + 2))
      if (ascii::begins_with(html_.substr(at + 2), one.name)) return at;
    return html_.size();
  }

  void begin(const tag& one) {
    if (one.name == "html") {
      if (const auto* language = one.find("lang"); language != nullptr && language->size() <= 64) language_ = *language;
    }
    if (is_raw(one.name)) {
      skip_to_ = end_of_raw(one);
      const auto inside =
          html_.substr(one.end, std::min<std::size_t>(skip_to_ - std::min(one.end, skip_to_), 4 * longest_heading));
      if (one.name == "title" && title_.empty()) title_ = html_writer::line_of(inside);
      return;
    }
    if (!is_void(one.name) && !one.is_self_closed &&
        (is_dropped(one.name) || (one.name != "body" && one.name != "html" && is_hidden(one)))) {
      dropped_ = one.name;
      depth_ = 1;
      return;
    }
    if (const auto* id = one.find("id"); id != nullptr && !id->empty() && id->size() <= longest_heading) {
      if (one.name == "section" || one.name == "div" || one.name == "article" || one.name == "a" || one.name == "span")
        section_id_ = *id;
    }
    if (const int level = heading_level(one.name); level != 0) {
      const auto* id = one.find("id");
      writer_.begin_heading(level, id == nullptr ? section_id_ : *id);
      section_id_.clear();
    } else if (one.name == "a") {
      if (const auto* target = one.find("href")) writer_.begin_link(*target);
    } else if (one.name == "img") {
      const auto* target = one.find("src");
      const auto* alternative = one.find("alt");
      writer_.picture(target == nullptr ? std::string() : *target, alternative == nullptr ? std::string() : *alternative);
    } else if (one.name == "br") {
      writer_.break_line(1);
    } else if (one.name == "pre") {
      writer_.begin_raw();
    } else if (one.name == "ul" || one.name == "ol" || one.name == "menu") {
      writer_.begin_list();
    } else if (one.name == "li") {
      writer_.item();
    } else if (one.name == "table") {
      writer_.begin_table();
    } else if (one.name == "tr") {
      writer_.row();
    } else if (one.name == "td" || one.name == "th") {
      writer_.cell();
    } else if (is_block(one.name)) {
      writer_.break_line(one.name == "dt" || one.name == "dd" ? 1 : 2);
    }
  }

  void end(const tag& one) {
    if (heading_level(one.name) != 0) {
      writer_.end_heading();
    } else if (one.name == "a") {
      writer_.end_link();
    } else if (one.name == "pre") {
      writer_.end_raw();
    } else if (one.name == "ul" || one.name == "ol" || one.name == "menu") {
      writer_.end_list();
    } else if (one.name == "table") {
      writer_.end_table();
    } else if (one.name == "li") {
      writer_.break_line(1);
    } else if (is_block(one.name)) {
      writer_.break_line(one.name == "dt" || one.name == "dd" ? 1 : 2);
    }
  }

  std::string_view html_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t skip_to_ = 0;
  std::string dropped_{};  ///< The element that is passed over; empty: none.
  int depth_ = 0;
  std::string section_id_{};
  std::string title_{};
  std::string language_{};
  html_writer writer_{};
};

}  // namespace

html_text read_html(std::string_view html) { return html_reader(html).read(); }

outline outline_of_html(std::string_view html) { return read_html(html).of_source; }

rendered text_of_html(std::string_view html) {
  auto made = read_html(html);
  return {std::move(made.text), std::move(made.of_text), std::move(made.first_source_lines), std::move(made.language)};
}

}  // namespace hondana::markup
