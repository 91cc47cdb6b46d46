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

/// Returns the position after the sentence that begins at `begin`, with its closing marks (`."`, `。」`), without the white
/// space after them. If no sentence ends within `max_bytes` bytes: the end of the text, or a character boundary near this
/// limit.
[[nodiscard]] std::size_t sentence_end(std::string_view text, std::size_t begin, std::size_t max_bytes) noexcept;

/// Returns the best position for a cut at most `max_bytes` bytes after `begin`; the end of the text if it is that near. Looks
/// in the last three quarters of these bytes for the last end of a sentence. Without one, it looks for a line end, then white
/// space, then a comma or semicolon (also `、`). Otherwise cuts between two characters, but not before a combining mark.
[[nodiscard]] std::size_t best_cut(std::string_view text, std::size_t begin, std::size_t max_bytes) noexcept;

/// A section of fewer bytes may share a passage with its neighbours.
inline constexpr std::size_t small_section = 300;

/// The headings above a text, or the names of the declarations or JSON members around it. Outermost first.
using path = std::vector<std::string>;

/// The separator between a unit and the unit before it. `paragraph`: a blank line.
enum class glue : std::uint8_t { none, space, line, paragraph };

/// How bad it is to begin a passage at a unit; lower is better. `part`: the continuation of a divided unit.
namespace ranks {
inline constexpr int section = 0;
inline constexpr int block = 10;
inline constexpr int line = 40;
inline constexpr int sentence = 50;
inline constexpr int part = 90;
}  // namespace ranks

/// A piece of text that is divided only if it is larger than a passage. Positions are those in the source text.
struct unit {
  std::string_view source{};   ///< A part of the source text, which must outlive the packer.
  std::string replacement{};   ///< If not empty, the text instead of `source`.
  std::uint64_t begin = 0;     ///< In bytes.
  std::uint64_t end = 0;       ///< Not included.
  std::size_t first_line = 1;  ///< From 1.
  std::size_t last_line = 1;   ///< Included.
  int rank = ranks::block;     ///< See `ranks`.
  glue leading_glue = glue::paragraph;
  bool is_heading = false;
  bool is_overlap = false;                      ///< Repeats text of the previous passage; set by the packer.
  bool is_row = false;                          ///< A row of a table. It is not repeated in the next passage, but `header` is.
  std::size_t page = 0;                         ///< From 1; 0: no pages.
  std::shared_ptr<const path> breadcrumbs{};    ///< Null: none.
  std::shared_ptr<const std::string> header{};  ///< The header of the row's table, for the beginning of a passage. Null: none.

  [[nodiscard]] std::string_view text() const noexcept { return replacement.empty() ? source : std::string_view(replacement); }
};

/// Collects units and makes passages of them. Threads: one.
class packer {
 public:
  /// `has_names`: paths are names of declarations or members. The heading of a passage then lists all names in it.
  explicit packer(const chunking_options& options, bool has_names = false);

  /// Adds a unit. Ends the current passage if the unit does not fit. Divides a unit that is larger than a passage.
  void add(unit next);
  /// Divides `text`, a part of the source text, into sentences and adds them. `prototype`: the properties of all sentences, and
  /// the position of the first one. Its `replacement` must be empty.
  void add_sentences(std::string_view text, const unit& prototype);
  /// Begins a section. Ends the current passage, unless it has fewer than `min_bytes` bytes and may be joined with the section.
  void begin_section(std::size_t min_bytes);
  /// Ends the current passage.
  void flush();

  /// Bytes of the current passage.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// The options, limited to usable values.
  [[nodiscard]] const chunking_options& options() const noexcept { return options_; }
  /// Whether the text has more than `max_passages` passages. Further units are ignored.
  [[nodiscard]] bool is_full() const noexcept { return is_full_; }
  /// Ends the last passage and returns all passages, each with this title. Call once.
  [[nodiscard]] chunked_text finish(const std::string& title);

 private:
  /// Adds a unit in parts of at most `max_bytes` bytes.
  void add_divided(const unit& oversized, std::size_t max_bytes);
  /// Ends the current passage if `next`, which adds `bytes` bytes to it, does not fit.
  void make_space(const unit& next, std::size_t bytes);
  /// Makes a passage of the first `count` units, without removing them.
  void emit(std::size_t count);
  void drop_front(std::size_t count);
  /// Puts the last units or sentences of `previous` before the current units.
  void overlap_with(const std::vector<unit>& previous);
  /// Returns the heading of a passage of the first `count` units.
  [[nodiscard]] std::string heading_of(std::size_t count) const;
  /// Returns the bytes that a unit adds to a passage.
  [[nodiscard]] std::size_t cost_of(const unit& item, bool is_first) const noexcept;
  /// Returns the number of units that repeat nothing.
  [[nodiscard]] std::size_t new_unit_count() const noexcept;

  chunking_options options_;
  bool has_names_;
  bool is_full_ = false;
  chunked_text chunked_{};
  std::vector<unit> units_{};
  std::size_t size_ = 0;
  std::size_t section_ = 0;  ///< Index of the unit that began the last section; 0: all units are of one section.
};

/// Returns the header to repeat in each passage of a table; null if the line is blank or longer than a quarter of a passage.
[[nodiscard]] std::shared_ptr<const std::string> header_of(std::string_view line, const chunking_options& options);

}  // namespace hondana::chunking
