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
[[nodiscard]] std::string extract_html_text(std::string_view page);

/// A file to read. `path`: on disk.
struct document_source {
  std::string_view path{};
  document_type type{};
  std::string_view charset{};  ///< As set by a rule; empty: none.
};

/// Reads a document, converts or renders it, masks its secrets, and outlines it. Errors: response_too_large: beyond the set's
/// `max_bytes`; unreadable: not text; unsupported: it needs rendering, which is not available. Also those of `read_all` and the
/// renderer.
[[nodiscard]] result<std::shared_ptr<const document_text>> read_text(const opened_file& file, const document_source& source,
                                                                     const set_options& options,
                                                                     const request_context& request);

/// Reads what a list needs of a text document. Of a large one, reads the beginning only. Not for documents that must be
/// rendered. Errors: as `read_text`.
[[nodiscard]] result<std::shared_ptr<const document_properties>> read_properties(const opened_file& file,
                                                                                 const document_source& source,
                                                                                 const set_options& options);

/// Whether an error is caused by the document, and lasts until it changes.
[[nodiscard]] bool is_permanent(const failure& error) noexcept;

/// The error for an original that is withheld. Uses unsupported, since callers do not see the text of access_denied. `reason`:
/// the end of the sentence.
[[nodiscard]] failure withheld_error(const std::string& reason);

/// The original file. With `redact`, it is returned only if its text has no secrets, or if text and file are the same bytes and
/// are masked alike. Never if the whole text is not known. `properties`: those of the same state; null: the text is unknown.
/// Errors: as `withheld_error`; those of `read_all`; response_too_large.
struct original_file {
  shared_bytes bytes{};
  std::size_t masked_count = 0;
};
[[nodiscard]] result<original_file> read_original(const opened_file& file, const document_source& source,
                                                  const set_options& options, const document_properties* properties);

}  // namespace hondana::docs
