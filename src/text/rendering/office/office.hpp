/// Renders an Office file of any kind: its parts, its properties, and text that is hidden or outside the main text.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "text/rendering/office/office_libraries.hpp"
#include "text/rendering/office/text_output.hpp"
#include "text/rendering/office/zip_package.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::rendering {

/// Renders an OOXML or OpenDocument file. Errors: access_denied (encrypted), unsupported (older Office format),
/// invalid_argument (damaged, or another format), response_too_large (decompression bomb, or too much memory),
/// source_unavailable (cannot be read).
[[nodiscard]] result<document> render_office(format document_format, byte_source& source, const limits& limits,
                                             const office_libraries& libraries);

/// Renders a workbook. The text of the result has the visible sheets, each as by `to_line(const sheet&)` (render_protocol.hpp).
/// Errors: as `render_office`.
[[nodiscard]] result<document> render_office_sheets(byte_source& source, const limits& limits,
                                                    const office_libraries& libraries);

/// A reference from one part to another.
struct relation {
  std::string type;  ///< The last path segment of the relation's type URI: "slide".
  std::string part;  ///< The name of the other part.
};
/// Relations by id.
using relations = std::map<std::string, relation, std::less<>>;

/// A package with its relations. The package must outlive it.
struct office_file {
  package& parts;
  std::map<std::string, relations, std::less<>> related{};  ///< By the part that has the relations; "" is the package.

  /// Returns the first part of this type that `part` refers to; "" if there is none.
  [[nodiscard]] std::string find_related(std::string_view part, std::string_view type) const;
  /// Returns the part to which `part` has a relation with this id; "" if there is none.
  [[nodiscard]] std::string find_by_id(std::string_view part, std::string_view id) const;
};

/// Text that is searched for secrets and never shown, at most 4 MiB.
class extra_text_buffer {
 public:
  /// Adds a text. Drops a text that does not fit.
  void add(std::string_view text) {
    constexpr std::size_t max_bytes = 4u << 20;
    if (text_.size() + text.size() <= max_bytes) {
      text_ += text;
    } else {
      is_truncated_ = true;
    }
  }
  [[nodiscard]] bool is_truncated() const noexcept { return is_truncated_; }
  [[nodiscard]] std::string extract() && { return std::move(text_); }

 private:
  std::string text_;
  bool is_truncated_ = false;
};

/// What rendering finds in a file besides its text.
struct office_findings {
  std::string western_language{};  ///< BCP 47; empty: unknown.
  std::string eastern_language{};  ///< The same for East Asian text.
  std::size_t pages = 0;
  bool is_truncated = false;  ///< In addition to `text_output::is_truncated`.
  extra_text_buffer extra_text{};
};

/// Renders a Word document to `out`. `main`: the name of the part with the document. Errors: as `render_office`.
[[nodiscard]] result<void> render_word(const office_file& file, const std::string& main, text_output& out,
                                       office_findings& findings);
/// Renders a workbook to `out`. `main`: the name of the part with the workbook. Errors: as `render_office`.
[[nodiscard]] result<void> render_sheets(const office_file& file, const std::string& main, text_output& out,
                                         office_findings& findings);
/// Appends each sheet of a workbook to `sheets`. `max_bytes`: limit of bytes of all sheets together. Otherwise as
/// `render_sheets`.
[[nodiscard]] result<void> render_each_sheet(const office_file& file, const std::string& main, std::size_t max_bytes,
                                             std::vector<sheet>& sheets, office_findings& findings);
/// Renders a presentation to `out`. `main`: the name of the part with the presentation. Errors: as `render_office`.
[[nodiscard]] result<void> render_slides(const office_file& file, const std::string& main, text_output& out,
                                         office_findings& findings);
/// Renders a document of OpenDocument to `out`. Errors: as `render_office`.
[[nodiscard]] result<void> render_open_document(format document_format, package& parts, text_output& out,
                                                office_findings& findings);

}  // namespace hondana::rendering
