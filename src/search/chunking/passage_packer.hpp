/// Packs paragraphs, sentences, lines and rows into passages, and splits those that are too long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "search/chunking/passages.hpp"

namespace hondana::chunking {

/// Behind the sentence that begins at `from`, with the marks that close it (`."`, `。」`) and without the space behind; the end
/// of the text, if no sentence ends before. Looks at no more than `most` bytes; then it is `from + most` at a character.
[[nodiscard]] std::size_t sentence_end(std::string_view text, std::size_t from, std::size_t most) noexcept;

/// At most `most` bytes from `from`, at the best place in the last three quarters of these: a sentence's end, a line's, white
/// space, or what separates words in Japanese and in data; else between two characters, and not before a combining mark.
[[nodiscard]] std::size_t best_cut(std::string_view text, std::size_t from, std::size_t most) noexcept;

/// A section with less may share a passage with its neighbours.
inline constexpr std::size_t small_section = 300;

/// The headings above, or the names of declarations.
using path = std::vector<std::string>;

enum class glue : std::uint8_t { none, space, line, paragraph };

/// How bad it is to begin a passage there.
namespace ranks {
inline constexpr int section = 0;
inline constexpr int block = 10;
inline constexpr int line = 40;
inline constexpr int sentence = 50;
inline constexpr int part = 90;
}  // namespace ranks

/// What is never divided, if it is not larger than a passage.
struct unit {
  std::string_view seen{};  ///< A part of the source; outlives the packer.
  std::string own{};        ///< If not empty, the text instead of `seen`.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::size_t first_line = 1;
  std::size_t last_line = 1;
  int rank = ranks::block;
  glue before = glue::paragraph;
  bool is_heading = false;
  bool is_overlap = false;
  bool is_row = false;  ///< Of a table: none is repeated, but its header is.
  std::size_t page = 0;
  std::shared_ptr<const path> where{};
  std::shared_ptr<const std::string> header{};

  [[nodiscard]] std::string_view text() const noexcept { return own.empty() ? seen : std::string_view(own); }
};

class packer {
 public:
  /// `has_names`: paths are of declarations, and a passage is called by all that it holds.
  explicit packer(const cutting& how, bool has_names = false);

  void add(unit one);
  /// Divides a text of the source that is too long, at sentences, and adds the parts; `like`: what they have in common, and
  /// where the first of them begins.
  void add_sentences(std::string_view text, const unit& like);
  /// A section begins: what is open is a passage, unless it has fewer than `least` bytes and may be joined with it.
  void begin_section(std::size_t least);
  void flush();

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const cutting& how() const noexcept { return how_; }
  [[nodiscard]] bool is_full() const noexcept { return is_full_; }
  [[nodiscard]] cut finish(const std::string& title);

 private:
  void add_divided(const unit& one, std::size_t most);
  void make_room(const unit& next, std::size_t bytes);
  void emit(std::size_t count);
  void drop_front(std::size_t count);
  void overlap_with(const std::vector<unit>& before);
  [[nodiscard]] std::string heading_of(std::size_t count) const;
  [[nodiscard]] std::size_t cost_of(const unit& one, bool is_first) const noexcept;
  [[nodiscard]] std::size_t fresh() const noexcept;

  cutting how_;
  bool has_names_;
  bool is_full_ = false;
  cut made_{};
  std::vector<unit> units_{};
  std::size_t size_ = 0;
  std::size_t section_ = 0;  ///< The unit with which the last section began; 0: all are of one.
};

/// With their closing line ends; where a whole table is added row by row.
[[nodiscard]] std::shared_ptr<const std::string> header_of(std::string_view line, const cutting& how);

}  // namespace hondana::chunking
