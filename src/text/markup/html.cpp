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
constexpr std::size_t max_entity_name_bytes = 10;
static_assert(std::is_sorted(entities.begin(), entities.end(),
                             [](const entity& a, const entity& b) { return a.name < b.name; }));

/// The replacement that browsers use for a numeric entity that is not a text character.
char32_t to_text_point(char32_t point) noexcept {
  if (point == 0 || point > 0x10FFFF || (point >= 0xD800 && point < 0xE000)) return 0xFFFD;
  if (point == '\n' || point == '\t') return point;
  if (point < 0x20 || (point >= 0x7F && point < 0xA0)) return U' ';
  return point;
}

std::size_t decode_numeric_entity(std::string_view text, std::size_t position, std::string& out) {
  const auto begin = position;
  position += 2;
  const bool is_hexadecimal = position < text.size() && (text[position] == 'x' || text[position] == 'X');
  if (is_hexadecimal) ++position;
  char32_t point = 0;
  std::size_t digits = 0;
  for (; position < text.size() && digits < 10; ++position, ++digits) {
    const char c = text[position];
    const char lower = static_cast<char>(c | 0x20);
    const bool is_letter = is_hexadecimal && lower >= 'a' && lower <= 'f';
    if (!ascii::is_digit(c) && !is_letter) break;
    const auto digit = static_cast<char32_t>(ascii::is_digit(c) ? c - '0' : lower - 'a' + 10);
    if (point <= 0x10FFFF) point = point * (is_hexadecimal ? 16 : 10) + digit;
  }
  if (digits == 0) return 0;
  if (position < text.size() && text[position] == ';') ++position;
  append_utf8(out, to_text_point(point));
  return position - begin;
}

}  // namespace

std::size_t decode_entity(std::string_view text, std::size_t position, std::string& out) {
  if (position + 2 >= text.size()) return 0;
  if (text[position + 1] == '#') return decode_numeric_entity(text, position, out);
  const auto end = text.substr(position + 1, max_entity_name_bytes + 1).find(';');
  if (end == std::string_view::npos || end == 0) return 0;
  const auto name = text.substr(position + 1, end);
  const auto* const match =
      std::lower_bound(entities.begin(), entities.end(), name, [](const entity& a, std::string_view b) { return a.name < b; });
  if (match == entities.end() || match->name != name) return 0;
  append_utf8(out, match->point);
  return end + 2;
}

std::string decode_entities(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const auto ampersand = std::min(text.find('&', position), text.size());
    out.append(text.substr(position, ampersand - position));
    position = ampersand;
    if (position == text.size()) break;
    const auto consumed = decode_entity(text, position, out);
    if (consumed == 0) out += '&';
    position += std::max<std::size_t>(consumed, 1);
  }
  return out;
}

namespace {

constexpr std::size_t max_tag_bytes = 64 * 1024;
constexpr std::size_t max_tag_attributes = 64;

std::size_t skip_html_spaces(std::string_view text, std::size_t position) noexcept {
  while (position < text.size() && ascii::is_space(text[position])) ++position;
  return position;
}

/// Reads the value after a `=`, and moves `position` past it. Returns false if the closing quote is missing.
bool read_attribute_value(std::string_view text, std::size_t& position, std::string_view& value) noexcept {
  position = skip_html_spaces(text, position);
  if (position >= text.size()) return false;
  const char quote = text[position];
  if (quote == '"' || quote == '\'') {
    const auto end = text.find(quote, position + 1);
    if (end == std::string_view::npos) return false;
    value = text.substr(position + 1, end - position - 1);
    position = end + 1;
    return true;
  }
  const auto begin = position;
  while (position < text.size() && !ascii::is_space(text[position]) && text[position] != '>' && text[position] != '<')
    ++position;
  value = text.substr(begin, position - begin);
  return true;
}

}  // namespace

const std::string* html_tag::find(std::string_view attribute) const noexcept {
  const auto match =
      std::find_if(attributes.begin(), attributes.end(), [attribute](const auto& entry) { return entry.first == attribute; });
  return match == attributes.end() ? nullptr : &match->second;
}

bool read_tag(std::string_view text, std::size_t position, html_tag& out) {
  text = text.substr(0, std::min(text.size(), position + max_tag_bytes));
  out = {};
  ++position;
  if (position < text.size() && text[position] == '/') {
    out.is_end = true;
    ++position;
  }
  if (position >= text.size() || !ascii::is_letter(text[position])) return false;
  auto begin = position;
  while (position < text.size() && !ascii::is_space(text[position]) && text[position] != '>' && text[position] != '/' &&
         text[position] != '<')
    ++position;
  if (position - begin > 64) return false;
  out.name = ascii::to_lower(text.substr(begin, position - begin));
  while (true) {
    position = skip_html_spaces(text, position);
    if (position >= text.size() || text[position] == '<') return false;
    if (text[position] == '>') break;
    if (text[position] == '/') {
      ++position;
      out.is_self_closed = position < text.size() && text[position] == '>';
      continue;
    }
    begin = position++;
    while (position < text.size() && !ascii::is_space(text[position]) && text[position] != '>' && text[position] != '/' &&
           text[position] != '=' && text[position] != '<')
      ++position;
    const auto name = text.substr(begin, position - begin);
    std::string_view value;
    const auto equals = skip_html_spaces(text, position);
    if (equals < text.size() && text[equals] == '=') {
      position = equals + 1;
      if (!read_attribute_value(text, position, value)) return false;
    }
    if (out.attributes.size() < max_tag_attributes) out.attributes.emplace_back(ascii::to_lower(name), decode_entities(value));
  }
  out.end = position + 1;
  return true;
}

std::string strip_tags(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  html_tag tag;
  // Each unterminated tag causes a scan to the end of the text, so limit the number.
  std::size_t attempts = 64;
  for (std::size_t position = 0; position < text.size();) {
    if (text[position] != '<' || attempts == 0) {
      out += text[position++];
      continue;
    }
    if (text.substr(position).starts_with("<!--")) {
      const auto end = text.find("-->", position + 4);
      if (end != std::string_view::npos) {
        position = end + 3;
        continue;
      }
      attempts = 0;
    } else if (read_tag(text, position, tag)) {
      position = tag.end;
      continue;
    } else {
      --attempts;
    }
    out += text[position++];
  }
  return out;
}

namespace {

using name_list = std::initializer_list<std::string_view>;

bool is_one_of(std::string_view name, name_list names) noexcept {
  return std::find(names.begin(), names.end(), name) != names.end();
}

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

bool is_hidden(const html_tag& tag) {
  if (tag.find("hidden") != nullptr) return true;
  if (const auto* style = tag.find("style")) {
    std::string compact_style;
    for (const char c : *style)
      if (!ascii::is_space(c)) compact_style += ascii::to_lower(c);
    if (compact_style.find("display:none") != std::string::npos || compact_style.find("visibility:hidden") != std::string::npos)
      return true;
  }
  // The sign at the end of a heading that links to itself.
  const auto* classes = tag.find("class");
  return tag.name == "a" && classes != nullptr && classes->find("headerlink") != std::string::npos;
}

class html_reader {
 public:
  explicit html_reader(std::string_view html) : html_(html) {}

  html_text read() {
    while (position_ < html_.size()) {
      const auto open = std::min(html_.find('<', position_), html_.size());
      write_text(open);
      if (open == html_.size()) break;
      read_markup();
    }
    auto result = writer_.finish(html_.size(), count_lines(html_));
    if (!title_.empty()) result.text_outline.title = result.source_outline.title = title_;
    result.language = std::move(language_);
    return result;
  }

 private:
  /// Writes everything up to `end` as text.
  void write_text(std::size_t end) {
    if (dropped_element_.empty() && end > position_) {
      if (!is_blank(html_.substr(position_, end - position_))) section_id_.clear();
      writer_.add_text(html_.substr(position_, end - position_));
    }
    advance_to(end);
  }
  void advance_to(std::size_t position) {
    const auto skipped = html_.substr(position_, position - position_);
    // The writer counts only the lines of the text that it shows, so set its position in the source.
    line_ += static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
    writer_.set_source_position(position, line_);
    position_ = position;
  }

  /// The position after the next `mark`, or the end of the text.
  std::size_t find_end_of(std::string_view mark, std::size_t begin) const noexcept {
    const auto position = html_.find(mark, begin);
    return position == std::string_view::npos ? html_.size() : position + mark.size();
  }

  void read_markup() {
    const auto prefix = html_.substr(position_, 9);
    if (prefix.starts_with("<!--")) return advance_to(find_end_of("-->", std::min(position_ + 4, html_.size())));
    if (prefix.starts_with("<![CDATA[")) return advance_to(find_end_of("]]>", position_ + 9));
    if (prefix.starts_with("<!") || prefix.starts_with("<?")) return advance_to(find_end_of(">", position_));
    html_tag tag;
    if (!read_tag(html_, position_, tag)) return write_text(position_ + 1);
    if (!dropped_element_.empty())
      read_dropped_tag(tag);
    else if (tag.is_end)
      end_element(tag);
    else
      begin_element(tag);
    advance_to(std::max(tag.end, skip_to_));
    skip_to_ = 0;
  }

  void read_dropped_tag(const html_tag& tag) {
    if (!tag.is_end && is_raw(tag.name)) skip_to_ = end_of_raw(tag);
    if (dropped_element_ == "p" && !tag.is_end && is_block(tag.name)) {
      dropped_element_.clear();
      return begin_element(tag);
    }
    if (tag.name != dropped_element_ || tag.is_self_closed) return;
    dropped_depth_ += tag.is_end ? -1 : 1;
    if (dropped_depth_ == 0) dropped_element_.clear();
  }

  /// The position of the end tag of an element with raw content.
  std::size_t end_of_raw(const html_tag& tag) const noexcept {
    for (auto position = html_.find("</", tag.end); position != std::string_view::npos;
         position = html_.find("</", position + 2))
      if (ascii::starts_with_ignore_case(html_.substr(position + 2), tag.name)) return position;
    return html_.size();
  }

  void begin_element(const html_tag& tag) {
    if (tag.name == "html") {
      if (const auto* language = tag.find("lang"); language != nullptr && language->size() <= 64) language_ = *language;
    }
    if (is_raw(tag.name)) {
      skip_to_ = end_of_raw(tag);
      const auto content =
          html_.substr(tag.end, std::min<std::size_t>(skip_to_ - std::min(tag.end, skip_to_), 4 * max_heading_bytes));
      if (tag.name == "title" && title_.empty()) title_ = html_writer::to_single_line(content);
      return;
    }
    if (!is_void(tag.name) && !tag.is_self_closed &&
        (is_dropped(tag.name) || (tag.name != "body" && tag.name != "html" && is_hidden(tag)))) {
      dropped_element_ = tag.name;
      dropped_depth_ = 1;
      return;
    }
    if (const auto* id = tag.find("id"); id != nullptr && !id->empty() && id->size() <= max_heading_bytes) {
      if (tag.name == "section" || tag.name == "div" || tag.name == "article" || tag.name == "a" || tag.name == "span")
        section_id_ = *id;
    }
    if (const int level = heading_level(tag.name); level != 0) {
      const auto* id = tag.find("id");
      writer_.begin_heading(level, id == nullptr ? section_id_ : *id);
      section_id_.clear();
    } else if (tag.name == "a") {
      if (const auto* target = tag.find("href")) writer_.begin_link(*target);
    } else if (tag.name == "img") {
      const auto* target = tag.find("src");
      const auto* alternative = tag.find("alt");
      writer_.add_image(target == nullptr ? std::string() : *target, alternative == nullptr ? std::string() : *alternative);
    } else if (tag.name == "br") {
      writer_.break_line(1);
    } else if (tag.name == "pre") {
      writer_.begin_preformatted();
    } else if (tag.name == "ul" || tag.name == "ol" || tag.name == "menu") {
      writer_.begin_list();
    } else if (tag.name == "li") {
      writer_.begin_item();
    } else if (tag.name == "table") {
      writer_.begin_table();
    } else if (tag.name == "tr") {
      writer_.begin_row();
    } else if (tag.name == "td" || tag.name == "th") {
      writer_.begin_cell();
    } else if (is_block(tag.name)) {
      writer_.break_line(tag.name == "dt" || tag.name == "dd" ? 1 : 2);
    }
  }

  void end_element(const html_tag& tag) {
    if (heading_level(tag.name) != 0) {
      writer_.end_heading();
    } else if (tag.name == "a") {
      writer_.end_link();
    } else if (tag.name == "pre") {
      writer_.end_preformatted();
    } else if (tag.name == "ul" || tag.name == "ol" || tag.name == "menu") {
      writer_.end_list();
    } else if (tag.name == "table") {
      writer_.end_table();
    } else if (tag.name == "li") {
      writer_.break_line(1);
    } else if (is_block(tag.name)) {
      writer_.break_line(tag.name == "dt" || tag.name == "dd" ? 1 : 2);
    }
  }

  std::string_view html_;
  std::size_t position_ = 0;
  std::size_t line_ = 1;
  std::size_t skip_to_ = 0;
  std::string dropped_element_{};  ///< The element whose content is skipped; empty: none.
  int dropped_depth_ = 0;
  std::string section_id_{};
  std::string title_{};
  std::string language_{};
  html_writer writer_{};
};

}  // namespace

html_text read_html(std::string_view html) { return html_reader(html).read(); }

outline outline_of_html(std::string_view html) { return read_html(html).source_outline; }

rendered_html render_html(std::string_view html) {
  auto result = read_html(html);
  return {std::move(result.text), std::move(result.text_outline), std::move(result.first_source_lines),
          std::move(result.language)};
}

}  // namespace hondana::markup
