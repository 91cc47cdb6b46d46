/// Texts as the words that are searched for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::tokens {

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

  /// In the order of the text. Malformed UTF-8 separates words. At most one token a character; none is longer than 256 bytes.
  [[nodiscard]] virtual std::vector<token> tokens_of(std::string_view text, purpose what_for) const = 0;
  /// Which one it is, with all that its tokens depend on (version of this code, dictionary and its size): what was indexed by
  /// another must be indexed anew. For machines: `words-1 ipadic-…`.
  [[nodiscard]] virtual const std::string& id() const noexcept = 0;
  /// For people: `MeCab with /var/lib/mecab/dic/debian (ipadic)`.
  [[nodiscard]] virtual const std::string& description() const noexcept = 0;
};

/// Japanese by MeCab, whose library and dictionary are loaded here; base forms, without particles, auxiliaries and marks;
/// compound nouns by their parts. `dictionary`: a folder; empty: MeCab's own configuration. Errors: source_unavailable, saying
/// what to install.
[[nodiscard]] result<std::shared_ptr<const tokenizer>> words_by_mecab(const std::string& dictionary = {});
/// Japanese, Chinese and other text without spaces by overlapping runs of three characters, Latin as words. Needs nothing.
[[nodiscard]] std::shared_ptr<const tokenizer> words_by_trigrams();

}  // namespace hondana::tokens
