/// Finds title, description and metadata in the text of a document, and caches texts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "os/disk/file_stamp.hpp"
#include "text/markup/outline.hpp"

namespace hondana::docs {

/// Formats text (UTF-8) as one line: replaces each run of white space by one space, and removes control characters. A text of
/// more than `max_length` code points is cut there, and `…` is appended.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t max_length);

/// The first paragraph of prose, as `one_line` formats it, with at most 200 code points and without code and link marks. Skips
/// headings, settings, tables, code, pictures and comments. `text`: UTF-8 without the front matter. Empty if its first 16 KiB
/// have no paragraph.
[[nodiscard]] std::string first_paragraph(markup::markup_format format, std::string_view text);

/// The title of a plain text (UTF-8): its first line, if an empty line and more text follow, and it is not a sentence. Empty if
/// there is none. The result is a part of `text`.
[[nodiscard]] std::string_view title_line(std::string_view text) noexcept;

/// Escapes text for a Markdown link: formats it by `one_line`, with at most 200 code points, and escapes `[`, `]`, `<`,
/// backslashes and backticks.
[[nodiscard]] std::string escape_link_text(std::string_view text);

/// Parses "high" (0.9), "middle", "medium" and "normal" (0.5), and "low" (0.2), also 高, 中 and 低, in any width and case.
/// Nothing for other words.
[[nodiscard]] std::optional<double> parse_priority(std::string_view word);
/// Parses "user" or "assistant". Nothing for other words.
[[nodiscard]] std::optional<chat_role> parse_role(std::string_view word);
/// Whether a text has the form of a BCP 47 tag.
[[nodiscard]] bool is_language_tag(std::string_view text) noexcept;

/// The values from a document's front matter. A missing value is empty.
struct front_matter_values {
  std::string title{};
  std::string description{};
  std::optional<double> priority{};  ///< 0 to 1.
  std::vector<chat_role> audience{};
  std::string lang{};  ///< BCP 47 tag.
  /// Which values were ignored, and why, for the author of the document; at most 10.
  std::vector<std::string> warnings{};

  bool operator==(const front_matter_values&) const = default;
};

/// Parses YAML between a first line `---` and the next such line. Reads the keys `title`, `description`, `priority` (0 to 1, or
/// as `parse_priority`), `audience` ("user", "assistant" or both) and `lang`, and ignores others. A value of a wrong type, and
/// YAML that cannot be parsed, cause a warning. `text`: UTF-8; only the first 64 KiB are read.
[[nodiscard]] front_matter_values parse_front_matter(std::string_view text);

/// The properties of a document that were read from its content. They are cached for every document, so they must be small.
struct document_properties {
  disk::stamp stamp{};         ///< Of the file when it was read.
  std::string charset_rule{};  ///< The encoding that a rule set when the file was read; empty: none.
  bool is_racy = false;        ///< The file may have changed without a new stamp (`disk::is_racy`).

  front_matter_values front_matter{};
  std::string heading{};           ///< The first heading, or the title property of a PDF or Office file; empty: none.
  std::string description{};       ///< The first paragraph.
  std::string lang{};              ///< From the front matter, from the file, or detected from the text; empty: unknown.
  std::string charset{};           ///< The encoding of the file, such as "UTF-8"; empty for PDF and Office files.
  std::size_t replaced_count = 0;  ///< Number of invalid byte sequences that were replaced.
  std::size_t page_count = 0;      ///< 0: it has no pages.
  std::optional<std::uint64_t> text_size{};  ///< Bytes of the text; absent: it was not read completely.
  std::size_t masked_count = 0;              ///< Number of masked secrets in the text.
  std::vector<std::string> link_targets{};   ///< Targets of links to other files, as written, without duplicates; at most 1000.
  bool is_truncated = false;                 ///< The rendering was cut at a limit.
  bool has_extra_secrets = false;            ///< Parts of the file that are not in its text contain secrets.
  bool equals_original = false;              ///< The text equals the file, except for masked secrets and a byte order mark.

  std::optional<failure> problem{};  ///< Why it could not be read; then the members of the content are empty.
};

/// The whole text of a document, with its secrets masked.
struct document_text {
  shared_bytes content{};
  markup::outline outline{};
  std::shared_ptr<const document_properties> properties{};  ///< Never null.
  std::string digest{};                                     ///< SHA-256 of `content`.

  /// Approximate memory use in bytes.
  [[nodiscard]] std::size_t cost() const noexcept;
};

/// A cache of texts, limited by their size. The least recently used are removed first. Threads: any.
class text_cache {
 public:
  explicit text_cache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// The text of a document with this stamp and rule; null if it is not cached. Removes a text of another state.
  [[nodiscard]] std::shared_ptr<const document_text> find(const std::string& path, const disk::stamp& stamp,
                                                          const std::string& charset_rule);
  /// Replaces the cached text of a document. Only removes it if the new text is racy, or takes over a quarter of the cache.
  void insert(const std::string& path, std::shared_ptr<const document_text> text);
  /// Approximate memory use.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct cached_text {
    std::string path;
    std::shared_ptr<const document_text> text;
    std::size_t cost;
  };
  void erase(std::unordered_map<std::string, std::list<cached_text>::iterator>::iterator position);

  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<cached_text> by_recency_;  // most recent first
  std::unordered_map<std::string, std::list<cached_text>::iterator> by_path_;
  std::size_t cost_ = 0;
};

}  // namespace hondana::docs
