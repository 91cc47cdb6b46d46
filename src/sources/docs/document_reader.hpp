/// Reads a file, converts it to text, masks its secrets and outlines it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <hondana/provider.hpp>

#include "sources/docs/document_folder.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/document_type.hpp"

namespace hondana::docs {

/// All text of a page, hidden or not, with scripts and the text of comments: without tags and what does not print, entities
/// decoded. Tags that end a word are the end of a line. For whoever looks for secrets. Costs a pass.
[[nodiscard]] std::string joined_text_of_html(std::string_view page);

/// What is to be read. `path`: on disk.
struct assignment {
  std::string_view path{};
  document_type type{};
  std::string_view charset{};  ///< As a rule says; empty: none does.
};

/// Reads a document, converts and renders it, masks its secrets and outlines it. Errors: response_too_large for what is larger
/// than the set's `max_bytes`; invalid_argument for what is no text; unsupported where it would have to be rendered and nothing
/// does; those of `read_whole` and the renderer.
[[nodiscard]] result<std::shared_ptr<const prose>> read_prose(const opened_file& file, const assignment& what,
                                                              const options& with, const call& by);

/// What a list needs to know of a document that is text: it is read, of a large one only the front. Never of one that would
/// have to be rendered. Errors: as `read_prose`.
[[nodiscard]] result<std::shared_ptr<const facts>> glance(const opened_file& file, const assignment& what, const options& with);

/// Whether an error is the document's own and stays until it changes.
[[nodiscard]] bool is_lasting(const failure& why) noexcept;

/// Why a file is not given as it is: unsupported, since peers are told no words of what they may not see. `why`: the end of a
/// sentence.
[[nodiscard]] failure withheld(const std::string& why);

/// The file as it is. With `redact` it is given only where nothing is masked in its text, or where that is the file byte for
/// byte and is masked likewise; never where the text is not known whole. `about`: of the same state; null: the text is not
/// known. Errors: as `withheld`; those of `read_whole`; response_too_large.
struct original {
  shared_bytes bytes{};
  std::size_t masked = 0;
};
[[nodiscard]] result<original> read_original(const opened_file& file, const assignment& what, const options& with,
                                             const facts* about);

}  // namespace hondana::docs
