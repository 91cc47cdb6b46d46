/// Renders an Office file of any kind: its parts, its properties, and hidden text beside the main text.
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

/// Reads a file of OOXML or OpenDocument. Errors: access_denied: encrypted; unsupported: of an older kind of Office;
/// invalid_argument: damaged, or of another format; response_too_large: a bomb.
[[nodiscard]] result<document> render_office(format what, byte_source& from, const limits& most, const office_libraries& by);

/// The sheets of a workbook as `line_of` a sheet (text/rendering/render_protocol.hpp) writes them one after the other, in place
/// of the text. Errors: the same.
[[nodiscard]] result<document> render_office_sheets(byte_source& from, const limits& most, const office_libraries& by);

/// A reference from one part to another.
struct relation {
  std::string type;  ///< The last word of its URI: "slide".
  std::string part;
};
/// By their ids.
using relations = std::map<std::string, relation, std::less<>>;

/// A package whose relations are known.
struct office_file {
  package& parts;
  std::map<std::string, relations, std::less<>> related{};  ///< By the part that has them; "" is the package.

  /// The part of that type that `of` refers to, or "".
  [[nodiscard]] std::string one_of(std::string_view of, std::string_view type) const;
  /// The part of that id, or "".
  [[nodiscard]] std::string by_id(std::string_view of, std::string_view id) const;
};

/// Text that is looked at for secrets and never shown, up to a cap.
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

/// What is found beside the text.
struct findings_of_office {
  std::string western_language{};
  std::string eastern_language{};
  std::size_t pages = 0;
  bool is_cut = false;  ///< Beside what the output says.
  text_beside beside{};
};

/// Each of these: `main` is the part with the document, workbook or presentation. Errors: as `render_office`.
[[nodiscard]] result<void> render_word(const office_file& from, const std::string& main, text_output& to,
                                       findings_of_office& found);
[[nodiscard]] result<void> render_sheets(const office_file& from, const std::string& main, text_output& to,
                                         findings_of_office& found);
/// The same, each by itself. `most`: bytes of all of them together.
[[nodiscard]] result<void> cut_sheets(const office_file& from, const std::string& main, std::size_t most,
                                      std::vector<sheet>& to, findings_of_office& found);
[[nodiscard]] result<void> render_slides(const office_file& from, const std::string& main, text_output& to,
                                         findings_of_office& found);
[[nodiscard]] result<void> render_open_document(format what, package& from, text_output& to, findings_of_office& found);

}  // namespace hondana::rendering
