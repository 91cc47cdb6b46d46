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

/// Formats text as one line: each run of white space becomes one blank, control characters are removed. Text over `most` code
/// points is cut at a character, and gets an ellipsis.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most);

/// The first paragraph of prose, on one line and without common marks. Skips headings, settings, tables, code, pictures and
/// comments. `text`: UTF-8 after the front matter. Empty if the first 16 KiB have none.
[[nodiscard]] std::string first_paragraph(markup::format how, std::string_view text);

/// The title of a plain text: its first line, if that stands alone above more text and is not a sentence. A part of `text`,
/// which is UTF-8. Empty if there is none.
[[nodiscard]] std::string_view title_line(std::string_view text) noexcept;

/// Escapes text for a Markdown link: on one line, with brackets and backslashes escaped.
[[nodiscard]] std::string in_brackets(std::string_view text);

/// Parses "high", "middle" (or "medium", "normal") and "low", also 高, 中 and 低, in any width and case.
[[nodiscard]] std::optional<double> priority_named(std::string_view word);
/// Parses "user" or "assistant".
[[nodiscard]] std::optional<role> role_named(std::string_view word);
/// Whether a text has the form of a BCP 47 tag.
[[nodiscard]] bool is_language_tag(std::string_view text) noexcept;

/// The values from a document's front matter. A missing value is empty.
struct statements {
  std::string title{};
  std::string description{};
  std::optional<double> priority{};
  std::vector<role> audience{};
  std::string lang{};
  /// Values that were ignored, and why, for the author of the document; at most 10.
  std::vector<std::string> warnings{};

  bool operator==(const statements&) const = default;
};

/// Parses YAML between a first line `---` and the next such line. Keys: `title`, `description`, `priority` (0 to 1, or high,
/// middle, low), `audience` ("user", "assistant" or both) and `lang`. Other keys are ignored; values of a wrong type are
/// skipped with a warning. Never fails. `text`: UTF-8; only the first 64 KiB are read.
[[nodiscard]] statements statements_of(std::string_view text);

/// The metadata of a document. It is cached for every document, so it must be small.
struct facts {
  disk::stamp state{};
  std::string charset_rule{};  ///< The encoding that a rule set when it was read.
  bool is_racy = false;        ///< The file may have changed since without a visible change of its state.

  statements says{};
  std::string heading{};      ///< Its first heading, or the title property of a PDF or Office file; empty: none.
  std::string description{};  ///< Its first paragraph.
  std::string lang{};         ///< From the file, or detected from the text; empty: unknown.
  std::string charset{};      ///< Such as "UTF-8"; empty for PDF and Office files.
  std::size_t replaced = 0;   ///< Invalid sequences that were replaced.
  std::size_t pages = 0;
  std::optional<std::uint64_t> text_size{};  ///< Bytes of its text; empty: it was not read completely.
  std::size_t masked = 0;                    ///< Secrets in its text.
  std::vector<std::string> targets{};        ///< Targets of links to other files, as written, without duplicates; at most 1000.
  bool is_cut = false;                       ///< The rendering was cut at a limit.
  bool has_secrets_beside = false;           ///< In parts of the file that are not in the text.
  bool equals_original = false;              ///< The text equals the file, except for masked secrets and a byte order mark.

  std::optional<failure> problem{};  ///< Why it could not be read.
};

/// The whole text of a document, masked.
struct prose {
  shared_bytes text{};
  markup::outline outline{};
  std::shared_ptr<const facts> about{};
  std::string digest{};  ///< Of the text.

  [[nodiscard]] std::size_t cost() const noexcept;
};

/// A cache of texts, limited by their size. The least recently used are removed first. Threads: any.
class kept_texts {
 public:
  explicit kept_texts(std::size_t most_bytes) : most_(most_bytes) {}

  /// The text of a document in this state; null if it is not cached.
  [[nodiscard]] std::shared_ptr<const prose> find(const std::string& path, const disk::stamp& state,
                                                  const std::string& charset_rule);
  /// Caches a text, unless the file may have just changed, or the text takes over a quarter of the cache.
  void keep(const std::string& path, std::shared_ptr<const prose> text);
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct kept {
    std::string path;
    std::shared_ptr<const prose> text;
    std::size_t cost;
  };
  void drop(std::unordered_map<std::string, std::list<kept>::iterator>::iterator which);

  const std::size_t most_;
  mutable std::mutex mutex_;
  std::list<kept> by_use_;  // most recent first
  std::unordered_map<std::string, std::list<kept>::iterator> by_path_;
  std::size_t cost_ = 0;
};

}  // namespace hondana::docs
