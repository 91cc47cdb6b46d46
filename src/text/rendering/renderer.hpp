/// Renders PDF and Office files as text in confined child processes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::rendering {

/// Supported formats: PDF; OOXML (docx, xlsx, pptx) and OpenDocument (odt, ods, odp).
enum class format : std::uint8_t { pdf, docx, xlsx, pptx, odt, ods, odp };

/// Determines the format by media type, otherwise by file name extension; no value if it cannot be rendered.
[[nodiscard]] std::optional<format> detect_format(std::string_view mime_type, std::string_view name) noexcept;

/// A document as text. Headings are Markdown (`## …`), tables are Markdown tables, and sheets begin with `## NAME`. Pages of
/// PDF and slides end with a form feed.
///
/// Leaves out content that readers do not see: deleted and hidden text, comments, furigana, hidden sheets and slides. A hidden
/// slide leaves an empty page.
struct document {
  std::string text{};   ///< UTF-8.
  std::string title{};  ///< From the file's properties; empty: unknown.
  std::string author{};
  std::string language{};     ///< BCP 47; empty: unknown.
  std::size_t pages = 0;      ///< Of PDF and presentations; 0: no pages.
  bool is_truncated = false;  ///< There was more than may be rendered.
  /// Text outside `text` that readers of the file may see: headers, footers, charts, drawings, masters, comments, and
  /// properties. Only for the search for secrets.
  std::string extra_text{};
};

/// One sheet of a workbook.
struct sheet {
  std::string name{};
  /// UTF-8, one line per row, each with a newline. A cell with a comma, a quote or a line break is quoted (RFC 4180). Empty
  /// rows between others stay, and all rows have the same number of cells.
  std::string csv{};
  bool is_truncated = false;  ///< There was more than may be rendered.
};

/// Limits for one document.
struct limits {
  std::chrono::milliseconds max_time{20'000};       ///< Of rendering, without the time that a call waits for other children.
  std::uint64_t max_memory_bytes = 1ull << 30;      ///< Of each child process.
  std::uint64_t max_output_bytes = 32ull << 20;     ///< The text is cut to this size.
  std::uint64_t max_unpacked_bytes = 512ull << 20;  ///< Of all members of an Office file; more is a decompression bomb.
};

/// Renders files in child processes. Threads: any; at most `max_concurrent` children run, and further calls wait.
class renderer {
 public:
  /// `program`: path of the hondana program, which runs as the confined child; empty: this program, if it is hondana. Starts
  /// nothing.
  [[nodiscard]] static std::shared_ptr<renderer> make(std::string program = {}, std::size_t max_concurrent = 2);
  virtual ~renderer() = default;

  /// Renders a document. `input`: the open file, at any offset. Blocks. Errors: unsupported, with what to install, if
  /// `pdftotext` or a library is missing; access_denied (encrypted); invalid_argument (damaged, or another format). Also
  /// response_too_large (decompression bomb, or too much memory), timed_out, cancelled, source_unavailable.
  [[nodiscard]] virtual result<document> render(format document_format, int input, const limits& limits,
                                                const std::stop_token& stop,
                                                std::chrono::steady_clock::time_point deadline) const = 0;
  /// Renders the visible sheets of a workbook (xlsx), in order. Errors: as `render`. Unless overridden, fails with unsupported.
  [[nodiscard]] virtual result<std::vector<sheet>> sheets(int input, const limits& limits, const std::stop_token& stop,
                                                          std::chrono::steady_clock::time_point deadline) const;
  /// Returns the commands that may be started: the program, its verb and a format. Empty if the program is unknown. A source
  /// that renders lists the program (`commands().front().front()`) in its `system_requirements::programs`, so that the server's
  /// launcher permits all commands.
  [[nodiscard]] virtual std::vector<std::vector<std::string>> commands() const = 0;
  /// Returns what is missing on this machine to render a format, for people; empty: nothing.
  [[nodiscard]] virtual std::string missing_for(format document_format) const = 0;
  /// Returns the part of the confinement that was not available to the last child, for people ("Landlock is switched off in
  /// this kernel"). Empty: none, or no child has run yet.
  [[nodiscard]] virtual std::string missing_confinement() const { return {}; }
};

}  // namespace hondana::rendering
