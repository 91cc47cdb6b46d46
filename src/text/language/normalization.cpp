/// Unicode normalization: NFC, NFKC and case folding.
#include "text/language/normalization.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "text/language/language.hpp"

namespace hondana::language {
namespace {

/// Not a character.
constexpr char32_t none = 0xFFFFFFFF;

bool is_katakana(char32_t c) noexcept { return (c >= 0x30A1 && c <= 0x30FA) || c == 0x30FC || (c >= 0xFF66 && c <= 0xFF9D); }

/// Hyphen, minus sign and line, which writers and scanners use instead of the long vowel mark. Longer dashes are real dashes.
bool may_be_long_vowel(char32_t c) noexcept { return c == 0x2010 || c == 0x2212 || c == 0x2500; }

/// The result for a character that never changes the one before it, if it is known to be such; otherwise `none`.
char32_t direct(char32_t c, form which) noexcept {
  if (c < 0x80) return which == form::compared ? ascii::lower(c) : c;
  if (c < 0x3000) return none;
  if (c >= 0x4E00 && c <= 0x9FFF) return c;
  if (c <= 0x3011) return c == 0x3000 && which != form::shown ? U' ' : c;
  if ((c >= 0x3041 && c <= 0x3096) || (c >= 0x30A1 && c <= 0x30FE)) return c;
  if (c >= 0xFF01 && c <= 0xFF5E) {
    const char32_t narrow = c - 0xFEE0;
    return which == form::compared ? ascii::lower(narrow) : which == form::compatible ? narrow : c;
  }
  return none;
}

struct piece {
  char32_t code = 0;
  std::size_t source = 0;
  std::size_t rank = 0;  ///< Position before reordering: marks of the same class keep their order.
};

unsigned combining_class_of(char32_t c) noexcept {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

/// Whether a character that is not a mark may be the second one of a composing pair.
bool may_follow(char32_t c) noexcept { return c >= 0x900; }

char32_t composed_pair(char32_t a, char32_t b) noexcept {
  std::array<utf8proc_int32_t, 3> pair{static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b), 0};
  const auto length = utf8proc_normalize_utf32(
      pair.data(), 2, static_cast<utf8proc_option_t>(static_cast<unsigned>(UTF8PROC_STABLE) | UTF8PROC_COMPOSE));
  return length == 1 ? static_cast<char32_t>(pair[0]) : none;
}

utf8proc_option_t options_of(form which) noexcept {
  constexpr auto composing = static_cast<unsigned>(UTF8PROC_STABLE) | UTF8PROC_COMPOSE;
  if (which == form::shown) return static_cast<utf8proc_option_t>(composing);
  if (which == form::compatible) return static_cast<utf8proc_option_t>(composing | UTF8PROC_COMPAT);
  return static_cast<utf8proc_option_t>(composing | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
}

/// A character together with the following ones that may change it.
class cluster {
 public:
  explicit cluster(form which) noexcept : options_(options_of(which)) {}

  void add(char32_t code, std::size_t source) {
    std::array<utf8proc_int32_t, 32> parts{};
    int class_of_last = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                                               static_cast<utf8proc_ssize_t>(parts.size()), options_, &class_of_last);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
      pieces_.push_back({ascii::replacement, source, pieces_.size()});
      return;
    }
    for (utf8proc_ssize_t i = 0; i < count; ++i)
      pieces_.push_back({static_cast<char32_t>(parts[static_cast<std::size_t>(i)]), source, pieces_.size()});
  }

  /// Orders and composes the pieces.
  [[nodiscard]] const std::vector<piece>& finish() {
    order();
    compose();
    return pieces_;
  }
  void clear() noexcept { pieces_.clear(); }

 private:
  void order() {
    const auto is_mark = [](const piece& one) { return one.code >= 0x300 && combining_class_of(one.code) != 0; };
    for (auto from = pieces_.begin(); from != pieces_.end();) {
      from = std::find_if(from, pieces_.end(), is_mark);
      const auto to = std::find_if_not(from, pieces_.end(), is_mark);
      if (to - from > 1)
        std::sort(from, to, [](const piece& a, const piece& b) {
          return std::pair(combining_class_of(a.code), a.rank) < std::pair(combining_class_of(b.code), b.rank);
        });
      from = to;
    }
  }

  void compose() {
    std::size_t kept = 0;
    std::size_t starter = pieces_.size();
    unsigned last_class = 0;  // Combining class of the last kept piece after the starter.
    bool is_next = false;     // No piece has been kept after the starter.
    for (const auto one : pieces_) {
      const unsigned own = one.code < 0x300 ? 0 : combining_class_of(one.code);
      const bool is_free = starter < kept && (is_next || last_class < own) && (own != 0 || may_follow(one.code));
      const auto both = is_free ? composed_pair(pieces_[starter].code, one.code) : none;
      if (both != none) {
        pieces_[starter].code = both;
        continue;
      }
      if (own == 0) starter = kept;
      is_next = own == 0;
      last_class = own;
      pieces_[kept++] = one;
    }
    pieces_.resize(kept);
  }

  utf8proc_option_t options_;
  std::vector<piece> pieces_{};
};

class normaliser {
 public:
  normaliser(std::string_view text, form which, std::string& out, std::vector<std::size_t>* sources)
      : text_(text), which_(which), out_(out), sources_(sources), cluster_(which) {}

  void run() {
    out_.reserve(out_.size() + text_.size());
    if (sources_ != nullptr) sources_->reserve(sources_->size() + text_.size() + 1);
    while (at_ < text_.size()) {
      take_ascii();
      if (at_ < text_.size()) take_one();
    }
  }

 private:
  [[nodiscard]] ascii::character character_at(std::size_t at) const noexcept {
    return ascii::first_character(text_.substr(at));
  }

  /// Whether the text from `at` on cannot change the text before it.
  [[nodiscard]] bool begins_anew(std::size_t at) const noexcept {
    if (at >= text_.size()) return true;
    const auto c = character_at(at);
    return !c.is_well_formed || direct(c.code, which_) != none || may_be_long_vowel(c.code);
  }

  /// Appends ASCII characters, except for a last one that the following character may change.
  void take_ascii() {
    std::size_t end = at_;
    for (std::uint64_t eight = 0; end + sizeof eight <= text_.size(); end += sizeof eight) {
      std::memcpy(&eight, text_.data() + end, sizeof eight);
      if ((eight & 0x8080808080808080) != 0) break;
    }
    while (end < text_.size() && static_cast<unsigned char>(text_[end]) < 0x80) ++end;
    if (end > at_ && !begins_anew(end)) --end;
    if (end == at_) return;
    const auto before = out_.size();
    out_.append(text_, at_, end - at_);
    if (which_ == form::compared)
      std::transform(out_.begin() + static_cast<std::ptrdiff_t>(before), out_.end(),
                     out_.begin() + static_cast<std::ptrdiff_t>(before), [](char c) { return ascii::lower(c); });
    if (sources_ != nullptr) {
      const auto known = sources_->size();
      sources_->resize(known + end - at_);
      std::iota(sources_->begin() + static_cast<std::ptrdiff_t>(known), sources_->end(), at_);
    }
    last_ = static_cast<unsigned char>(out_.back());
    at_ = end;
  }

  void take_one() {
    const auto c = character_at(at_);
    const auto next = at_ + c.bytes;
    if (!c.is_well_formed) {
      if (which_ != form::shown)
        put(ascii::replacement, at_);
      else
        put_bytes(text_.substr(at_, c.bytes));
    } else if (const auto known = direct(c.code, which_); known != none && begins_anew(next)) {
      put(known, at_);
    } else if (which_ == form::compared && may_be_long_vowel(c.code) && is_katakana(last_) && next < text_.size() &&
               is_katakana(character_at(next).code)) {
      put(0x30FC, at_);
    } else {
      take_cluster(c, next);
      return;
    }
    at_ = next;
  }

  void take_cluster(const ascii::character& first, std::size_t next) {
    cluster_.clear();
    cluster_.add(first.code, at_);
    while (!begins_anew(next)) {
      const auto c = character_at(next);
      cluster_.add(c.code, next);
      next += c.bytes;
    }
    for (const auto& one : cluster_.finish()) put(one.code, one.source);
    at_ = next;
  }

  void put(char32_t code, std::size_t source) {
    ascii::append(out_, code);
    // A reordered mark gets the greatest offset so far, so that offsets never decrease.
    furthest_ = std::max(furthest_, source);
    if (sources_ != nullptr) sources_->resize(sources_->size() + bytes_of(code), furthest_);
    last_ = code;
  }
  static std::size_t bytes_of(char32_t code) noexcept { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }
  void put_bytes(std::string_view bytes) {
    out_.append(bytes);
    if (sources_ != nullptr) sources_->resize(sources_->size() + bytes.size(), at_);
    last_ = ascii::replacement;
  }

  std::string_view text_;
  form which_;
  std::string& out_;
  std::vector<std::size_t>* sources_;
  cluster cluster_;
  std::size_t at_ = 0;
  std::size_t furthest_ = 0;
  char32_t last_ = 0;
};

}  // namespace

void normalise(std::string_view text, form which, std::string& out, std::vector<std::size_t>* sources) {
  normaliser(text, which, out, sources).run();
}

std::string folded(std::string_view text) {
  std::string out;
  normalise(text, form::compared, out, nullptr);
  return out;
}

folded_text folded_with_sources(std::string_view text) {
  folded_text out;
  normalise(text, form::compared, out.text, &out.source);
  out.source.push_back(text.size());
  return out;
}

std::string composed(std::string_view text) {
  std::string out;
  normalise(text, form::shown, out, nullptr);
  return out;
}

std::string compatible(std::string_view text) {
  std::string out;
  normalise(text, form::compatible, out, nullptr);
  return out;
}

}  // namespace hondana::language
