/// English words without their endings.
#pragma once

#include <memory>
#include <string>
#include <string_view>

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

}  // namespace hondana::tokenizer
