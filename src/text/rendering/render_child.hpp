/// The child process that renders one document.
#pragma once

namespace hondana::rendering {

/// The words of the command line that ask for it, `verb` and then a format's name ("pdf", "pdf-facts", "docx"…).
inline constexpr const char* render_verb = "render-document";

/// Renders the file that is its standard input: shuts itself in, writes a line of JSON to standard output (render_protocol.hpp)
/// and the text behind it. For PDF, `pdftotext` or `pdfinfo` takes the place of this process behind the line. Called first
/// thing in main, before threads, and never by the library itself. `arguments`: those of main, whose first is `render_verb` if
/// it is meant.
///
/// The exit code: 0, also for a document that cannot be rendered; 1 for somebody who called it by hand, who is told on standard
/// error what it is.
[[nodiscard]] int render_as_child(int count, const char* const* arguments);

}  // namespace hondana::rendering
