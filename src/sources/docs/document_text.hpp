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

/// Formats text as one line: each run of white space becomes one blank, control characters are removed. Text over `max_length`
/// code points is cut at a character, and gets an ellipsis.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t max_length);

/// The first paragraph of prose, on one line and without common marks. Skips headings, settings, tables, code, pictures and
/// comments. `text`: UTF-8 after the front matter. Empty if the first 16 KiB have none.
[[nodiscard]] std::string first_paragraph(markup::markup_format format, std::string_view text);

/// The title of a plain text: its first line, if that stands alone above more text and is not a sentence. A part of `text`,
/// which is UTF-8. Empty if there is none.
[[nodiscard]] std::string_view title_line(std::string_view text) noexcept;

/// Escapes text for a Markdown link: on one line, with brackets and backslashes escaped.
[[nodiscard]] std::string escape_link_text(std::string_view text);

/// Parses "high", "middle" (or "medium", "normal") and "low", also 高, 中 and 低, in any width and case.
[[nodiscard]] std::optional<double> parse_priority(std::string_view word);
/// Parses "user" or "assistant".
[[nodiscard]] std::optional<chat_role> parse_role(std::string_view word);
/// Whether a text has the form of a BCP 47 tag.
[[nodiscard]] bool is_language_tag(std::string_view text) noexcept;

/// The values from a document's front matter. A missing value is empty.
struct front_matter_values {
  std::string title{};
  std::string description{};
  std::optional<double> priority{};
  std::vector<chat_role> audience{};
  std::string lang{};
  /// Values that were ignored, and why, for the author of the document; at most 10.
  std::vector<std::string> warnings{};

  bool operator==(const front_matter_values&) const = default;
};

/// Parses YAML between a first line `---` and the next such line. Keys: `title`, `description`, `priority` (0 to 1, or high,
/// middle, low), `audience` ("user", "assistant" or both) and `lang`. Other keys are ignored; values of a wrong type are
/// skipped with a warning. Never fails. `text`: UTF-8; only the first 64 KiB are read.
[[nodiscard]] front_matter_values parse_front_matter(std::string_view text);

/// The metadata of a document. It is cached for every document, so it must be small.
struct document_properties {
  disk::stamp stamp{};
  std::string charset_rule{};  ///< The encoding that a rule set when it was read.
  bool is_racy = false;        ///< The file may have changed since without a visible change of its state.

  front_matter_values front_matter{};
  std::string heading{};           ///< Its first heading, or the title property of a PDF or Office file; empty: none.
  std::string description{};       ///< Its first paragraph.
  std::string lang{};              ///< From the file, or detected from the text; empty: unknown.
  std::string charset{};           ///< Such as "UTF-8"; empty for PDF and Office files.
  std::size_t replaced_count = 0;  ///< Invalid sequences that were replaced.
  std::size_t page_count = 0;
  std::optional<std::uint64_t> text_size{};  ///< Bytes of its text; empty: it was not read completely.
  std::size_t masked_count = 0;              ///< Secrets in its text.
  std::vector<std::string> link_targets{};   ///< Targets of links to other files, as written, without duplicates; at most 1000.
  bool is_truncated = false;                 ///< The rendering was cut at a limit.
  bool has_extra_secrets = false;            ///< In parts of the file that are not in the text.
  bool equals_original = false;              ///< The text equals the file, except for masked secrets and a byte order mark.

  std::optional<failure> problem{};  ///< Why it could not be read.
};

/// The whole text of a document, masked.
struct document_text {
  shared_bytes content{};
  markup::outline outline{};
  std::shared_ptr<const document_properties> properties{};
  std::string digest{};  ///< Of the text.

  [[nodiscard]] std::size_t cost() const noexcept;
};

/// A cache of texts, limited by their size. The least recently used are removed first. Threads: any.
class text_cache {
 public:
  explicit text_cache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// The text of a document in this state; null if it is not cached.
  [[nodiscard]] std::shared_ptr<const document_text> find(const std::string& path, const disk::stamp& stamp,
                                                          const std::string& charset_rule);
  /// Caches a text, unless the file may have just changed, or the text takes over a quarter of the cache.
  void insert(const std::string& path, std::shared_ptr<const document_text> text);
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
