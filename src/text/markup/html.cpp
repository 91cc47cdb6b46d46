/// Reads HTML as text, with its tags, entities and outline.
#include "text/markup/html.hpp"

#include <algorithm>
#include <array>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html_writer.hpp"
#include "text/markup/pieces.hpp"

namespace hondana::markup {
namespace {

struct entity {
  std::string_view name;
  char32_t point;
};
/// Sorted by name: all entities of HTML 4, and some common ones of HTML 5.
constexpr std::array<entity, 286> entities{
    {{"AElig", 0xc6},     {"Aacute", 0xc1},   {"Acirc", 0xc2},    {"Agrave", 0xc0},    {"Alpha", 0x391},   {"Aring", 0xc5},
     {"Atilde", 0xc3},    {"Auml", 0xc4},     {"Beta", 0x392},    {"Ccedil", 0xc7},    {"Chi", 0x3a7},     {"Dagger", 0x2021},
     {"Delta", 0x394},    {"ETH", 0xd0},      {"Eacute", 0xc9},   {"Ecirc", 0xca},     {"Egrave", 0xc8},   {"Epsilon", 0x395},
     {"Eta", 0x397},      {"Euml", 0xcb},     {"Gamma", 0x393},   {"Iacute", 0xcd},    {"Icirc", 0xce},    {"Igrave", 0xcc},
     {"Iota", 0x399},     {"Iuml", 0xcf},     {"Kappa", 0x39a},   {"Lambda", 0x39b},   {"Mu", 0x39c},      {"NewLine", 0xa},
     {"Ntilde", 0xd1},    {"Nu", 0x39d},      {"OElig", 0x152},   {"Oacute", 0xd3},    {"Ocirc", 0xd4},    {"Ograve", 0xd2},
     {"Omega", 0x3a9},    {"Omicron", 0x39f}, {"Oslash", 0xd8},   {"Otilde", 0xd5},    {"Ouml", 0xd6},     {"Phi", 0x3a6},
     {"Pi", 0x3a0},       {"Prime", 0x2033},  {"Psi", 0x3a8},     {"Rho", 0x3a1},      {"Scaron", 0x160},  {"Sigma", 0x3a3},
     {"THORN", 0xde},     {"Tab", 0x9},       {"Tau", 0x3a4},     {"Theta", 0x398},    {"Uacute", 0xda},   {"Ucirc", 0xdb},
     {"Ugrave", 0xd9},    {"Upsilon", 0x3a5}, {"Uuml", 0xdc},     {"Xi", 0x39e},       {"Yacute", 0xdd},   {"Yuml", 0x178},
     {"Zeta", 0x396},     {"aacute", 0xe1},   {"acirc", 0xe2},    {"acute", 0xb4},     {"aelig", 0xe6},    {"agrave", 0xe0},
     {"alefsym", 0x2135}, {"alpha", 0x3b1},   {"amp", 0x26},      {"and", 0x2227},     {"ang", 0x2220},    {"apos", 0x27},
     {"aring", 0xe5},     {"ast", 0x2a},      {"asymp", 0x2248},  {"atilde", 0xe3},    {"auml", 0xe4},     {"bdquo", 0x201e},
     {"beta", 0x3b2},     {"brvbar", 0xa6},   {"bsol", 0x5c},     {"bull", 0x2022},    {"cap", 0x2229},    {"ccedil", 0xe7},
     {"cedil", 0xb8},     {"cent", 0xa2},     {"check", 0x2713},  {"chi", 0x3c7},      {"circ", 0x2c6},    {"clubs", 0x2663},
     {"colon", 0x3a},     {"comma", 0x2c},    {"commat", 0x40},   {"cong", 0x2245},    {"copy", 0xa9},     {"crarr", 0x21b5},
     {"cup", 0x222a},     {"curren", 0xa4},   {"dArr", 0x21d3},   {"dagger", 0x2020},  {"darr", 0x2193},   {"deg", 0xb0},
     {"delta", 0x3b4},    {"diams", 0x2666},  {"divide", 0xf7},   {"dollar", 0x24},    {"eacute", 0xe9},   {"ecirc", 0xea},
     {"egrave", 0xe8},    {"empty", 0x2205},  {"emsp", 0x2003},   {"ensp", 0x2002},    {"epsilon", 0x3b5}, {"equals", 0x3d},
     {"equiv", 0x2261},   {"eta", 0x3b7},     {"eth", 0xf0},      {"euml", 0xeb},      {"euro", 0x20ac},   {"excl", 0x21},
     {"exist", 0x2203},   {"fnof", 0x192},    {"forall", 0x2200}, {"frac12", 0xbd},    {"frac14", 0xbc},   {"frac34", 0xbe},
     {"frasl", 0x2044},   {"gamma", 0x3b3},   {"ge", 0x2265},     {"grave", 0x60},     {"gt", 0x3e},       {"hArr", 0x21d4},
     {"harr", 0x2194},    {"hearts", 0x2665}, {"hellip", 0x2026}, {"horbar", 0x2015},  {"hyphen", 0x2010}, {"iacute", 0xed},
     {"icirc", 0xee},     {"iexcl", 0xa1},    {"igrave", 0xec},   {"image", 0x2111},   {"infin", 0x221e},  {"int", 0x222b},
     {"iota", 0x3b9},     {"iquest", 0xbf},   {"isin", 0x2208},   {"iuml", 0xef},      {"kappa", 0x3ba},   {"lArr", 0x21d0},
     {"lambda", 0x3bb},   {"lang", 0x2329},   {"laquo", 0xab},    {"larr", 0x2190},    {"lbrace", 0x7b},   {"lbrack", 0x5b},
     {"lceil", 0x2308},   {"ldquo", 0x201c},  {"le", 0x2264},     {"lfloor", 0x230a},  {"lowast", 0x2217}, {"lowbar", 0x5f},
     {"loz", 0x25ca},     {"lpar", 0x28},     {"lrm", 0x200e},    {"lsaquo", 0x2039},  {"lsquo", 0x2018},  {"lt", 0x3c},
     {"macr", 0xaf},      {"mdash", 0x2014},  {"micro", 0xb5},    {"middot", 0xb7},    {"minus", 0x2212},  {"mu", 0x3bc},
     {"nabla", 0x2207},   {"nbsp", 0xa0},     {"ndash", 0x2013},  {"ne", 0x2260},      {"ni", 0x220b},     {"not", 0xac},
     {"notin", 0x2209},   {"nsub", 0x2284},   {"ntilde", 0xf1},   {"nu", 0x3bd},       {"num", 0x23},      {"oacute", 0xf3},
     {"ocirc", 0xf4},     {"oelig", 0x153},   {"ograve", 0xf2},   {"oline", 0x203e},   {"omega", 0x3c9},   {"omicron", 0x3bf},
     {"oplus", 0x2295},   {"or", 0x2228},     {"ordf", 0xaa},     {"ordm", 0xba},      {"oslash", 0xf8},   {"otilde", 0xf5},
     {"otimes", 0x2297},  {"ouml", 0xf6},     {"para", 0xb6},     {"part", 0x2202},    {"percnt", 0x25},   {"period", 0x2e},
     {"permil", 0x2030},  {"perp", 0x22a5},   {"phi", 0x3c6},     {"phone", 0x260e},   {"pi", 0x3c0},      {"piv", 0x3d6},
     {"plus", 0x2b},      {"plusmn", 0xb1},   {"pound", 0xa3},    {"prime", 0x2032},   {"prod", 0x220f},   {"prop", 0x221d},
     {"psi", 0x3c8},      {"quest", 0x3f},    {"quot", 0x22},     {"rArr", 0x21d2},    {"radic", 0x221a},  {"rang", 0x232a},
     {"raquo", 0xbb},     {"rarr", 0x2192},   {"rbrace", 0x7d},   {"rbrack", 0x5d},    {"rceil", 0x2309},  {"rdquo", 0x201d},
     {"real", 0x211c},    {"reg", 0xae},      {"rfloor", 0x230b}, {"rho", 0x3c1},      {"rlm", 0x200f},    {"rpar", 0x29},
     {"rsaquo", 0x203a},  {"rsquo", 0x2019},  {"sbquo", 0x201a},  {"scaron", 0x161},   {"sdot", 0x22c5},   {"sect", 0xa7},
     {"semi", 0x3b},      {"shy", 0xad},      {"sigma", 0x3c3},   {"sigmaf", 0x3c2},   {"sim", 0x223c},    {"sol", 0x2f},
     {"spades", 0x2660},  {"star", 0x2606},   {"starf", 0x2605},  {"sub", 0x2282},     {"sube", 0x2286},   {"sum", 0x2211},
     {"sup", 0x2283},     {"sup1", 0xb9},     {"sup2", 0xb2},     {"sup3", 0xb3},      {"supe", 0x2287},   {"szlig", 0xdf},
     {"tau", 0x3c4},      {"there4", 0x2234}, {"theta", 0x3b8},   {"thetasym", 0x3d1}, {"thinsp", 0x2009}, {"thorn", 0xfe},
     {"tilde", 0x2dc},    {"times", 0xd7},    {"trade", 0x2122},  {"uArr", 0x21d1},    {"uacute", 0xfa},   {"uarr", 0x2191},
     {"ucirc", 0xfb},     {"ugrave", 0xf9},   {"uml", 0xa8},      {"upsih", 0x3d2},    {"upsilon", 0x3c5}, {"uuml", 0xfc},
     {"verbar", 0x7c},    {"vert", 0x7c},     {"weierp", 0x2118}, {"xi", 0x3be},       {"yacute", 0xfd},   {"yen", 0xa5},
     {"yuml", 0xff},      {"zeta", 0x3b6},    {"zwj", 0x200d},    {"zwnj", 0x200c}}};
constexpr std::size_t longest_name = 10;
static_assert(std::is_sorted(entities.begin(), entities.end(),
                             [](const entity& a, const entity& b) { return a.name < b.name; }));

/// The replacement that browsers use for a numeric entity that is not a text character.
char32_t shown(char32_t point) noexcept {
  if (point == 0 || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return 0xFFFD;
  if (point == '\n' || point == '\t') return point;
  if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return U' ';
  return point;
}

std::size_t numeric(std::string_view text, std::size_t at, std::string& out) {
  const auto begin = at;
  at += 2;
  const bool is_hexadecimal = at < text.size() && (text[at] == 'x' || text[at] == 'X');
  if (is_hexadecimal) ++at;
  char32_t point = 0;
  std::size_t digits = 0;
  for (; at < text.size() && digits < 10; ++at, ++digits) {
    const char c = text[at];
    const char low = static_cast<char>(c | 0x20);
    const bool is_letter = is_hexadecimal && low >= 'a' && low <= 'f';
    if (!ascii::is_digit(c) && !is_letter) break;
    const auto digit = static_cast<char32_t>(ascii::is_digit(c) ? c - '0' : low - 'a' + 10);
    if (point <= 0x10FFFF) point = point * (is_hexadecimal ? 16 : 10) + digit;
  }
  if (digits == 0) return 0;
  if (at < text.size() && text[at] == ';') ++at;
  append_character(out, shown(point));
  return at - begin;
}

}  // namespace

std::size_t decode_entity(std::string_view text, std::size_t at, std::string& out) {
  if (at + 2 >= text.size()) return 0;
  if (text[at + 1] == '#') return numeric(text, at, out);
  const auto end = text.substr(at + 1, longest_name + 1).find(';');
  if (end == std::string_view::npos || end == 0) return 0;
  const auto name = text.substr(at + 1, end);
  const auto* const found =
      std::lower_bound(entities.begin(), entities.end(), name, [](const entity& a, std::string_view b) { return a.name < b; });
  if (found == entities.end() || found->name != name) return 0;
  append_character(out, found->point);
  return end + 2;
}

std::string decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto and_sign = std::min(text.find('&', at), text.size());
    out.append(text.substr(at, and_sign - at));
    at = and_sign;
    if (at == text.size()) break;
    const auto taken = decode_entity(text, at, out);
    if (taken == 0) out += '&';
    at += std::max<std::size_t>(taken, 1);
  }
  return out;
}

namespace {

constexpr std::size_t longest_tag = 64 * 1024;
constexpr std::size_t most_of_a_tag = 64;

std::size_t pass_spaces(std::string_view text, std::size_t at) noexcept {
  while (at < text.size() && ascii::is_space(text[at])) ++at;
  return at;
}

/// Reads the value after a `=`, and moves `at` past it. Returns false if the closing quote is missing.
bool read_value(std::string_view text, std::size_t& at, std::string_view& into) noexcept {
  at = pass_spaces(text, at);
  if (at >= text.size()) return false;
  const char quote = text[at];
  if (quote == '"' || quote == '\'') {
    const auto end = text.find(quote, at + 1);
    if (end == std::string_view::npos) return false;
    into = text.substr(at + 1, end - at - 1);
    at = end + 1;
    return true;
  }
  const auto begin = at;
  while (at < text.size() && !ascii::is_space(text[at]) && text[at] != '>' && text[at] != '<') ++at;
  into = text.substr(begin, at - begin);
  return true;
}

}  // namespace

const std::string* tag::find(std::string_view attribute) const noexcept {
  const auto found =
      std::find_if(attributes.begin(), attributes.end(), [attribute](const auto& one) { return one.first == attribute; });
  return found == attributes.end() ? nullptr : &found->second;
}

bool read_tag(std::string_view text, std::size_t at, tag& into) {
  text = text.substr(0, std::min(text.size(), at + longest_tag));
  into = {};
  ++at;
  if (at < text.size() && text[at] == '/') {
    into.is_end = true;
    ++at;
  }
  if (at >= text.size() || !ascii::is_letter(text[at])) return false;
  auto begin = at;
  while (at < text.size() && !ascii::is_space(text[at]) && text[at] != '>' && text[at] != '/' && text[at] != '<') ++at;
  if (at - begin > 64) return false;
  into.name = ascii::in_lower_case(text.substr(begin, at - begin));
  while (true) {
    at = pass_spaces(text, at);
    if (at >= text.size() || text[at] == '<') return false;
    if (text[at] == '>') break;
    if (text[at] == '/') {
      ++at;
      into.is_self_closed = at < text.size() && text[at] == '>';
      continue;
    }
    begin = at++;
    while (at < text.size() && !ascii::is_space(text[at]) && text[at] != '>' && text[at] != '/' && text[at] != '=' &&
           text[at] != '<')
      ++at;
    const auto name = text.substr(begin, at - begin);
    std::string_view value;
    const auto equals = pass_spaces(text, at);
    if (equals < text.size() && text[equals] == '=') {
      at = equals + 1;
      if (!read_value(text, at, value)) return false;
    }
    if (into.attributes.size() < most_of_a_tag) into.attributes.emplace_back(ascii::in_lower_case(name), decoded(value));
  }
  into.end = at + 1;
  return true;
}

std::string without_tags(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  tag one;
  // Each unterminated tag causes a scan to the end of the text, so limit the number.
  std::size_t tries = 64;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '<' || tries == 0) {
      out += text[at++];
      continue;
    }
    if (text.substr(at).starts_with("<!--")) {
      const auto end = text.find("-->", at + 4);
      if (end != std::string_view::npos) {
        at = end + 3;
        continue;
      }
      tries = 0;
    } else if (read_tag(text, at, one)) {
      at = one.end;
      continue;
    } else {
      --tries;
    }
    out += text[at++];
  }
  return out;
}

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
  /// Writes everything up to `end` as text.
  void text(std::size_t end) {
    if (dropped_.empty() && end > at_) {
      if (!is_blank(html_.substr(at_, end - at_))) section_id_.clear();
      writer_.text(html_.substr(at_, end - at_));
    }
    move(end);
  }
  void move(std::size_t to) {
    const auto passed = html_.substr(at_, to - at_);
    // The writer counts only the lines of the text that it shows, so set its position in the source.
    line_ += static_cast<std::size_t>(std::count(passed.begin(), passed.end(), '\n'));
    writer_.at_source(to, line_);
    at_ = to;
  }

  /// The position after the next `mark`, or the end of the text.
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

  /// The position of the end tag of an element with raw content.
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
  std::string dropped_{};  ///< The element whose content is skipped; empty: none.
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
