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

/// Extracts all text of an HTML page, to search it for secrets: visible and hidden text, scripts and comments. Removes tags and
/// invisible characters, and decodes entities. Tags that separate words become line ends. Time: linear.
[[nodiscard]] std::string extract_html_text(std::string_view page);

/// How to read a file.
struct document_source {
  std::string_view path{};  ///< Its path in the folder, whose name decides what is masked.
  document_type type{};
  std::string_view charset{};  ///< The encoding that a rule sets; empty: none.
};

/// Reads a document, converts or renders it to text, masks its secrets, and outlines it. Errors: response_too_large beyond
/// `set_options::max_bytes`; unreadable if it is not text; unsupported if it needs rendering, which is not available. Also
/// those of `read_all` and `renderer::render`, of which access_denied and invalid_argument become unreadable.
[[nodiscard]] result<std::shared_ptr<const document_text>> read_text(const opened_file& file, const document_source& source,
                                                                     const set_options& options,
                                                                     const request_context& request);

/// Reads the properties of a document that needs no rendering. Of a file over 4 MiB, reads only the first 256 KiB. Errors: as
/// `read_text`.
[[nodiscard]] result<std::shared_ptr<const document_properties>> read_properties(const opened_file& file,
                                                                                 const document_source& source,
                                                                                 const set_options& options);

/// Whether an error of reading a document lasts until the document changes.
[[nodiscard]] bool is_permanent(const failure& error) noexcept;

/// The error for an original file that is not served because it may contain secrets. Its code is unsupported, because callers
/// do not see the text of access_denied. `reason`: the end of the error's sentence.
[[nodiscard]] failure withheld_error(const std::string& reason);

/// The bytes of an original file, masked if necessary.
struct original_file {
  shared_bytes bytes{};
  std::size_t masked_count = 0;  ///< Number of masked secrets.
};
/// Reads an original file. With `set_options::redact`, it is withheld if not all of its text is known, or if parts outside the
/// text have secrets. If the text has secrets, it is withheld, or masked if the text equals the file.
/// `properties`: those of the file in its current state; null: its text is unknown. Errors: `withheld_error`; those of
/// `read_all`; response_too_large.
[[nodiscard]] result<original_file> read_original(const opened_file& file, const document_source& source,
                                                  const set_options& options, const document_properties* properties);

}  // namespace hondana::docs
