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
constexpr char32_t no_character = 0xFFFFFFFF;

bool is_katakana(char32_t c) noexcept { return (c >= 0x30A1 && c <= 0x30FA) || c == 0x30FC || (c >= 0xFF66 && c <= 0xFF9D); }

/// Hyphen, minus sign and line, which writers and scanners use instead of the long vowel mark. Longer dashes are real dashes.
bool may_be_long_vowel(char32_t c) noexcept { return c == 0x2010 || c == 0x2212 || c == 0x2500; }

/// The result for a character that never changes the one before it, if it is known to be such; otherwise `no_character`.
char32_t direct_mapping(char32_t c, normalization_form form) noexcept {
  if (c < 0x80) return form == normalization_form::nfkc_casefold ? ascii::to_lower(c) : c;
  if (c < 0x3000) return no_character;
  if (c >= 0x4E00 && c <= 0x9FFF) return c;
  if (c <= 0x3011) return c == 0x3000 && form != normalization_form::nfc ? U' ' : c;
  if ((c >= 0x3041 && c <= 0x3096) || (c >= 0x30A1 && c <= 0x30FE)) return c;
  if (c >= 0xFF01 && c <= 0xFF5E) {
    const char32_t narrow = c - 0xFEE0;
    return form == normalization_form::nfkc_casefold ? ascii::to_lower(narrow) : form == normalization_form::nfkc ? narrow : c;
  }
  return no_character;
}

struct piece {
  char32_t code = 0;
  std::size_t source_offset = 0;
  std::size_t rank = 0;  ///< Position before reordering: marks of the same class keep their order.
};

unsigned combining_class_of(char32_t c) noexcept {
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(c))->combining_class;
}

/// Whether a character that is not a mark may be the second one of a composing pair.
bool may_follow(char32_t c) noexcept { return c >= 0x900; }

char32_t compose_pair(char32_t a, char32_t b) noexcept {
  std::array<utf8proc_int32_t, 3> pair{static_cast<utf8proc_int32_t>(a), static_cast<utf8proc_int32_t>(b), 0};
  const auto length = utf8proc_normalize_utf32(
      pair.data(), 2, static_cast<utf8proc_option_t>(static_cast<unsigned>(UTF8PROC_STABLE) | UTF8PROC_COMPOSE));
  return length == 1 ? static_cast<char32_t>(pair[0]) : no_character;
}

utf8proc_option_t options_for(normalization_form form) noexcept {
  constexpr auto composing = static_cast<unsigned>(UTF8PROC_STABLE) | UTF8PROC_COMPOSE;
  if (form == normalization_form::nfc) return static_cast<utf8proc_option_t>(composing);
  if (form == normalization_form::nfkc) return static_cast<utf8proc_option_t>(composing | UTF8PROC_COMPAT);
  return static_cast<utf8proc_option_t>(composing | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
}

/// A character together with the following ones that may change it.
class cluster {
 public:
  explicit cluster(normalization_form form) noexcept : options_(options_for(form)) {}

  void add(char32_t code, std::size_t source_offset) {
    std::array<utf8proc_int32_t, 32> parts{};
    int boundary_class = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(),
                                               static_cast<utf8proc_ssize_t>(parts.size()), options_, &boundary_class);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
      pieces_.push_back({ascii::replacement_character, source_offset, pieces_.size()});
      return;
    }
    for (utf8proc_ssize_t i = 0; i < count; ++i)
      pieces_.push_back({static_cast<char32_t>(parts[static_cast<std::size_t>(i)]), source_offset, pieces_.size()});
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
    const auto is_mark = [](const piece& candidate) {
      return candidate.code >= 0x300 && combining_class_of(candidate.code) != 0;
    };
    for (auto begin = pieces_.begin(); begin != pieces_.end();) {
      begin = std::find_if(begin, pieces_.end(), is_mark);
      const auto end = std::find_if_not(begin, pieces_.end(), is_mark);
      if (end - begin > 1)
        std::sort(begin, end, [](const piece& a, const piece& b) {
          return std::pair(combining_class_of(a.code), a.rank) < std::pair(combining_class_of(b.code), b.rank);
        });
      begin = end;
    }
  }

  void compose() {
    std::size_t count = 0;
    std::size_t starter = pieces_.size();
    unsigned last_class = 0;   // Combining class of the last kept piece after the starter.
    bool is_adjacent = false;  // No piece has been kept after the starter.
    for (const auto current : pieces_) {
      const unsigned combining_class = current.code < 0x300 ? 0 : combining_class_of(current.code);
      const bool can_compose = starter < count && (is_adjacent || last_class < combining_class) &&
                               (combining_class != 0 || may_follow(current.code));
      const auto composed = can_compose ? compose_pair(pieces_[starter].code, current.code) : no_character;
      if (composed != no_character) {
        pieces_[starter].code = composed;
        continue;
      }
      if (combining_class == 0) starter = count;
      is_adjacent = combining_class == 0;
      last_class = combining_class;
      pieces_[count++] = current;
    }
    pieces_.resize(count);
  }

  utf8proc_option_t options_;
  std::vector<piece> pieces_{};
};

class normalizer {
 public:
  normalizer(std::string_view text, normalization_form form, std::string& out, std::vector<std::size_t>* source_offsets)
      : text_(text), form_(form), out_(out), source_offsets_(source_offsets), cluster_(form) {}

  void run() {
    out_.reserve(out_.size() + text_.size());
    if (source_offsets_ != nullptr) source_offsets_->reserve(source_offsets_->size() + text_.size() + 1);
    while (position_ < text_.size()) {
      append_ascii();
      if (position_ < text_.size()) append_next();
    }
  }

 private:
  [[nodiscard]] ascii::character character_at(std::size_t position) const noexcept {
    return ascii::first_character(text_.substr(position));
  }

  /// Whether the text from `position` on cannot change the text before it.
  [[nodiscard]] bool is_boundary(std::size_t position) const noexcept {
    if (position >= text_.size()) return true;
    const auto c = character_at(position);
    return !c.is_well_formed || direct_mapping(c.code, form_) != no_character || may_be_long_vowel(c.code);
  }

  /// Appends ASCII characters, except for a last one that the following character may change.
  void append_ascii() {
    std::size_t end = position_;
    for (std::uint64_t block = 0; end + sizeof block <= text_.size(); end += sizeof block) {
      std::memcpy(&block, text_.data() + end, sizeof block);
      if ((block & 0x8080808080808080) != 0) break;
    }
    while (end < text_.size() && static_cast<unsigned char>(text_[end]) < 0x80) ++end;
    if (end > position_ && !is_boundary(end)) --end;
    if (end == position_) return;
    const auto old_size = out_.size();
    out_.append(text_, position_, end - position_);
    if (form_ == normalization_form::nfkc_casefold)
      std::transform(out_.begin() + static_cast<std::ptrdiff_t>(old_size), out_.end(),
                     out_.begin() + static_cast<std::ptrdiff_t>(old_size), [](char c) { return ascii::to_lower(c); });
    if (source_offsets_ != nullptr) {
      const auto old_count = source_offsets_->size();
      source_offsets_->resize(old_count + end - position_);
      std::iota(source_offsets_->begin() + static_cast<std::ptrdiff_t>(old_count), source_offsets_->end(), position_);
    }
    last_code_ = static_cast<unsigned char>(out_.back());
    position_ = end;
  }

  void append_next() {
    const auto c = character_at(position_);
    const auto next = position_ + c.bytes;
    if (!c.is_well_formed) {
      if (form_ != normalization_form::nfc)
        append_code(ascii::replacement_character, position_);
      else
        append_bytes(text_.substr(position_, c.bytes));
    } else if (const auto mapped = direct_mapping(c.code, form_); mapped != no_character && is_boundary(next)) {
      append_code(mapped, position_);
    } else if (form_ == normalization_form::nfkc_casefold && may_be_long_vowel(c.code) && is_katakana(last_code_) &&
               next < text_.size() && is_katakana(character_at(next).code)) {
      append_code(0x30FC, position_);
    } else {
      append_cluster(c, next);
      return;
    }
    position_ = next;
  }

  void append_cluster(const ascii::character& first, std::size_t next) {
    cluster_.clear();
    cluster_.add(first.code, position_);
    while (!is_boundary(next)) {
      const auto c = character_at(next);
      cluster_.add(c.code, next);
      next += c.bytes;
    }
    for (const auto& piece : cluster_.finish()) append_code(piece.code, piece.source_offset);
    position_ = next;
  }

  void append_code(char32_t code, std::size_t source_offset) {
    ascii::append_utf8(out_, code);
    // A reordered mark gets the greatest offset so far, so that offsets never decrease.
    max_offset_ = std::max(max_offset_, source_offset);
    if (source_offsets_ != nullptr) source_offsets_->resize(source_offsets_->size() + utf8_size(code), max_offset_);
    last_code_ = code;
  }
  static std::size_t utf8_size(char32_t code) noexcept { return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4; }
  void append_bytes(std::string_view bytes) {
    out_.append(bytes);
    if (source_offsets_ != nullptr) source_offsets_->resize(source_offsets_->size() + bytes.size(), position_);
    last_code_ = ascii::replacement_character;
  }

  std::string_view text_;
  normalization_form form_;
  std::string& out_;
  std::vector<std::size_t>* source_offsets_;
  cluster cluster_;
  std::size_t position_ = 0;
  std::size_t max_offset_ = 0;
  char32_t last_code_ = 0;
};

}  // namespace

void normalize(std::string_view text, normalization_form form, std::string& out, std::vector<std::size_t>* source_offsets) {
  normalizer(text, form, out, source_offsets).run();
}

std::string fold(std::string_view text) {
  std::string out;
  normalize(text, normalization_form::nfkc_casefold, out, nullptr);
  return out;
}

folded_text fold_with_offsets(std::string_view text) {
  folded_text out;
  normalize(text, normalization_form::nfkc_casefold, out.text, &out.source_offsets);
  out.source_offsets.push_back(text.size());
  return out;
}

std::string to_nfc(std::string_view text) {
  std::string out;
  normalize(text, normalization_form::nfc, out, nullptr);
  return out;
}

std::string to_nfkc(std::string_view text) {
  std::string out;
  normalize(text, normalization_form::nfkc, out, nullptr);
  return out;
}

}  // namespace hondana::language
