/// The child process that renders one document.
#pragma once

namespace hondana::rendering {

/// The verb of the command line, followed by the name of a format ("pdf", "pdf-facts", "docx"…).
inline constexpr const char* render_verb = "render-document";

/// Renders the file on standard input, then ends the process. Confines the process, writes a line of JSON (render_protocol.hpp)
/// and then the text to standard output. For PDF, executes `pdftotext` or `pdfinfo` after the line.
///
/// Call first in main, before threads exist; the library never calls it. `arguments`: those of main, from `render_verb` on;
/// `count`: their number.
///
/// The exit code is 0, also if the document cannot be rendered. Returns only if a person called it by hand: 1, with an
/// explanation on standard error.
[[nodiscard]] int render_as_child(int count, const char* const* arguments);

}  // namespace hondana::rendering
