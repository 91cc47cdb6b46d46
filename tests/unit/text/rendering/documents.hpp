/// Documents made for tests, byte by byte.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana_test {

/// A zip file.
class zip {
 public:
  /// Deflated, if that makes it smaller.
  zip& add(const std::string& name, std::string_view content);
  /// Its local part and its entry say what they like of the content's size.
  [[nodiscard]] std::string bytes() const;

 private:
  struct member {
    std::string name;
    std::uint32_t at;
    std::uint32_t crc;
    std::uint32_t packed;
    std::uint32_t size;
    std::uint16_t method;
  };
  std::string data_;
  std::vector<member> members_;
};

/// A PDF file of these objects, numbered from 1, of which the first is the catalog. `trailer`: more of it.
[[nodiscard]] std::string pdf(const std::vector<std::string>& objects, std::string_view trailer = {});
[[nodiscard]] std::string pdf_stream(std::string_view content, std::string_view more = {});
/// Pages of that content each, with fonts /F1 (Helvetica), /F2 (Japanese, Shift_JIS) and /F3 (the same, vertical).
[[nodiscard]] std::string pdf_pages(const std::vector<std::string>& contents, std::string_view info = {});

/// Word's document with that body; `more`: further parts.
using parts = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::string docx(std::string_view body, const parts& more = {});
/// One sheet with that data (rows).
[[nodiscard]] std::string xlsx(std::string_view rows, const parts& more = {});
/// Each slide is what is within `p:spTree`; `notes` of the first, if any.
[[nodiscard]] std::string pptx(const std::vector<std::string>& slides, std::string_view notes = {});
/// OpenDocument, with what is within its body, and automatic styles.
[[nodiscard]] std::string open_document(std::string_view body, std::string_view styles = {}, const parts& more = {});

}  // namespace hondana_test
