/// The words of a text while it is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/language/language.hpp"
#include "text/tokenizer/tokens.hpp"

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

}  // namespace hondana::tokenizer
