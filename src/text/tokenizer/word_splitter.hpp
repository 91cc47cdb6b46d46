/// Splits texts into words by script: stems, stop words, n-grams, and the trigram tokenizer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/language/language.hpp"
#include "text/tokenizer/tokenizer.hpp"

namespace hondana::tokenizer {

/// The weight of a word in a search.
enum class term_weight : std::uint8_t {
  full,  ///< A meaningful word.
  low,   ///< Indexed, but too common for queries.
  none,  ///< Not indexed.
};

inline constexpr std::size_t max_token_bytes = 256;

/// Collects words in text order, and finally selects those for the purpose. Threads: one at a time.
class token_collector {
 public:
  explicit token_collector(tokenize_mode mode) noexcept : mode_(mode) {}

  /// Sets the current part of the text: its folded form, which must outlive the calls about this part, and its offset in the
  /// text.
  void begin_part(const language::folded_text& part, std::size_t offset) noexcept {
    part_ = &part;
    offset_ = offset;
  }
  [[nodiscard]] std::string_view folded() const noexcept { return part_->text; }
  /// Returns the offset in the text of a byte of the folded part.
  [[nodiscard]] std::size_t source_offset(std::size_t byte) const noexcept { return offset_ + part_->source_offsets[byte]; }
  [[nodiscard]] bool is_query() const noexcept { return mode_ == tokenize_mode::query; }

  /// Adds a word that covers the bytes from `begin` to `end`, at least one, of the folded part. Cuts it to `max_token_bytes`.
  void add(std::string text, std::size_t begin, std::size_t end, term_weight weight = term_weight::full,
           bool is_prefix = false);
  /// Returns the words. For queries: only those of full weight; if there are none, those of low weight; otherwise all.
  [[nodiscard]] std::vector<token> finish() &&;

 private:
  tokenize_mode mode_;
  const language::folded_text* part_ = nullptr;
  std::size_t offset_ = 0;
  std::vector<token> tokens_{};
  std::vector<term_weight> weights_{};  // Only for queries.
};

/// Adds the trigrams that begin at each character in [begin, end) of the folded part. At the end, also adds shorter ones, so
/// that any text is found by a prefix. In queries, leaves out the shorter ones; a run of one or two characters is a prefix.
void add_trigrams(token_collector& collector, std::size_t begin, std::size_t end);
/// Adds the bigrams that begin at each character in [begin, end) of the folded part except the last. A single character is
/// added alone.
void add_bigrams(token_collector& collector, std::size_t begin, std::size_t end);

}  // namespace hondana::tokenizer

struct sb_stemmer;

namespace hondana::tokenizer {

/// Porter's second stemmer for English, for Latin words of any language: the same word always has the same stem, in texts and
/// in queries. Threads: one at a time.
class stemmer {
 public:
  stemmer();

  /// Returns the stem of a folded word. Words with digits or joining marks, and very long words, stay unchanged.
  [[nodiscard]] std::string stem(std::string_view word);

 private:
  struct deleter {
    void operator()(sb_stemmer* handle) const noexcept;
  };
  std::unique_ptr<sb_stemmer, deleter> porter_;
};

/// Whether a folded English word is a stop word.
[[nodiscard]] bool is_english_stop_word(std::string_view word) noexcept;
/// Whether a Japanese base form is a stop word. False for words that MeCab recognizes as such by their part of speech.
[[nodiscard]] bool is_japanese_stop_word(std::string_view base) noexcept;

/// The number of characters without a space that are processed as one run. Longer runs are divided, so that time stays linear.
inline constexpr std::size_t max_run_characters = 2048;

/// Splits runs of Japanese. Threads: one at a time.
class japanese_splitter {
 public:
  japanese_splitter() = default;
  japanese_splitter(const japanese_splitter&) = delete;
  japanese_splitter& operator=(const japanese_splitter&) = delete;
  virtual ~japanese_splitter() = default;

  /// Adds the words in [begin, end) of the folded part. This range contains only Han and kana.
  virtual void split(token_collector& collector, std::size_t begin, std::size_t end) = 0;
};

/// Folds a text part by part and splits it into words. Hangul words become pairs of characters, Thai and similar scripts
/// triples; scripts with spaces (Latin, Greek, Cyrillic and others) become words. `japanese` splits Han and kana.
[[nodiscard]] std::vector<token> split_text(std::string_view text, tokenize_mode mode, japanese_splitter& japanese,
                                            stemmer& latin);

/// A pool of reusable objects. Threads: any. Leases must end before the pool is destroyed.
template <class T>
class pool {
 public:
  /// An object in use; returned to the pool on destruction.
  class lease {
   public:
    lease(pool& owner, std::unique_ptr<T> object) noexcept : owner_(&owner), object_(std::move(object)) {}
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() { owner_->release(std::move(object_)); }
    T& operator*() const noexcept { return *object_; }
    T* operator->() const noexcept { return object_.get(); }

   private:
    pool* owner_;
    std::unique_ptr<T> object_;
  };

  pool() { idle_.reserve(max_idle); }

  /// Takes an idle object, or one that `make` returns in a `std::unique_ptr<T>`.
  template <class Make>
  [[nodiscard]] lease acquire(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto object = std::move(idle_.back());
        idle_.pop_back();
        return lease(*this, std::move(object));
      }
    }
    return lease(*this, make());
  }

 private:
  static constexpr std::size_t max_idle = 16;

  void release(std::unique_ptr<T> object) noexcept {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < max_idle) idle_.push_back(std::move(object));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_{};
};

}  // namespace hondana::tokenizer
