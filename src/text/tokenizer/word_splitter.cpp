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

void token_collector::add(std::string text, std::size_t begin, std::size_t end, term_weight weight, bool is_prefix) {
  if (text.empty() || (weight == term_weight::none && !is_query())) return;
  if (text.size() > max_token_bytes) {
    std::size_t size = max_token_bytes;
    while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    text.resize(size);
  }
  // The end is that of the last source character, which may fold to more than this word.
  const auto last = part_->source_offsets[end - 1];
  while (part_->source_offsets[end] == last) ++end;
  tokens_.push_back({std::move(text), source_offset(begin), source_offset(end), is_prefix});
  if (is_query()) weights_.push_back(weight);
}

std::vector<token> token_collector::finish() && {
  if (!is_query() || tokens_.empty()) return std::move(tokens_);
  const auto best = *std::min_element(weights_.begin(), weights_.end());
  std::vector<token> out;
  out.reserve(tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i)
    if (weights_[i] == best) out.push_back(std::move(tokens_[i]));
  return out;
}

namespace {

std::size_t next_boundary(std::string_view folded, std::size_t position, std::size_t end) noexcept {
  return position >= end ? end : std::min(end, position + ascii::first_character(folded.substr(position)).bytes);
}

}  // namespace

void add_trigrams(token_collector& collector, std::size_t begin, std::size_t end) {
  const auto folded = collector.folded();
  for (auto position = begin; position < end; position = next_boundary(folded, position, end)) {
    const auto second = next_boundary(folded, position, end);
    const auto third = next_boundary(folded, second, end);
    const auto trigram_end = next_boundary(folded, third, end);
    const bool is_full = third < end;
    if (!is_full && collector.is_query() && position > begin) return;
    collector.add(std::string(folded.substr(position, trigram_end - position)), position, trigram_end, term_weight::full,
                  !is_full && collector.is_query());
  }
}

void add_bigrams(token_collector& collector, std::size_t begin, std::size_t end) {
  const auto folded = collector.folded();
  for (auto position = begin; position < end; position = next_boundary(folded, position, end)) {
    const auto second = next_boundary(folded, position, end);
    if (second == end && position > begin) return;
    const auto bigram_end = next_boundary(folded, second, end);
    collector.add(std::string(folded.substr(position, bigram_end - position)), position, bigram_end);
  }
}

namespace {

constexpr std::size_t max_stemmed_bytes = 64;

}  // namespace

void stemmer::deleter::operator()(sb_stemmer* handle) const noexcept { sb_stemmer_delete(handle); }

stemmer::stemmer() : porter_(sb_stemmer_new("english", "UTF_8")) {
  // English is in every build of the library.
  if (porter_ == nullptr) throw std::bad_alloc();
}

std::string stemmer::stem(std::string_view word) {
  const auto is_stemmable = [](char c) { return ascii::is_letter(c) || c == '\'' || static_cast<unsigned char>(c) >= 0x80; };
  const auto is_latin = [](char c) { return ascii::is_letter(c); };
  if (word.size() > max_stemmed_bytes || !std::all_of(word.begin(), word.end(), is_stemmable) ||
      std::none_of(word.begin(), word.end(), is_latin))
    return std::string(word);
  const auto* const stemmed =
      sb_stemmer_stem(porter_.get(), reinterpret_cast<const sb_symbol*>(word.data()), static_cast<int>(word.size()));
  if (stemmed == nullptr) throw std::bad_alloc();
  return {reinterpret_cast<const char*>(stemmed), static_cast<std::size_t>(sb_stemmer_length(porter_.get()))};
}

namespace {

constexpr std::array<std::string_view, 61> english_stop_words = {
    "a",    "about", "an",    "and",   "are",   "as",    "at",   "be",   "been", "but", "by",  "can", "could",
    "did",  "do",    "does",  "for",   "from",  "had",   "has",  "have", "how",  "i",   "if",  "in",  "into",
    "is",   "it",    "its",   "me",    "my",    "no",    "not",  "of",   "on",   "or",  "our", "so",  "such",
    "that", "the",   "their", "then",  "there", "these", "they", "this", "to",   "us",  "was", "we",  "were",
    "what", "when",  "where", "which", "who",   "why",   "will", "with", "you"};

constexpr std::array<std::string_view, 24> japanese_stop_words = {
    "する", "為る", "ある", "有る", "いる", "居る", "なる", "成る",   "できる", "出来る", "どう", "こう",
    "そう", "ああ", "もう", "また", "まだ", "なぜ", "どの", "いかが", "こと",   "もの",   "ため", "よう"};

}  // namespace

bool is_english_stop_word(std::string_view word) noexcept {
  static_assert(std::is_sorted(english_stop_words.begin(), english_stop_words.end()));
  return std::binary_search(english_stop_words.begin(), english_stop_words.end(), word);
}

bool is_japanese_stop_word(std::string_view base) noexcept {
  return std::find(japanese_stop_words.begin(), japanese_stop_words.end(), base) != japanese_stop_words.end();
}

enum class script_class : std::uint8_t {
  gap,       ///< Spaces, marks, symbols, and malformed bytes.
  word,      ///< Letters and digits of scripts that separate words.
  japanese,  ///< Han and kana.
  hangul,    ///< Words separated by spaces, with endings attached.
  unspaced,  ///< Thai, Lao, Khmer, Myanmar.
};

/// The class of a folded character.
[[nodiscard]] script_class script_class_of(char32_t c) noexcept;

namespace {

bool is_japanese(char32_t c) noexcept {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3041 && c <= 0x309A) || (c >= 0x309D && c <= 0x309F) ||
         (c >= 0x30A1 && c <= 0x30FA) || (c >= 0x30FC && c <= 0x312F) || (c >= 0x3005 && c <= 0x3007) ||
         (c >= 0x3021 && c <= 0x3029) || c == 0x303B || (c >= 0x31A0 && c <= 0x31BF) || (c >= 0x31F0 && c <= 0x31FF) ||
         (c >= 0x3400 && c <= 0x4DBF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x1B000 && c <= 0x1B16F) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

}  // namespace

script_class script_class_of(char32_t c) noexcept {
  if (c < 0x80)
    return ascii::is_letter(static_cast<char>(c)) || (c >= U'0' && c <= U'9') ? script_class::word : script_class::gap;
  if (c >= 0x3000 && is_japanese(c)) return script_class::japanese;
  if ((c >= 0xAC00 && c <= 0xD7FF) || (c >= 0x1100 && c <= 0x11FF) || (c >= 0xA960 && c <= 0xA97F)) return script_class::hangul;
  if ((c >= 0xE01 && c <= 0xE3A) || (c >= 0xE40 && c <= 0xE4E) || (c >= 0xE80 && c <= 0xEDF) || (c >= 0x1000 && c <= 0x109F) ||
      (c >= 0x1780 && c <= 0x17D3))
    return script_class::unspaced;
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
      return script_class::word;
    default:
      return script_class::gap;
  }
}

/// Adds the word that begins at byte `position` of the folded part, and returns its end. `text`: the whole original text.
///
/// Names joined by `_` or `.` (snake_case, main.cpp, 1.2.3) are words as a whole, and so are their parts. The same applies to
/// CamelCase words and their parts of at least two characters. An apostrophe belongs to the word only before a short ending
/// ('s, 't).
[[nodiscard]] std::size_t add_latin_word(token_collector& collector, std::string_view text, std::size_t position,
                                         stemmer& stemmer);

namespace {

/// The end of the letters and digits at `position`.
std::size_t end_of_word(std::string_view folded, std::size_t position) noexcept {
  while (position < folded.size()) {
    const auto c = ascii::first_character(folded.substr(position));
    if (script_class_of(c.code) != script_class::word) break;
    position += c.bytes;
  }
  return position;
}

/// The end of an apostrophe with one or two letters at `position`; otherwise `position`.
std::size_t end_of_suffix(std::string_view folded, std::size_t position) noexcept {
  const auto remaining = folded.substr(position);
  const std::size_t mark_bytes = remaining.substr(0, 1) == "'" ? 1 : remaining.substr(0, 3) == "\u2019" ? 3 : 0;
  if (mark_bytes == 0) return position;
  const auto end = end_of_word(folded, position + mark_bytes);
  return end > position + mark_bytes && end <= position + mark_bytes + 2 ? end : position;
}

class latin_word_splitter {
 public:
  latin_word_splitter(token_collector& collector, std::string_view text, stemmer& stemmer) noexcept
      : collector_(collector), text_(text), stemmer_(stemmer) {}

  std::size_t split(std::size_t begin) {
    const auto folded = collector_.folded();
    auto end = end_of_word(folded, begin);
    const auto joined_end = end_of_joined_name(end);
    if (joined_end == end) {
      const auto suffix_end = end_of_suffix(folded, end);
      if (suffix_end != end) {
        auto word = std::string(folded.substr(begin, end - begin)).append(1, '\'');
        const auto mark_bytes = folded[end] == '\'' ? 1u : 3u;
        add_word(word.append(folded.substr(end + mark_bytes, suffix_end - end - mark_bytes)), begin, suffix_end);
        return suffix_end;
      }
      add_parts(begin, end);
      return end;
    }
    if (joined_end - begin <= max_token_bytes)
      collector_.add(std::string(folded.substr(begin, joined_end - begin)), begin, joined_end);
    for (;;) {
      add_parts(begin, end);
      if (end == joined_end) return end;
      begin = folded.find_first_not_of("_.", end);
      end = end_of_word(folded, begin);
    }
  }

 private:
  /// The end of a name that continues after `_` or a single `.`.
  [[nodiscard]] std::size_t end_of_joined_name(std::size_t end) const noexcept {
    const auto folded = collector_.folded();
    for (;;) {
      auto next = end;
      if (next < folded.size() && folded[next] == '.') {
        ++next;
      } else {
        while (next < folded.size() && folded[next] == '_') ++next;
      }
      const auto part_end = next == end ? end : end_of_word(folded, next);
      if (part_end == next || part_end == end) return end;
      end = part_end;
    }
  }

  void add_word(std::string_view word, std::size_t begin, std::size_t end) {
    const auto weight = collector_.is_query() && is_english_stop_word(word) ? term_weight::low : term_weight::full;
    collector_.add(stemmer_.stem(word), begin, end, weight);
  }

  void add_parts(std::size_t begin, std::size_t end) {
    const auto folded = collector_.folded();
    add_word(folded.substr(begin, end - begin), begin, end);
    // Only ASCII text, which folding does not lengthen, shows where the parts begin.
    const auto source_begin = collector_.source_offset(begin);
    const auto source = text_.substr(source_begin, collector_.source_offset(end) - source_begin);
    if (source.size() != end - begin || !ascii::equals_ignore_case(source, folded.substr(begin, end - begin))) return;
    std::size_t part_begin = 0;
    for (std::size_t i = 1; i <= source.size(); ++i) {
      const bool is_end = i == source.size();
      const bool is_boundary = !is_end && ascii::is_upper(source[i]) &&
                               (!ascii::is_upper(source[i - 1]) || (i + 1 < source.size() && ascii::is_lower(source[i + 1])));
      if (!is_boundary && (!is_end || part_begin == 0)) continue;
      if (i - part_begin >= 2) add_word(folded.substr(begin + part_begin, i - part_begin), begin + part_begin, begin + i);
      part_begin = i;
    }
  }

  token_collector& collector_;
  std::string_view text_;
  stemmer& stemmer_;
};

}  // namespace

std::size_t add_latin_word(token_collector& collector, std::string_view text, std::size_t position, stemmer& stemmer) {
  return latin_word_splitter(collector, text, stemmer).split(position);
}

namespace {

/// The amount of text to fold at once. Folding needs nine times as much memory.
constexpr std::size_t part_bytes = std::size_t{64} * 1024;

/// The end of a part that begins at `begin`: after a space if there is one in its second half, and never within a character.
std::size_t end_of_part(std::string_view text, std::size_t begin) noexcept {
  if (text.size() - begin <= part_bytes) return text.size();
  const auto part = text.substr(begin, part_bytes);
  const auto space = part.find_last_of(" \n\t\r");
  if (space != std::string_view::npos && space >= part_bytes / 2) return begin + space + 1;
  auto end = begin + part_bytes;
  for (int i = 0; i < 3 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80; ++i) --end;
  return end;
}

/// The end of the run that begins at `position`, at most `max_run_characters` characters later.
std::size_t end_of_run(std::string_view folded, std::size_t position, script_class script) noexcept {
  for (std::size_t count = 0; position < folded.size() && count < max_run_characters; ++count) {
    const auto c = ascii::first_character(folded.substr(position));
    if (script_class_of(c.code) != script) break;
    position += c.bytes;
  }
  return position;
}

void split_part(token_collector& collector, std::string_view text, japanese_splitter& japanese, stemmer& latin) {
  const auto folded = collector.folded();
  for (std::size_t position = 0; position < folded.size();) {
    const auto c = ascii::first_character(folded.substr(position));
    const auto script = script_class_of(c.code);
    if (script == script_class::gap) {
      position += c.bytes;
      continue;
    }
    if (script == script_class::word) {
      position = add_latin_word(collector, text, position, latin);
      continue;
    }
    const auto end = end_of_run(folded, position, script);
    if (script == script_class::japanese)
      japanese.split(collector, position, end);
    else if (script == script_class::hangul)
      add_bigrams(collector, position, end);
    else
      add_trigrams(collector, position, end);
    position = end;
  }
}

}  // namespace

std::vector<token> split_text(std::string_view text, tokenize_mode mode, japanese_splitter& japanese, stemmer& latin) {
  token_collector collector(mode);
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = end_of_part(text, begin);
    const auto part = language::fold_with_offsets(text.substr(begin, end - begin));
    collector.begin_part(part, begin);
    split_part(collector, text, japanese, latin);
    begin = end;
  }
  return std::move(collector).finish();
}

namespace {

class trigram_splitter final : public japanese_splitter {
 public:
  void split(token_collector& collector, std::size_t begin, std::size_t end) override { add_trigrams(collector, begin, end); }
};

class trigram_tokenizer final : public tokenizer {
 public:
  [[nodiscard]] std::vector<token> tokenize(std::string_view text, tokenize_mode mode) const override {
    const auto lease = stemmers_.acquire([] { return std::make_unique<stemmer>(); });
    trigram_splitter japanese;
    return split_text(text, mode, japanese, *lease);
  }
  [[nodiscard]] const std::string& id() const noexcept override { return id_; }
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }

 private:
  mutable pool<stemmer> stemmers_{};
  std::string id_ = "trigrams-1";
  std::string description_ = "runs of three characters, without a dictionary";
};

}  // namespace

std::shared_ptr<const tokenizer> make_trigram_tokenizer() { return std::make_shared<trigram_tokenizer>(); }

}  // namespace hondana::tokenizer
