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

/// The position after the sentence that begins at `begin`. Includes closing marks (`."`, `。」`), but not the white space after
/// them. The end of the text if no sentence ends before.
/// Looks at no more than `max_bytes` bytes; then the result is `begin + max_bytes`, moved to a character boundary.
[[nodiscard]] std::size_t sentence_end(std::string_view text, std::size_t begin, std::size_t max_bytes) noexcept;

/// The best position for a cut at most `max_bytes` bytes after `begin`, within the last three quarters of these bytes. In this
/// order: the end of a sentence or a line, white space, a comma or semicolon (also `、`). Otherwise between two characters, but
/// not before a combining mark.
[[nodiscard]] std::size_t best_cut(std::string_view text, std::size_t begin, std::size_t max_bytes) noexcept;

/// In bytes. A smaller section may share a passage with its neighbours.
inline constexpr std::size_t small_section = 300;

/// The headings above a text, or the names of the enclosing declarations.
using path = std::vector<std::string>;

/// The separator before a unit.
enum class glue : std::uint8_t { none, space, line, paragraph };

/// The cost of beginning a passage at a unit; lower is better.
namespace ranks {
inline constexpr int section = 0;
inline constexpr int block = 10;
inline constexpr int line = 40;
inline constexpr int sentence = 50;
inline constexpr int part = 90;
}  // namespace ranks

/// A piece of text that is never divided unless it is larger than a passage.
struct unit {
  std::string_view source{};  ///< A part of the source text, which must outlive the packer.
  std::string replacement{};  ///< If not empty, replaces `source` as the text.
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::size_t first_line = 1;
  std::size_t last_line = 1;
  int rank = ranks::block;
  glue leading_glue = glue::paragraph;
  bool is_heading = false;
  bool is_overlap = false;
  bool is_row = false;  ///< A row of a table. Rows are not repeated in the next passage, but their header is.
  std::size_t page = 0;
  std::shared_ptr<const path> breadcrumbs{};
  std::shared_ptr<const std::string> header{};

  [[nodiscard]] std::string_view text() const noexcept { return replacement.empty() ? source : std::string_view(replacement); }
};

/// Collects units and emits passages. Threads: one.
class packer {
 public:
  /// `has_names`: paths are names of declarations, and the heading of a passage lists all declarations in it.
  explicit packer(const chunking_options& options, bool has_names = false);

  void add(unit next);
  /// Divides a long part of the source text into sentences and adds them. `prototype`: the properties of all sentences, and the
  /// position of the first one.
  void add_sentences(std::string_view text, const unit& prototype);
  /// Begins a section. Emits the current passage, unless it has fewer than `min_bytes` bytes and may be joined with the
  /// section.
  void begin_section(std::size_t min_bytes);
  void flush();

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] const chunking_options& options() const noexcept { return options_; }
  [[nodiscard]] bool is_full() const noexcept { return is_full_; }
  [[nodiscard]] chunked_text finish(const std::string& title);

 private:
  void add_divided(const unit& oversized, std::size_t max_bytes);
  void make_space(const unit& next, std::size_t bytes);
  void emit(std::size_t count);
  void drop_front(std::size_t count);
  void overlap_with(const std::vector<unit>& previous);
  [[nodiscard]] std::string heading_of(std::size_t count) const;
  [[nodiscard]] std::size_t cost_of(const unit& item, bool is_first) const noexcept;
  [[nodiscard]] std::size_t new_unit_count() const noexcept;

  chunking_options options_;
  bool has_names_;
  bool is_full_ = false;
  chunked_text chunked_{};
  std::vector<unit> units_{};
  std::size_t size_ = 0;
  std::size_t section_ = 0;  ///< Index of the unit that began the last section; 0: all units are of one section.
};

/// The header to repeat in each passage of a table; null if the line is blank or longer than a quarter of a passage.
[[nodiscard]] std::shared_ptr<const std::string> header_of(std::string_view line, const chunking_options& options);

}  // namespace hondana::chunking
