/// MathML as text on one line.
#include "text/markup/math_text.hpp"

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t max_math_depth = 64;

/// How tightly the parts of a text belong together. Looser texts get parentheses where they are an operand.
enum class binding : std::uint8_t { row, script, atom };

struct term {
  std::string text{};
  binding strength = binding::row;
  bool needs_gap = false;  ///< Letters and digits after it would seem to belong to it: `1/2 x`, `x^2 y`.
};

bool begins_with_word(std::string_view text) noexcept {
  return !text.empty() && is_word_character(character_at(text, 0).point);
}
bool ends_with_word_character(std::string_view text) noexcept {
  return !text.empty() && is_word_character(character_at(text, boundary_before(text, text.size() - 1)).point);
}

/// Whether the text is in parentheses as a whole.
bool is_fenced(std::string_view text) noexcept {
  if (text.size() < 2 || text.front() != '(') return false;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i + 1 == text.size();
  }
  return false;
}

std::string operand(const term& part, binding required) {
  return part.strength >= required || is_fenced(part.text) ? part.text : '(' + part.text + ')';
}

/// The text of a token, with single spaces.
std::string token_text(const GumboNode& node) {
  std::string out;
  for (const char c : text_below(node, std::string::npos)) {
    if (!ascii::is_space(c))
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

bool is_one_character(std::string_view text) noexcept { return !text.empty() && character_at(text, 0).bytes == text.size(); }

/// The combining mark for an accent above a letter; empty if it is not an accent.
std::string_view combining_accent(std::string_view accent) noexcept {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> accents{{{"¯", "\u0305"},
                                                                                   {"‾", "\u0305"},
                                                                                   {"_", "\u0305"},
                                                                                   {"^", "\u0302"},
                                                                                   {"ˆ", "\u0302"},
                                                                                   {"~", "\u0303"},
                                                                                   {"˜", "\u0303"},
                                                                                   {"→", "\u20D7"},
                                                                                   {"˙", "\u0307"},
                                                                                   {".", "\u0307"},
                                                                                   {"¨", "\u0308"}}};
  for (const auto& [text, mark] : accents)
    if (text == accent) return mark;
  return {};
}

class math_converter {
 public:
  term convert(const GumboNode& node, std::size_t depth = 0) {
    const auto name = name_of(node.v.element);
    if (depth > max_math_depth || name == "mi" || name == "mn" || name == "mtext") {
      auto text = token_text(node);
      const bool is_atom = text.find(' ') == std::string::npos;
      return {std::move(text), is_atom ? binding::atom : binding::row};
    }
    if (name == "mo") return {operator_text(token_text(node)), binding::atom};
    if (name == "ms") return {'"' + token_text(node) + '"', binding::atom};
    if (name == "annotation" || name == "annotation-xml" || name == "mphantom" || name == "mspace" || name == "none" ||
        name == "mprescripts")
      return {{}, binding::atom};
    const auto parts = children(node);
    if (name == "mtable") return matrix(parts, depth);
    if (name == "mmultiscripts") return multiscripts(parts, depth);
    std::vector<term> terms;
    terms.reserve(parts.size());
    for (const auto* part : parts) terms.push_back(convert(*part, depth + 1));
    if (name == "mfrac" && terms.size() == 2)
      return {operand(terms[0], binding::script) + '/' + operand(terms[1], binding::script), binding::row, true};
    if (name == "msqrt") return {"√" + operand(join(terms), binding::atom), binding::script, true};
    if (name == "mroot" && terms.size() == 2) return root(terms[0], terms[1]);
    if (name == "mfenced") return fenced(node.v.element, terms);
    if (name == "maction" && !terms.empty()) return terms.front();
    if ((name == "msub" || name == "munder") && terms.size() == 2) return scripts(terms[0], terms[1], {});
    if (name == "msup" && terms.size() == 2) return scripts(terms[0], {}, terms[1]);
    if ((name == "msubsup" || name == "munderover") && terms.size() == 3) return scripts(terms[0], terms[1], terms[2]);
    if (name == "mover" && terms.size() == 2) return over(terms[0], terms[1]);
    return join(terms);
  }

 private:
  static std::vector<const GumboNode*> children(const GumboNode& node) {
    std::vector<const GumboNode*> child_elements;
    const auto& all = children_of(node);
    for (unsigned int i = 0; i < all.length; ++i) {
      const auto* child = static_cast<const GumboNode*>(all.data[i]);
      if (child->type == GUMBO_NODE_ELEMENT) child_elements.push_back(child);
    }
    return child_elements;
  }

  static std::string operator_text(std::string text) {
    if (text == "\u2061" || text == "\u2062") return {};  // function application, times
    if (text == "\u2063" || text == ",") return ", ";
    if (text == "\u2064") return " ";  // plus, as in 3 1/2
    return text;
  }

  /// Writes terms one after another, with spaces where two of them would run together.
  static term join(const std::vector<term>& terms) {
    term out;
    std::size_t count = 0;
    bool ends_with_word = false;
    for (const auto& next : terms) {
      if (next.text.empty()) continue;
      ++count;
      out.strength = next.strength;
      const bool is_word = next.text.size() > 1 && ascii::is_letter(next.text[0]) && ascii::is_letter(next.text[1]);
      const auto first = character_at(next.text, 0).point;
      const bool ends_with_letter = !out.text.empty() && ascii::is_letter(out.text.back());
      const bool runs_together =
          ends_with_word_character(out.text) &&
          ((first >= '0' && first <= '9') || (ends_with_letter && begins_with_word(next.text) && (is_word || ends_with_word)));
      if (runs_together || (out.needs_gap && (begins_with_word(next.text) || first == '('))) out.text += ' ';
      out.text += next.text;
      out.needs_gap = next.needs_gap;
      ends_with_word = is_word;
    }
    if (count > 1) out.strength = binding::row;
    return out;
  }

  static term scripts(const term& base, const term& sub, const term& super) {
    auto text = operand(base, binding::atom);
    if (!sub.text.empty()) text += '_' + operand(sub, binding::atom);
    // A prime is raised by itself.
    const bool is_prime = super.text.starts_with("\u2032") || super.text.starts_with("\u2033") || super.text == "'";
    if (!super.text.empty()) text += is_prime ? super.text : '^' + operand(super, binding::atom);
    return {std::move(text), binding::script, true};
  }

  static term over(const term& base, const term& accent) {
    const auto mark = is_one_character(base.text) ? combining_accent(accent.text) : std::string_view();
    if (mark.empty()) return scripts(base, {}, accent);
    return {base.text + std::string(mark), binding::atom};
  }

  static term root(const term& radicand, const term& index) {
    const auto raised = to_superscript(index.text);
    return {(raised ? *raised : '(' + index.text + ')') + "√" + operand(radicand, binding::atom), binding::script, true};
  }

  static term fenced(const GumboElement& element, const std::vector<term>& terms) {
    const auto* open = find_attribute(element, "open");
    const auto* close = find_attribute(element, "close");
    std::string text = open == nullptr ? "(" : open;
    for (std::size_t i = 0; i < terms.size(); ++i) (text += i == 0 ? "" : ", ") += terms[i].text;
    return {text + (close == nullptr ? ")" : close), binding::atom};
  }

  term matrix(const std::vector<const GumboNode*>& rows, std::size_t depth) {
    std::string text = "[";
    for (const auto* row : rows) {
      if (text.size() > 1) text += "; ";
      bool is_first = true;
      for (const auto* cell : children(*row)) {
        text += is_first ? "" : ", ";
        text += convert(*cell, depth + 1).text;
        is_first = false;
      }
    }
    return {text + ']', binding::atom};
  }

  /// `base sub sup … mprescripts sub sup …`
  term multiscripts(const std::vector<const GumboNode*>& parts, std::size_t depth) {
    if (parts.empty()) return {};
    std::string before;
    std::string after;
    auto* out = &after;
    bool is_sub = true;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (name_of(parts[i]->v.element) == "mprescripts") {
        out = &before;
        is_sub = true;
        continue;
      }
      const auto script = convert(*parts[i], depth + 1);
      if (!script.text.empty()) (*out += is_sub ? '_' : '^') += operand(script, binding::atom);
      is_sub = !is_sub;
    }
    if (!before.empty()) before += ' ';
    return {before + operand(convert(*parts[0], depth + 1), binding::atom) + after, binding::script, true};
  }
};

}  // namespace

std::string math_text(const GumboNode& math) { return math_converter().convert(math).text; }

}  // namespace hondana::markup
