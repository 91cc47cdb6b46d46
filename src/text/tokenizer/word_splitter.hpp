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

/// What a word is worth.
enum class worth : std::uint8_t {
  full,    ///< It says something.
  little,  ///< It is indexed, but in queries it would find everything.
  none,    ///< It is not indexed.
};

inline constexpr std::size_t longest_token = 256;

/// Keeps words in the order of the text; at the end those that their purpose wants. Threads: one at a time.
class found {
 public:
  explicit found(purpose what_for) noexcept : what_for_(what_for) {}

  /// The part of the text that is cut now: its folded form, and where it begins.
  void begin_part(const language::folded_text& part, std::size_t offset) noexcept {
    part_ = &part;
    offset_ = offset;
  }
  [[nodiscard]] std::string_view folded() const noexcept { return part_->text; }
  [[nodiscard]] std::size_t source_of(std::size_t byte) const noexcept { return offset_ + part_->source[byte]; }
  [[nodiscard]] bool is_query() const noexcept { return what_for_ == purpose::query; }

  /// A word that is written in bytes [begin, end) of the folded part, which are not none.
  void add(std::string text, std::size_t begin, std::size_t end, worth is = worth::full, bool is_prefix = false);
  /// Of queries the words of full worth, or if there are none those of little, or else whatever there is.
  [[nodiscard]] std::vector<token> finish() &&;

 private:
  purpose what_for_;
  const language::folded_text* part_ = nullptr;
  std::size_t offset_ = 0;
  std::vector<token> tokens_{};
  std::vector<worth> worths_{};  // Of queries alone.
};

/// Three characters at every one of bytes [begin, end) of the folded part, and the shorter ends: a text of any length is found
/// by what it begins with. In queries the ends are left out, and a run of one or two characters is a prefix.
void add_trigrams(found& into, std::size_t begin, std::size_t end);
/// Two characters at every one but the last; one that is alone as it is.
void add_bigrams(found& into, std::size_t begin, std::size_t end);

}  // namespace hondana::tokenizer

struct sb_stemmer;

namespace hondana::tokenizer {

/// Porter's second stemmer for English, for all words of Latin letters whatever their language: the same word always gives the
/// same stem, in a text and in a query. Threads: one at a time.
class stemmer {
 public:
  stemmer();

  /// The stem of a folded word. Words with digits or joined by marks, and very long ones, stay as they are.
  [[nodiscard]] std::string stem_of(std::string_view word);

 private:
  struct closing {
    void operator()(sb_stemmer* one) const noexcept;
  };
  std::unique_ptr<sb_stemmer, closing> porter_;
};

/// Whether a folded English word is one of those.
[[nodiscard]] bool is_english_stop_word(std::string_view word) noexcept;
/// Whether a Japanese base form is one of those; what its part of speech shows is not listed.
[[nodiscard]] bool is_japanese_stop_word(std::string_view base) noexcept;

/// How many characters without a space are cut as one: what comes after is cut for itself, so that time stays linear.
inline constexpr std::size_t longest_run = 2048;

/// Cuts Japanese runs.
class japanese_cutter {
 public:
  japanese_cutter() = default;
  japanese_cutter(const japanese_cutter&) = delete;
  japanese_cutter& operator=(const japanese_cutter&) = delete;
  virtual ~japanese_cutter() = default;

  /// Bytes [begin, end) of the folded part: Han and kana alone.
  virtual void cut(found& into, std::size_t begin, std::size_t end) = 0;
};

/// Folds a text part by part and cuts it. Hangul words become pairs of characters, Thai and its like triples; Latin, Greek,
/// Cyrillic and all others that have spaces are words.
[[nodiscard]] std::vector<token> cut_text(std::string_view text, purpose what_for, japanese_cutter& japanese, stemmer& latin);

/// Threads: any. What is lent must be given back before the pool goes.
template <class T>
class pool {
 public:
  /// One thing in use; given back at its end.
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
