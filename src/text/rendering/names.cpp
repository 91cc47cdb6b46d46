/// Endings and media types.
#include "text/rendering/names.hpp"

#include <algorithm>
#include <array>

namespace hondana::rendering {
namespace {

struct known_format {
  format what;
  std::string_view name;  // also how files' names end
  std::string_view mime_type;
};
constexpr std::array known_formats{
    known_format{format::pdf, "pdf", "application/pdf"},
    known_format{format::docx, "docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"},
    known_format{format::xlsx, "xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
    known_format{format::pptx, "pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"},
    known_format{format::odt, "odt", "application/vnd.oasis.opendocument.text"},
    known_format{format::ods, "ods", "application/vnd.oasis.opendocument.spreadsheet"},
    known_format{format::odp, "odp", "application/vnd.oasis.opendocument.presentation"}};
/// What differs from them in nothing that counts here.
constexpr std::array alike{
    known_format{format::docx, "docm", "application/vnd.ms-word.document.macroenabled.12"},
    known_format{format::docx, "dotx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template"},
    known_format{format::xlsx, "xlsm", "application/vnd.ms-excel.sheet.macroenabled.12"},
    known_format{format::pptx, "pptm", "application/vnd.ms-powerpoint.presentation.macroenabled.12"},
    known_format{format::odt, "ott", "application/vnd.oasis.opendocument.text-template"}};

/// Of ASCII alone.
bool equal_but_for_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b; });
}

template <class which>
std::optional<format> first_of(const which& is_it) {
  for (const auto& one : known_formats) {
    if (is_it(one)) return one.what;
  }
  for (const auto& one : alike) {
    if (is_it(one)) return one.what;
  }
  return {};
}

}  // namespace

std::string_view name_of(format what) noexcept { return known_formats[static_cast<std::size_t>(what)].name; }

std::optional<format> format_named(std::string_view name) noexcept {
  for (const auto& one : known_formats) {
    if (one.name == name) return one.what;
  }
  return {};
}

std::optional<format> format_of(std::string_view mime_type, std::string_view name) noexcept {
  const auto type = mime_type.substr(0, mime_type.find_first_of("; "));
  if (const auto found = first_of([type](const auto& one) { return equal_but_for_case(type, one.mime_type); })) return found;
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  const auto ending = name.substr(dot + 1);
  return first_of([ending](const auto& one) { return equal_but_for_case(ending, one.name); });
}

}  // namespace hondana::rendering
