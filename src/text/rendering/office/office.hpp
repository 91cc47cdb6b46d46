/// Renders an Office file of any kind: its parts, its properties, and text that is hidden or beside the main text.
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

/// Reads an OOXML or OpenDocument file. Errors: access_denied (encrypted), unsupported (older Office format), invalid_argument
/// (damaged, or another format), response_too_large (decompression bomb).
[[nodiscard]] result<document> render_office(format what, byte_source& from, const limits& most, const office_libraries& by);

/// The sheets of a workbook one after the other instead of its text, in the format of `line_of(const sheet&)`
/// (render_protocol.hpp). Errors: as `render_office`.
[[nodiscard]] result<document> render_office_sheets(byte_source& from, const limits& most, const office_libraries& by);

/// A reference from one part to another.
struct relation {
  std::string type;  ///< The last path segment of the relation's type URI: "slide".
  std::string part;
};
/// Relations by id.
using relations = std::map<std::string, relation, std::less<>>;

/// A package with its relations.
struct office_file {
  package& parts;
  std::map<std::string, relations, std::less<>> related{};  ///< By the part that has the relations; "" is the package.

  /// The part of this type that `of` refers to; "" if there is none.
  [[nodiscard]] std::string one_of(std::string_view of, std::string_view type) const;
  /// The part with this relation id; "" if there is none.
  [[nodiscard]] std::string by_id(std::string_view of, std::string_view id) const;
};

/// Text that is searched for secrets and never shown, at most 4 MiB.
class text_beside {
 public:
  void add(std::string_view text) {
    constexpr std::size_t most = 4u << 20;
    if (text_.size() + text.size() <= most) {
      text_ += text;
    } else {
      is_cut_ = true;
    }
  }
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }
  [[nodiscard]] std::string take() && { return std::move(text_); }

 private:
  std::string text_;
  bool is_cut_ = false;
};

/// Properties of a file besides its text.
struct findings_of_office {
  std::string western_language{};
  std::string eastern_language{};
  std::size_t pages = 0;
  bool is_cut = false;  ///< In addition to `text_output::is_cut`.
  text_beside beside{};
};

/// Render the main part: `main` is the part with the document, workbook or presentation. Errors: as `render_office`.
[[nodiscard]] result<void> render_word(const office_file& from, const std::string& main, text_output& to,
                                       findings_of_office& found);
[[nodiscard]] result<void> render_sheets(const office_file& from, const std::string& main, text_output& to,
                                         findings_of_office& found);
/// Renders each sheet separately. `most`: bytes of all sheets together.
[[nodiscard]] result<void> cut_sheets(const office_file& from, const std::string& main, std::size_t most,
                                      std::vector<sheet>& to, findings_of_office& found);
[[nodiscard]] result<void> render_slides(const office_file& from, const std::string& main, text_output& to,
                                         findings_of_office& found);
[[nodiscard]] result<void> render_open_document(format what, package& from, text_output& to, findings_of_office& found);

}  // namespace hondana::rendering
