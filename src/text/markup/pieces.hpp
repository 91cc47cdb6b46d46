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
enum class part : std::uint8_t { front_matter, heading, prose, code, table, mark };

/// A run of whole lines. Only blank lines are between pieces.
struct piece {
  part what = part::prose;
  std::size_t begin = 0;
  std::size_t end = 0;  ///< End of the content of the last line, without CR and LF.
  std::size_t first_line = 1;
  std::size_t last_line = 1;
  int level = 0;          ///< Level of a heading.
  std::string heading{};  ///< Text as people read it; for front matter its title.
  std::string id{};       ///< Id set by the document; empty: none.
};

/// Receives the pieces and links of a text.
class hearer {
 public:
  hearer() = default;
  hearer(const hearer&) = delete;
  hearer& operator=(const hearer&) = delete;
  virtual ~hearer() = default;

  /// Receives a piece, in text order. Returns false to stop.
  virtual bool take(piece one) = 0;
  /// Receives a link, in text order. A link inside a piece may arrive before the piece.
  virtual void refer(link one) = 0;
  /// False: `refer` is not called, which saves the search for links.
  [[nodiscard]] virtual bool wants_links() const noexcept = 0;
};

/// Limit in bytes for headings and link texts; longer ones are cut.
inline constexpr std::size_t longest_heading = 400;
/// Limit in bytes for link targets; longer ones (usually embedded pictures) are ignored.
inline constexpr std::size_t longest_target = 2048;

/// The readers. Time: linear. Memory: for open blocks and link definitions.
void read_plain(std::string_view text, hearer& to);
void read_markdown(std::string_view text, hearer& to);
void read_asciidoc(std::string_view text, hearer& to);
void read_restructured_text(std::string_view text, hearer& to);

/// Calls the reader for a format. `html` is read as plain text here, because HTML is not line-based; see html.hpp for its
/// reader.
void read(format how, std::string_view text, hearer& to);

/// Collects consecutive lines of one kind into pieces, and passes them to a `hearer`.
class gatherer {
 public:
  gatherer(std::string_view text, hearer& to) noexcept : text_(text), to_(to) {}

  [[nodiscard]] std::string_view in(const line& one) const noexcept { return text_.substr(one.begin, one.end - one.begin); }
  /// Adds a line to the open piece if it has the same kind; otherwise begins a new piece.
  void extend(part what, const line& one) {
    if (!is_open_ || open_.what != what) {
      close();
      open_ = {what, one.begin, one.end, one.number, one.number, 0, {}, {}};
      is_open_ = true;
    }
    open_.end = one.end;
    open_.last_line = one.number;
  }
  /// Ends the open piece and returns it, for its links. If none is open, returns a piece of kind `mark`.
  piece close() {
    if (!is_open_) return {part::mark, 0, 0, 1, 1, 0, {}, {}};
    is_open_ = false;
    emit(open_);
    return std::move(open_);
  }
  void drop() noexcept { is_open_ = false; }
  void emit(piece one) { is_wanted_ = is_wanted_ && to_.take(std::move(one)); }
  void emit(part what, const line& one) { emit({what, one.begin, one.end, one.number, one.number, 0, {}, {}}); }
  void refer(link one) {
    if (to_.wants_links()) to_.refer(std::move(one));
  }
  [[nodiscard]] bool is_open(part what) const noexcept { return is_open_ && open_.what == what; }
  [[nodiscard]] const piece& open() const noexcept { return open_; }
  [[nodiscard]] bool is_wanted() const noexcept { return is_wanted_; }
  [[nodiscard]] bool wants_links() const noexcept { return to_.wants_links(); }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  std::string_view text_;
  hearer& to_;
  bool is_wanted_ = true;
  bool is_open_ = false;
  piece open_{};
};

/// The id that GitHub derives from a heading: letters in lower case; digits, marks, `_` and `-` stay; spaces become `-`; other
/// characters are removed. "section" if nothing is left.
[[nodiscard]] std::string id_of(std::string_view heading);

/// Builds an outline from pieces and links.
class outline_builder final : public hearer {
 public:
  bool take(piece one) override;
  void refer(link one) override;
  [[nodiscard]] bool wants_links() const noexcept override { return true; }
  /// `bytes` and `lines`: the size of the text.
  [[nodiscard]] outline finish(std::size_t bytes, std::size_t lines);

 private:
  std::string unique(std::string id);

  outline made_{};
  bool has_front_title_ = false;
  std::unordered_map<std::string, std::size_t> seen_{};
};

/// The front matter as a piece. `end`: where the text after it begins. `heading`: the member `title`, if it is a text.
/// Malformed YAML is front matter, too.
/// No value: no closing line within 64 KiB, or the content is YAML but not a mapping, such as a paragraph between two rules.
[[nodiscard]] std::optional<piece> front_matter_of(std::string_view text);

}  // namespace hondana::markup
