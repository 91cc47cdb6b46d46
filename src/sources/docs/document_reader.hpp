/// Reads a file, converts it to text, masks its secrets, and outlines it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hondana/provider.hpp>

#include "sources/docs/document_folder.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/document_type.hpp"

namespace hondana::docs {

/// All text of a page for a search for secrets: visible and hidden text, scripts and comments. Tags and invisible characters
/// are removed, entities decoded. Tags that separate words become line ends. Linear time.
[[nodiscard]] std::string joined_text_of_html(std::string_view page);

/// A file to read. `path`: on disk.
struct assignment {
  std::string_view path{};
  document_type type{};
  std::string_view charset{};  ///< As set by a rule; empty: none.
};

/// Reads a document, converts or renders it, masks its secrets, and outlines it. Errors: response_too_large: beyond the set's
/// `max_bytes`; unreadable: not text; unsupported: it needs rendering, which is not available. Also those of `read_whole` and
/// the renderer.
[[nodiscard]] result<std::shared_ptr<const prose>> read_prose(const opened_file& file, const assignment& what,
                                                              const options& with, const call& by);

/// Reads what a list needs of a text document. Of a large one, reads the beginning only. Not for documents that must be
/// rendered. Errors: as `read_prose`.
[[nodiscard]] result<std::shared_ptr<const facts>> glance(const opened_file& file, const assignment& what, const options& with);

/// Whether an error is caused by the document, and lasts until it changes.
[[nodiscard]] bool is_lasting(const failure& why) noexcept;

/// The error for an original that is withheld. Uses unsupported, since callers do not see the text of access_denied. `why`: the
/// end of the sentence.
[[nodiscard]] failure withheld(const std::string& why);

/// The original file. With `redact`, it is returned only if its text has no secrets, or if text and file are the same bytes and
/// are masked alike. Never if the whole text is not known. `about`: facts of the same state; null: the text is unknown. Errors:
/// as `withheld`; those of `read_whole`; response_too_large.
struct original {
  shared_bytes bytes{};
  std::size_t masked = 0;
};
[[nodiscard]] result<original> read_original(const opened_file& file, const assignment& what, const options& with,
                                             const facts* about);

}  // namespace hondana::docs
