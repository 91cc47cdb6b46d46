/// The text of a document, the metadata found in it, and the cache of texts.
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

/// A text on one line: runs of white space as one blank, control characters left out, cut behind whole characters and with an
/// ellipsis where it has more than `most` code points.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most);

/// The first paragraph that is prose, on one line and without the commonest marks: no heading, list of settings, table, code,
/// picture or comment. `text`: UTF-8 behind its front matter. Empty: there is none in its first 16 KiB.
[[nodiscard]] std::string first_paragraph(markup::format how, std::string_view text);

/// The first line of a plain text, when it stands alone above more and is no sentence: its title. Part of `text`, which is
/// UTF-8; empty: there is none.
[[nodiscard]] std::string_view title_line(std::string_view text) noexcept;

/// A text for a Markdown link: on one line, with brackets and backslashes escaped.
[[nodiscard]] std::string in_brackets(std::string_view text);

/// "high", "middle" (or "medium", "normal") and "low", also 高, 中 and 低, in whatever width and case.
[[nodiscard]] std::optional<double> priority_named(std::string_view word);
/// "user" or "assistant".
[[nodiscard]] std::optional<role> role_named(std::string_view word);
/// Whether a text has the form of a BCP 47 tag.
[[nodiscard]] bool is_language_tag(std::string_view text) noexcept;

/// Empty where it says nothing.
struct statements {
  std::string title{};
  std::string description{};
  std::optional<double> priority{};
  std::vector<role> audience{};
  std::string lang{};
  /// What was not taken and why, for whoever keeps the documents; at most 10.
  std::vector<std::string> warnings{};

  bool operator==(const statements&) const = default;
};

/// Reads the YAML between a first line `---` and the next such line: `title`, `description`, `priority` (0 to 1, or high,
/// middle, low), `audience` ("user", "assistant" or both) and `lang`. Whatever else there is is its author's business, and what
/// is of a wrong type is left out with a warning. Never fails. `text`: UTF-8; 64 KiB of it are looked at.
[[nodiscard]] statements statements_of(std::string_view text);

/// Small enough to be kept for every document.
struct facts {
  disk::stamp state{};
  std::string charset_rule{};  ///< What a rule said its encoding is, when it was read.
  bool is_racy = false;        ///< It may have changed since without a trace.

  statements says{};
  std::string heading{};      ///< Its first heading, or the title that a PDF or Office file has; empty: none.
  std::string description{};  ///< Its first paragraph.
  std::string lang{};         ///< As the file says, or as its text shows; empty: not known.
  std::string charset{};      ///< "UTF-8" and the like; empty for PDF and Office files.
  std::size_t replaced = 0;   ///< Places that are not of that encoding.
  std::size_t pages = 0;
  std::optional<std::uint64_t> text_size{};  ///< Of its text, in bytes; absent: not read to its end.
  std::size_t masked = 0;                    ///< Secrets in its text.
  std::vector<std::string> targets{};        ///< Of its links to what is beside it, as written, each once; at most 1000.
  bool is_cut = false;                       ///< There is more than could be rendered.
  bool has_secrets_beside = false;           ///< In what of its file is not part of the text.
  bool equals_original = false;  ///< Its text is the file, byte for byte, but for masked secrets and a byte order mark.

  std::optional<failure> problem{};  ///< Why it could not be read.
};

/// The text of a document, whole and masked.
struct prose {
  shared_bytes text{};
  markup::outline outline{};
  std::shared_ptr<const facts> about{};
  std::string digest{};  ///< Of the text.

  [[nodiscard]] std::size_t cost() const noexcept;
};

/// Bounded by what the texts take; those used longest ago go first. Threads: any.
class kept_texts {
 public:
  explicit kept_texts(std::size_t most_bytes) : most_(most_bytes) {}

  /// The text of a document in this state; null when it is not kept.
  [[nodiscard]] std::shared_ptr<const prose> find(const std::string& path, const disk::stamp& state,
                                                  const std::string& charset_rule);
  /// One that is racy, or takes more than a quarter of all, is not kept.
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
  std::list<kept> by_use_;  // latest first
  std::unordered_map<std::string, std::list<kept>::iterator> by_path_;
  std::size_t cost_ = 0;
};

}  // namespace hondana::docs
