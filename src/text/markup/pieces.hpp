/// What a marked-up text is made of, piece by piece, as its readers tell it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

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

}  // namespace hondana::markup
