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

/// What can be rendered: PDF; OOXML (docx, xlsx, pptx) and OpenDocument (odt, ods, odp).
enum class format : std::uint8_t { pdf, docx, xlsx, pptx, odt, ods, odp };

/// By media type, and else by the name's ending.
[[nodiscard]] std::optional<format> format_of(std::string_view mime_type, std::string_view name) noexcept;

/// A document as text. Headings are written as Markdown writes them (`## …`), tables as rows of Markdown tables, sheets begin
/// with `## NAME`; pages of PDF and slides end with a form feed. What readers do not see is left out: deleted and hidden text,
/// comments, furigana, hidden sheets and slides (of which the page stays).
struct document {
  std::string text{};   ///< UTF-8.
  std::string title{};  ///< As the file says it of itself; empty: it does not.
  std::string author{};
  std::string language{};  ///< BCP 47; empty: not said.
  std::size_t pages = 0;   ///< Of PDF and presentations; 0: it has none.
  bool is_cut = false;     ///< There was more than may be rendered.
  /// Text that is not part of `text` and that readers of the file may see: headers, footers, charts, drawings, masters,
  /// comments, and all that a file says of itself. For whoever looks for secrets.
  std::string beside{};
};

/// One sheet of a workbook.
struct sheet {
  std::string name{};
  /// UTF-8, a line a row, ended by a line feed: a cell is quoted where it has a comma, a quote or a break (RFC 4180), empty
  /// rows between others stay, and all rows have as many cells.
  std::string csv{};
  bool is_cut = false;  ///< There was more than may be rendered.
};

struct limits {
  std::chrono::milliseconds time{20'000};
  std::uint64_t memory = 1ull << 30;
  std::uint64_t output = 32ull << 20;
  std::uint64_t unpacked = 512ull << 20;  ///< Of all members of an Office file together; beyond it is a bomb.
};

/// Renders files. Threads: any; at most `at_once` children run, others wait for their turn.
class renderer {
 public:
  /// `program`: the hondana program, which is started as the confined child; empty: this one, if it is hondana. Nothing is
  /// started here.
  [[nodiscard]] static std::shared_ptr<renderer> make(std::string program = {}, std::size_t at_once = 2);
  virtual ~renderer() = default;

  /// `input`: the open file, at any offset. Errors: unsupported (no `pdftotext`, no libarchive…: what to install),
  /// access_denied (encrypted), invalid_argument (broken, or not of that format), response_too_large (a bomb), timed_out,
  /// cancelled, source_unavailable.
  [[nodiscard]] virtual result<document> render(format what, int input, const limits& most, const std::stop_token& stop,
                                                std::chrono::steady_clock::time_point until) const = 0;
  /// The sheets of a workbook (xlsx) that readers see, in their order. Errors: as `render`. Default: unsupported.
  [[nodiscard]] virtual result<std::vector<sheet>> sheets(int input, const limits& most, const std::stop_token& stop,
                                                          std::chrono::steady_clock::time_point until) const;
  /// Commands that are started, each the program, its verb and a format; empty where the program is not known. A source that
  /// renders names the program (`commands().front().front()`) among its `needs::programs`: the server's launcher then knows
  /// all.
  [[nodiscard]] virtual std::vector<std::vector<std::string>> commands() const = 0;
  /// Whether a format can be rendered on this machine; what is missing, for people. Empty: nothing is.
  [[nodiscard]] virtual std::string missing_for(format what) const = 0;
  /// What the latest child could not be confined by on this machine, for people ("Landlock is switched off in this kernel");
  /// empty: nothing, or none has run yet.
  [[nodiscard]] virtual std::string lacks() const { return {}; }
};

}  // namespace hondana::rendering
