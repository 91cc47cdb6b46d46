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

/// `mark`: what only the markup needs, such as fences, comments and definitions of links.
enum class part : std::uint8_t { front_matter, heading, prose, code, table, mark };

/// Whole lines. Between pieces there are only blank lines.
struct piece {
  part what = part::prose;
  std::size_t begin = 0;
  std::size_t end = 0;  ///< Of what stands in the last line, without CR and LF.
  std::size_t first_line = 1;
  std::size_t last_line = 1;
  int level = 0;          ///< Of a heading.
  std::string heading{};  ///< As people read it; of front matter its title.
  std::string id{};       ///< As the document gives it; empty: it does not.
};

class hearer {
 public:
  hearer() = default;
  hearer(const hearer&) = delete;
  hearer& operator=(const hearer&) = delete;
  virtual ~hearer() = default;

  /// In the order of the text. False: nothing more is wanted.
  virtual bool take(piece one) = 0;
  /// In the order of the text, but for those within a piece that may come before it.
  virtual void refer(link one) = 0;
  /// False: `refer` is not called, which saves the search for links.
  [[nodiscard]] virtual bool wants_links() const noexcept = 0;
};

/// Headings, and texts of links, are cut there; they are no place for chapters.
inline constexpr std::size_t longest_heading = 400;
/// A longer target is no reference that somebody follows (a picture within its page, most times).
inline constexpr std::size_t longest_target = 2048;

/// All in linear time, and with memory for what is open at the moment and the definitions of links.
void read_plain(std::string_view text, hearer& to);
void read_markdown(std::string_view text, hearer& to);
void read_asciidoc(std::string_view text, hearer& to);
void read_restructured_text(std::string_view text, hearer& to);

/// The reader for a format; that of HTML, which has no lines, is none of these: `html` is read as plain text.
void read(format how, std::string_view text, hearer& to);

class gatherer {
 public:
  gatherer(std::string_view text, hearer& to) noexcept : text_(text), to_(to) {}

  [[nodiscard]] std::string_view in(const line& one) const noexcept { return text_.substr(one.begin, one.end - one.begin); }
  /// The line goes to the open piece if that is of the same kind, else a new one begins.
  void extend(part what, const line& one) {
    if (!is_open_ || open_.what != what) {
      close();
      open_ = {what, one.begin, one.end, one.number, one.number, 0, {}, {}};
      is_open_ = true;
    }
    open_.end = one.end;
    open_.last_line = one.number;
  }
  /// The open piece is whole. What it is, for its links; `mark`: nothing was open.
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

/// As GitHub makes it: letters in lower case, digits, marks, `_` and `-` stay, spaces become `-`, all else goes.
/// "section" where nothing is left.
[[nodiscard]] std::string id_of(std::string_view heading);

class outline_builder final : public hearer {
 public:
  bool take(piece one) override;
  void refer(link one) override;
  [[nodiscard]] bool wants_links() const noexcept override { return true; }
  /// Of a text of so many bytes and lines.
  [[nodiscard]] outline finish(std::size_t bytes, std::size_t lines);

 private:
  std::string unique(std::string id);

  outline made_{};
  bool has_front_title_ = false;
  std::unordered_map<std::string, std::size_t> seen_{};
};

/// The front matter as a piece whose `end` is where the text begins behind it; its heading is the member `title`, if that is
/// a text. Nothing: there is none, since no line closes it within 64 KiB, or what stands there is YAML, but no mapping: two
/// rules with a paragraph between them. YAML that is broken is front matter all the same.
[[nodiscard]] std::optional<piece> front_matter_of(std::string_view text);

}  // namespace hondana::markup
