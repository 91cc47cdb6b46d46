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

/// The purpose of the tokens. A query leaves out words that would match everything, unless no other word is left.
enum class tokenize_mode : std::uint8_t { index, query };

/// A word in the form for comparison: folded as by `language::fold`, Latin words stemmed.
struct token {
  std::string text{};
  std::size_t begin = 0;   ///< Position of the word in the original text, in bytes.
  std::size_t end = 0;     ///< End of the word in the original text, not included.
  bool is_prefix = false;  ///< In queries: matches every word with this prefix (one or two characters with trigrams).
};

/// Splits texts into words. Deterministic: the same text and `id()` always give the same tokens. Threads: any, several at once.
class tokenizer {
 public:
  tokenizer() = default;
  tokenizer(const tokenizer&) = delete;
  tokenizer& operator=(const tokenizer&) = delete;
  virtual ~tokenizer() = default;

  /// Returns the tokens in text order, a name before its parts. Time: linear. Malformed UTF-8 separates words. At most one
  /// token for each character of the folded text; a token has at most 256 bytes. Of longer words only the beginning is a token
  /// (again every 64 KiB).
  ///
  /// Words of letters and digits are stemmed by Porter's second English stemmer, in any language, unless they contain digits.
  /// Names joined by `_` and `.` (`max_bytes`, `main.cpp`, `1.2.3`) and CamelCase words are tokens as a whole, and so are their
  /// parts. Parts of CamelCase words have at least two characters. Hangul words become pairs of characters; Thai, Lao, Khmer
  /// and Burmese become triples, shorter at the end.
  [[nodiscard]] virtual std::vector<token> tokenize(std::string_view text, tokenize_mode mode) const = 0;
  /// Identifies everything that tokens depend on: the version of this code, and the dictionary with its size. An index from a
  /// tokenizer with another id must be built again. Not for people: `words-1 ipadic-…`.
  [[nodiscard]] virtual const std::string& id() const noexcept = 0;
  /// Describes the tokenizer for people: `MeCab with /var/lib/mecab/dic/debian (ipadic)`.
  [[nodiscard]] virtual const std::string& description() const noexcept = 0;
};

/// Creates the tokenizer that splits Japanese and Chinese with MeCab; loads its library and dictionary. Tokens are base forms,
/// without particles, auxiliaries and marks. Compound nouns are split into parts. Four or more katakana lose a long vowel mark
/// at their end (サーバー → サーバ). `folder`: the dictionary, ipadic in UTF-8. Empty: the one in MeCab's own configuration or,
/// if that fails, in Debian's folders. Errors: source_unavailable, with what to install.
[[nodiscard]] result<std::shared_ptr<const tokenizer>> make_mecab_tokenizer(const std::string& folder = {});
/// Creates the tokenizer that splits Japanese and Chinese into overlapping runs of three characters, one at each character,
/// shorter at the end of a run. A query of one or two characters is a prefix; a longer one consists of all its runs of three.
/// Treats other scripts like `make_mecab_tokenizer`. Has no dependencies.
[[nodiscard]] std::shared_ptr<const tokenizer> make_trigram_tokenizer();

}  // namespace hondana::tokenizer
