/// The child process that renders one document.
#pragma once

namespace hondana::rendering {

/// The verb of the command line, followed by the name of a format ("pdf", "pdf-facts", "docx"…).
inline constexpr const char* render_verb = "render-document";

/// Renders the file on standard input. Confines the process, writes a line of JSON (render_protocol.hpp) and then the text to
/// standard output. For PDF, executes `pdftotext` or `pdfinfo` after the line.
///
/// Call first in main, before threads exist; the library never calls it. `arguments`: those of main, from `render_verb` on.
///
/// Returns the exit code: 0, also if the document cannot be rendered; 1 if a person called it by hand, with an explanation on
/// standard error.
[[nodiscard]] int render_as_child(int count, const char* const* arguments);

}  // namespace hondana::rendering
