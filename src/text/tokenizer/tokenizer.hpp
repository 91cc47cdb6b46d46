/// The interface of tokenizers, which split texts into words for search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::tokenizer {

/// Where a text comes from. Queries leave out what would find everything, and never all that they have.
enum class purpose : std::uint8_t { index, query };

/// One word of a text, in the form that is compared: folded as `language::folded`, Latin words stemmed.
struct token {
  std::string text{};
  std::size_t begin = 0;   ///< Of the word as it is written, in bytes of the text,
  std::size_t end = 0;     ///< and where it ends.
  bool is_prefix = false;  ///< Of queries: whatever begins with this fits (a word of one or two characters among trigrams).
};

/// Cuts texts into words. Deterministic: the same text and `id()` always give the same tokens. Threads: any, several at once.
class tokenizer {
 public:
  tokenizer() = default;
  tokenizer(const tokenizer&) = delete;
  tokenizer& operator=(const tokenizer&) = delete;
  virtual ~tokenizer() = default;

  /// In the order of the text, a name before its parts. Malformed UTF-8 separates words. At most one token a character of the
  /// folded text; none is longer than 256 bytes, of longer words only their beginning (again every 64 KiB). Time: linear.
  ///
  /// Words of letters and digits are stemmed by Porter's second English stemmer, in whatever language they are, unless they
  /// have digits. Names joined by `_` and `.` (`max_bytes`, `main.cpp`, `1.2.3`) are tokens as a whole and by their parts, and
  /// so are CamelCase words, whose parts have two characters or more. Hangul words become pairs of characters; Thai, Lao,
  /// Khmer and Burmese become triples, shorter at the end.
  [[nodiscard]] virtual std::vector<token> tokens_of(std::string_view text, purpose what_for) const = 0;
  /// Which one it is, with all that its tokens depend on (version of this code, dictionary and its size): what was indexed by
  /// another must be indexed anew. For machines: `words-1 ipadic-…`.
  [[nodiscard]] virtual const std::string& id() const noexcept = 0;
  /// For people: `MeCab with /var/lib/mecab/dic/debian (ipadic)`.
  [[nodiscard]] virtual const std::string& description() const noexcept = 0;
};

/// Japanese by MeCab, whose library and dictionary are loaded here; base forms, without particles, auxiliaries and marks;
/// compound nouns by their parts, and a long vowel at the end of four katakana or more dropped (サーバー is サーバ). Chinese,
/// too, goes through it. `folder`: the dictionary; empty: MeCab's own configuration, else Debian's folders. It must be ipadic
/// in UTF-8. Errors: source_unavailable, saying what to install.
[[nodiscard]] result<std::shared_ptr<const tokenizer>> words_by_mecab(const std::string& folder = {});
/// Japanese and Chinese by overlapping runs of three characters, one at every character, shorter at the end of a run; all else
/// as above. A query of one or two characters is a prefix, a longer one all its runs of three. Needs nothing.
[[nodiscard]] std::shared_ptr<const tokenizer> words_by_trigrams();

}  // namespace hondana::tokenizer
