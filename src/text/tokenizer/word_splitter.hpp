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

/// The value of a word for search.
enum class worth : std::uint8_t {
  full,    ///< A meaningful word.
  little,  ///< Indexed, but too common for queries.
  none,    ///< Not indexed.
};

inline constexpr std::size_t longest_token = 256;

/// Collects words in text order, and finally selects those for the purpose. Threads: one at a time.
class found {
 public:
  explicit found(purpose what_for) noexcept : what_for_(what_for) {}

  /// Sets the current part: its folded form, and its offset in the text.
  void begin_part(const language::folded_text& part, std::size_t offset) noexcept {
    part_ = &part;
    offset_ = offset;
  }
  [[nodiscard]] std::string_view folded() const noexcept { return part_->text; }
  [[nodiscard]] std::size_t source_of(std::size_t byte) const noexcept { return offset_ + part_->source[byte]; }
  [[nodiscard]] bool is_query() const noexcept { return what_for_ == purpose::query; }

  /// Adds a word that covers bytes [begin, end) of the folded part, which must not be empty.
  void add(std::string text, std::size_t begin, std::size_t end, worth is = worth::full, bool is_prefix = false);
  /// Returns the words. For queries: those of full value; if there are none, those of little value; otherwise all.
  [[nodiscard]] std::vector<token> finish() &&;

 private:
  purpose what_for_;
  const language::folded_text* part_ = nullptr;
  std::size_t offset_ = 0;
  std::vector<token> tokens_{};
  std::vector<worth> worths_{};  // Only for queries.
};

/// Adds the trigrams that begin at each character in [begin, end) of the folded part. At the end, also adds shorter ones, so
/// that any text is found by a prefix. In queries, leaves out the shorter ones; a run of one or two characters is a prefix.
void add_trigrams(found& into, std::size_t begin, std::size_t end);
/// Adds the bigrams that begin at each character except the last. A single character is added alone.
void add_bigrams(found& into, std::size_t begin, std::size_t end);

}  // namespace hondana::tokenizer

struct sb_stemmer;

namespace hondana::tokenizer {

/// Porter's second stemmer for English, for Latin words of any language: the same word always has the same stem, in texts and
/// in queries. Threads: one at a time.
class stemmer {
 public:
  stemmer();

  /// The stem of a folded word. Words with digits or joining marks, and very long words, stay unchanged.
  [[nodiscard]] std::string stem_of(std::string_view word);

 private:
  struct closing {
    void operator()(sb_stemmer* one) const noexcept;
  };
  std::unique_ptr<sb_stemmer, closing> porter_;
};

/// Whether a folded English word is a stop word.
[[nodiscard]] bool is_english_stop_word(std::string_view word) noexcept;
/// Whether a Japanese base form is a stop word. Words that are recognized by their part of speech are not listed.
[[nodiscard]] bool is_japanese_stop_word(std::string_view base) noexcept;

/// The number of characters without a space that are processed as one run. Longer runs are divided, so that time stays linear.
inline constexpr std::size_t longest_run = 2048;

/// Splits runs of Japanese.
class japanese_cutter {
 public:
  japanese_cutter() = default;
  japanese_cutter(const japanese_cutter&) = delete;
  japanese_cutter& operator=(const japanese_cutter&) = delete;
  virtual ~japanese_cutter() = default;

  /// Adds the words in [begin, end) of the folded part, which contains only Han and kana.
  virtual void cut(found& into, std::size_t begin, std::size_t end) = 0;
};

/// Folds a text part by part and splits it into words. Hangul words become pairs of characters, Thai and similar scripts
/// triples; scripts with spaces (Latin, Greek, Cyrillic and others) become words.
[[nodiscard]] std::vector<token> cut_text(std::string_view text, purpose what_for, japanese_cutter& japanese, stemmer& latin);

/// A pool of reusable objects. Threads: any. Leases must end before the pool is destroyed.
template <class T>
class pool {
 public:
  /// An object in use; returned to the pool on destruction.
  class lease {
   public:
    lease(pool& from, std::unique_ptr<T> what) noexcept : from_(&from), what_(std::move(what)) {}
    lease(const lease&) = delete;
    lease& operator=(const lease&) = delete;
    ~lease() { from_->give_back(std::move(what_)); }
    T& operator*() const noexcept { return *what_; }
    T* operator->() const noexcept { return what_.get(); }

   private:
    pool* from_;
    std::unique_ptr<T> what_;
  };

  pool() { idle_.reserve(most_idle); }

  template <class Make>
  [[nodiscard]] lease take(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto one = std::move(idle_.back());
        idle_.pop_back();
        return lease(*this, std::move(one));
      }
    }
    return lease(*this, make());
  }

 private:
  static constexpr std::size_t most_idle = 16;

  void give_back(std::unique_ptr<T> one) noexcept {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < most_idle) idle_.push_back(std::move(one));
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_{};
};

}  // namespace hondana::tokenizer
