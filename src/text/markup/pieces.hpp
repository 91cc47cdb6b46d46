/// Pieces of a marked-up text, such as headings and paragraphs, and building outlines from them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "text/markup/characters.hpp"
#include "text/markup/outline.hpp"

namespace hondana::markup {

/// The kind of a piece. `mark`: markup without text, such as fences, comments and link definitions.
enum class piece_kind : std::uint8_t { front_matter, heading, prose, code, table, mark };

/// A run of whole lines. Only blank lines are between pieces.
struct piece {
  piece_kind kind = piece_kind::prose;
  std::size_t begin = 0;
  std::size_t end = 0;  ///< End of the content of the last line, without CR and LF.
  std::size_t first_line = 1;
  std::size_t last_line = 1;
  int level = 0;          ///< Level of a heading.
  std::string heading{};  ///< Text as people read it; for front matter its title.
  std::string id{};       ///< Id set by the document; empty: none.
};

/// Receives the pieces and links of a text.
class markup_listener {
 public:
  markup_listener() = default;
  markup_listener(const markup_listener&) = delete;
  markup_listener& operator=(const markup_listener&) = delete;
  virtual ~markup_listener() = default;

  /// Receives a piece, in text order. Return false to stop.
  virtual bool on_piece(piece piece) = 0;
  /// Receives a link, in text order. A link inside a piece may arrive before the piece.
  virtual void on_link(link link) = 0;
  /// Whether to call `on_link`. False saves the search for links.
  [[nodiscard]] virtual bool wants_links() const noexcept = 0;
};

/// Limit in bytes for headings and link texts; longer ones are cut.
inline constexpr std::size_t max_heading_bytes = 400;
/// Limit in bytes for link targets; longer ones (usually embedded pictures) are ignored.
inline constexpr std::size_t max_target_bytes = 2048;

// The readers, which call `listener` for each piece and link. Time: linear. Memory: for open blocks and link definitions.

void read_plain(std::string_view text, markup_listener& listener);
void read_markdown(std::string_view text, markup_listener& listener);
void read_asciidoc(std::string_view text, markup_listener& listener);
void read_restructured_text(std::string_view text, markup_listener& listener);

/// Calls the reader for a format. `html` is read as plain text here, because HTML is not line-based; see html.hpp for its
/// reader.
void read(markup_format format, std::string_view text, markup_listener& listener);

/// Collects consecutive lines of one kind into pieces, and passes them to a `markup_listener`. The text and the listener must
/// outlive it.
class piece_collector {
 public:
  piece_collector(std::string_view text, markup_listener& listener) noexcept : text_(text), listener_(listener) {}

  /// Returns the line without its line ending.
  [[nodiscard]] std::string_view content_of(const text_line& line) const noexcept {
    return text_.substr(line.begin, line.end - line.begin);
  }
  /// Adds a line to the open piece if it has the same kind; otherwise begins a new piece.
  void extend(piece_kind kind, const text_line& line) {
    if (!is_open_ || open_piece_.kind != kind) {
      close();
      open_piece_ = {kind, line.begin, line.end, line.number, line.number, 0, {}, {}};
      is_open_ = true;
    }
    open_piece_.end = line.end;
    open_piece_.last_line = line.number;
  }
  /// Ends the open piece, passes it on, and returns it, for its links. If none is open, returns a piece of kind `mark`.
  piece close() {
    if (!is_open_) return {piece_kind::mark, 0, 0, 1, 1, 0, {}, {}};
    is_open_ = false;
    emit(open_piece_);
    return std::move(open_piece_);
  }
  /// Drops the open piece.
  void discard() noexcept { is_open_ = false; }
  /// Passes on a piece, unless the listener has stopped.
  void emit(piece piece) { accepts_more_ = accepts_more_ && listener_.on_piece(std::move(piece)); }
  void emit(piece_kind kind, const text_line& line) { emit({kind, line.begin, line.end, line.number, line.number, 0, {}, {}}); }
  void emit_link(link link) {
    if (listener_.wants_links()) listener_.on_link(std::move(link));
  }
  [[nodiscard]] bool is_open(piece_kind kind) const noexcept { return is_open_ && open_piece_.kind == kind; }
  [[nodiscard]] const piece& open_piece() const noexcept { return open_piece_; }
  /// Whether the listener has not stopped.
  [[nodiscard]] bool accepts_more() const noexcept { return accepts_more_; }
  [[nodiscard]] bool wants_links() const noexcept { return listener_.wants_links(); }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
  markup_listener& listener_;
  bool accepts_more_ = true;
  bool is_open_ = false;
  piece open_piece_{};
};

/// Returns the id that GitHub derives from a heading. Letters become lower case; digits, marks, `_` and `-` stay; spaces become
/// `-`; other characters are removed. "section" if nothing is left.
[[nodiscard]] std::string id_of(std::string_view heading);

/// Builds an outline from pieces and links.
class outline_builder final : public markup_listener {
 public:
  bool on_piece(piece piece) override;
  void on_link(link link) override;
  [[nodiscard]] bool wants_links() const noexcept override { return true; }
  /// Returns the outline. Call once. `bytes` and `lines`: the size of the text.
  [[nodiscard]] outline finish(std::size_t bytes, std::size_t lines);

 private:
  /// Returns the id, with a number at its end if it is in use.
  std::string make_unique_id(std::string id);

  outline outline_{};
  bool has_front_title_ = false;
  std::unordered_map<std::string, std::size_t> id_counts_{};
};

/// Finds the front matter and returns it as a piece: YAML between lines `---`, or TOML between lines `+++` as in Hugo. `end`:
/// where the text after it begins. `heading`: the member `title`, if it is a text. Malformed YAML is front matter, too. No
/// value: no closing line within 64 KiB, or the content is YAML but not a mapping, such as a paragraph between two rules, or
/// TOML without keys.
[[nodiscard]] std::optional<piece> find_front_matter(std::string_view text);

}  // namespace hondana::markup
