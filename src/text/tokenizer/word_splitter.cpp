/// Splits texts into words by script: stems, stop words, n-grams, and the trigram tokenizer.
#include "text/tokenizer/word_splitter.hpp"

#include <libstemmer.h>
#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::tokenizer {

void found::add(std::string text, std::size_t begin, std::size_t end, worth is, bool is_prefix) {
  if (text.empty() || (is == worth::none && !is_query())) return;
  if (text.size() > longest_token) {
    std::size_t most = longest_token;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    text.resize(most);
  }
  // The end is that of the last source character, which may fold to more than this word.
  const auto last = part_->source[end - 1];
  while (part_->source[end] == last) ++end;
  tokens_.push_back({std::move(text), source_of(begin), source_of(end), is_prefix});
  if (is_query()) worths_.push_back(is);
}

std::vector<token> found::finish() && {
  if (!is_query() || tokens_.empty()) return std::move(tokens_);
  const auto best = *std::min_element(worths_.begin(), worths_.end());
  std::vector<token> out;
  out.reserve(tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i)
    if (worths_[i] == best) out.push_back(std::move(tokens_[i]));
  return out;
}

namespace {

std::size_t after(std::string_view folded, std::size_t at, std::size_t end) noexcept {
  return at >= end ? end : std::min(end, at + ascii::first_character(folded.substr(at)).bytes);
}

}  // namespace

void add_trigrams(found& into, std::size_t begin, std::size_t end) {
  const auto folded = into.folded();
  for (auto at = begin; at < end; at = after(folded, at, end)) {
    const auto second = after(folded, at, end);
    const auto third = after(folded, second, end);
    const auto to = after(folded, third, end);
    const bool is_whole = third < end;
    if (!is_whole && into.is_query() && at > begin) return;
    into.add(std::string(folded.substr(at, to - at)), at, to, worth::full, !is_whole && into.is_query());
  }
}

void add_bigrams(found& into, std::size_t begin, std::size_t end) {
  const auto folded = into.folded();
  for (auto at = begin; at < end; at = after(folded, at, end)) {
    const auto second = after(folded, at, end);
    if (second == end && at > begin) return;
    const auto to = after(folded, second, end);
    into.add(std::string(folded.substr(at, to - at)), at, to);
  }
}

namespace {

constexpr std::size_t longest_stemmed = 64;

}  // namespace

void stemmer::closing::operator()(sb_stemmer* one) const noexcept { sb_stemmer_delete(one); }

stemmer::stemmer() : porter_(sb_stemmer_new("english", "UTF_8")) {
  // English is in every build of the library.
  if (porter_ == nullptr) throw std::bad_alloc();
}

std::string stemmer::stem_of(std::string_view word) {
  const auto is_plain = [](char c) { return ascii::is_letter(c) || c == '\'' || static_cast<unsigned char>(c) >= 0x80; };
  const auto is_latin = [](char c) { return ascii::is_letter(c); };
  if (word.size() > longest_stemmed || !std::all_of(word.begin(), word.end(), is_plain) ||
      std::none_of(word.begin(), word.end(), is_latin))
    return std::string(word);
  const auto* const stem =
      sb_stemmer_stem(porter_.get(), reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
  if (stem == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(stem), static_cast<std::size_t>(sb_stemmer_length(porter_.get()))};
}

namespace {

constexpr std::array<std::string_view, 61> english_words = {
    "a",    "about", "an",    "and",   "are",   "as",    "at",   "be",   "been", "but", "by",  "can", "could",
    "did",  "do",    "does",  "for",   "from",  "had",   "has",  "have", "how",  "i",   "if",  "in",  "into",
    "is",   "it",    "its",   "me",    "my",    "no",    "not",  "of",   "on",   "or",  "our", "so",  "such",
    "that", "the",   "their", "then",  "there", "these", "they", "this", "to",   "us",  "was", "we",  "were",
    "what", "when",  "where", "which", "who",   "why",   "will", "with", "you"};

constexpr std::array<std::string_view, 24> japanese_words = {
    "する", "為る", "ある", "有る", "いる", "居る", "なる", "成る",   "できる", "出来る", "どう", "こう",
    "そう", "ああ", "もう", "また", "まだ", "なぜ", "どの", "いかが", "こと",   "もの",   "ため", "よう"};

}  // namespace

bool is_english_stop_word(std::string_view word) noexcept {
  static_assert(std::is_sorted(english_words.begin(), english_words.end()));
  return std::binary_search(english_words.begin(), english_words.end(), word);
}

bool is_japanese_stop_word(std::string_view base) noexcept {
  return std::find(japanese_words.begin(), japanese_words.end(), base) != japanese_words.end();
}

enum class writing : std::uint8_t {
  gap,       ///< Spaces, marks, symbols, and malformed bytes.
  word,      ///< Letters and digits of scripts that separate words.
  japanese,  ///< Han and kana.
  hangul,    ///< Words separated by spaces, with endings attached.
  unspaced,  ///< Thai, Lao, Khmer, Myanmar.
};

/// The class of a folded character.
[[nodiscard]] writing writing_of(char32_t c) noexcept;

namespace {

bool is_japanese(char32_t c) noexcept {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3041 && c <= 0x309A) || (c >= 0x309D && c <= 0x309F) ||
         (c >= 0x30A1 && c <= 0x30FA) || (c >= 0x30FC && c <= 0x312F) || (c >= 0x3005 && c <= 0x3007) ||
         (c >= 0x3021 && c <= 0x3029) || c == 0x303B || (c >= 0x31A0 && c <= 0x31BF) || (c >= 0x31F0 && c <= 0x31FF) ||
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x1B000 && c <= 0x1B16F) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

}  // namespace

writing writing_of(char32_t c) noexcept {
  if (c < 0x80) return ascii::is_letter(static_cast<char>(c)) || (c >= U'0' && c <= U'9') ? writing::word : writing::gap;
  if (c >= 0x3000 && is_japanese(c)) return writing::japanese;
  if ((c >= 0xAC00 && c <= 0xD7FF) || (c >= 0x1100 && c <= 0x11FF) || (c >= 0xA960 && c <= 0xA97F)) return writing::hangul;
  if ((c >= 0xE01 && c <= 0xE3A) || (c >= 0xE40 && c <= 0xE4E) || (c >= 0xE80 && c <= 0xEDF) || (c >= 0x1000 && c <= 0x109F) ||
      (c >= 0x1780 && c <= 0x17D3))
    return writing::unspaced;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return writing::word;
    default:
      return writing::gap;
  }
}

/// Adds the word that begins at byte `at` of the folded part, and returns its end. `text`: the whole original text.
///
/// Names joined by `_` or `.` (snake_case, main.cpp, 1.2.3) are words as a whole, and so are their parts. The same applies to
/// CamelCase words and their parts of at least two characters. An apostrophe belongs to the word only before a short ending
/// ('s, 't).
[[nodiscard]] std::size_t take_latin_word(found& into, std::string_view text, std::size_t at, stemmer& by);

namespace {

/// The end of the letters and digits at `at`.
std::size_t end_of_letters(std::string_view folded, std::size_t at) noexcept {
  while (at < folded.size()) {
    const auto c = ascii::first_character(folded.substr(at));
    if (writing_of(c.code) != writing::word) break;
    at += c.bytes;
  }
  return at;
}

/// The end of an apostrophe with one or two letters at `at`; otherwise `at`.
std::size_t end_of_ending(std::string_view folded, std::size_t at) noexcept {
  const auto rest = folded.substr(at);
  const std::size_t mark = rest.substr(0, 1) == "'" ? 1 : rest.substr(0, 3) == "\u2019" ? 3 : 0;
  if (mark == 0) return at;
  const auto end = end_of_letters(folded, at + mark);
  return end > at + mark && end <= at + mark + 2 ? end : at;
}

class word_cutter {
 public:
  word_cutter(found& into, std::string_view text, stemmer& by) noexcept : into_(into), text_(text), by_(by) {}

  std::size_t take(std::size_t begin) {
    const auto folded = into_.folded();
    auto end = end_of_letters(folded, begin);
    const auto joined_end = end_of_joined(end);
    if (joined_end == end) {
      const auto with_ending = end_of_ending(folded, end);
      if (with_ending != end) {
        auto word = std::string(folded.substr(begin, end - begin)).append(1, '\'');
        const auto mark = folded[end] == '\'' ? 1u : 3u;
        add_word(word.append(folded.substr(end + mark, with_ending - end - mark)), begin, with_ending);
        return with_ending;
      }
      take_part(begin, end);
      return end;
    }
    if (joined_end - begin <= longest_token)
      into_.add(std::string(folded.substr(begin, joined_end - begin)), begin, joined_end);
    for (;;) {
      take_part(begin, end);
      if (end == joined_end) return end;
      begin = folded.find_first_not_of("_.", end);
      end = end_of_letters(folded, begin);
    }
  }

 private:
  /// The end of a name that continues after `_` or a single `.`.
  [[nodiscard]] std::size_t end_of_joined(std::size_t end) const noexcept {
    const auto folded = into_.folded();
    for (;;) {
      auto next = end;
      if (next < folded.size() && folded[next] == '.') {
        ++next;
      } else {
        while (next < folded.size() && folded[next] == '_') ++next;
      }
      const auto after = next == end ? end : end_of_letters(folded, next);
      if (after == next || after == end) return end;
      end = after;
    }
  }

  void add_word(std::string_view word, std::size_t begin, std::size_t end) {
    const auto is = into_.is_query() && is_english_stop_word(word) ? worth::little : worth::full;
    into_.add(by_.stem_of(word), begin, end, is);
  }

  void take_part(std::size_t begin, std::size_t end) {
    const auto folded = into_.folded();
    add_word(folded.substr(begin, end - begin), begin, end);
    // Only ASCII text, which folding does not lengthen, shows where the parts begin.
    const auto from = into_.source_of(begin);
    const auto written = text_.substr(from, into_.source_of(end) - from);
    if (written.size() != end - begin || !ascii::is_same(written, folded.substr(begin, end - begin))) return;
    std::size_t part = 0;
    for (std::size_t i = 1; i <= written.size(); ++i) {
      const bool is_end = i == written.size();
      const bool is_boundary =
          !is_end && ascii::is_upper(written[i]) &&
          (!ascii::is_upper(written[i - 1]) || (i + 1 < written.size() && ascii::is_lower(written[i + 1])));
      if (!is_boundary && (!is_end || part == 0)) continue;
      if (i - part >= 2) add_word(folded.substr(begin + part, i - part), begin + part, begin + i);
      part = i;
    }
  }

  found& into_;
  std::string_view text_;
  stemmer& by_;
};

}  // namespace

std::size_t take_latin_word(found& into, std::string_view text, std::size_t at, stemmer& by) {
  return word_cutter(into, text, by).take(at);
}

namespace {

/// The amount of text to fold at once. Folding needs nine times as much memory.
constexpr std::size_t part_bytes = std::size_t{64} * 1024;

/// The end of a part that begins at `from`: after a space if there is one in its second half, and never within a character.
std::size_t end_of_part(std::string_view text, std::size_t from) noexcept {
  if (text.size() - from <= part_bytes) return text.size();
  const auto part = text.substr(from, part_bytes);
  const auto space = part.find_last_of(" \n\t\r");
  if (space != std::string_view::npos && space >= part_bytes / 2) return from + space + 1;
  auto end = from + part_bytes;
  for (int i = 0; i < 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; ++i) --end;
  return end;
}

/// The end of the run that begins at `at`, at most `longest_run` characters later.
std::size_t end_of_run(std::string_view folded, std::size_t at, writing which) noexcept {
  for (std::size_t count = 0; at < folded.size() && count < longest_run; ++count) {
    const auto c = ascii::first_character(folded.substr(at));
    if (writing_of(c.code) != which) break;
    at += c.bytes;
  }
  return at;
}

void cut_part(found& into, std::string_view text, japanese_cutter& japanese, stemmer& latin) {
  const auto folded = into.folded();
  for (std::size_t at = 0; at < folded.size();) {
    const auto c = ascii::first_character(folded.substr(at));
    const auto which = writing_of(c.code);
    if (which == writing::gap) {
      at += c.bytes;
      continue;
    }
    if (which == writing::word) {
      at = take_latin_word(into, text, at, latin);
      continue;
    }
    const auto end = end_of_run(folded, at, which);
    if (which == writing::japanese)
      japanese.cut(into, at, end);
    else if (which == writing::hangul)
      add_bigrams(into, at, end);
    else
      add_trigrams(into, at, end);
    at = end;
  }
}

}  // namespace

std::vector<token> cut_text(std::string_view text, purpose what_for, japanese_cutter& japanese, stemmer& latin) {
  found into(what_for);
  for (std::size_t from = 0; from < text.size();) {
    const auto end = end_of_part(text, from);
    const auto part = language::folded_with_sources(text.substr(from, end - from));
    into.begin_part(part, from);
    cut_part(into, text, japanese, latin);
    from = end;
  }
  return std::move(into).finish();
}

namespace {

class trigram_cutter final : public japanese_cutter {
 public:
  void cut(found& into, std::size_t begin, std::size_t end) override { add_trigrams(into, begin, end); }
};

class by_trigrams final : public tokenizer {
 public:
  [[nodiscard]] std::vector<token> tokens_of(std::string_view text, purpose what_for) const override {
    const auto stems = stemmers_.take([] { return std::make_unique<stemmer>(); });
    trigram_cutter japanese;
    return cut_text(text, what_for, japanese, *stems);
  }
  [[nodiscard]] const std::string& id() const noexcept override { return id_; }
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }

 private:
  mutable pool<stemmer> stemmers_{};
  std::string id_ = "trigrams-1";
  std::string description_ = "runs of three characters, without a dictionary";
};

}  // namespace

std::shared_ptr<const tokenizer> words_by_trigrams() { return std::make_shared<by_trigrams>(); }

}  // namespace hondana::tokenizer
