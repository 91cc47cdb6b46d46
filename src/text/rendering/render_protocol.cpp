/// The protocol between renderer and child process: format names, the head line and lists of sheets.
#include "text/rendering/render_protocol.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <hondana/value.hpp>

#include "base/json/writer.hpp"

namespace hondana::rendering {
namespace {

struct known_format {
  format value;
  std::string_view name;  // also the file name extension
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
/// Variants that are rendered like the formats above.
constexpr std::array format_variants{
    known_format{format::docx, "docm", "application/vnd.ms-word.document.macroenabled.12"},
    known_format{format::docx, "dotx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template"},
    known_format{format::xlsx, "xlsm", "application/vnd.ms-excel.sheet.macroenabled.12"},
    known_format{format::pptx, "pptm", "application/vnd.ms-powerpoint.presentation.macroenabled.12"},
    known_format{format::odt, "ott", "application/vnd.oasis.opendocument.text-template"}};

/// Compares ASCII only.
bool equals_ignore_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a | 0x20) : a) == b; });
}

template <class Predicate>
std::optional<format> find_format(const Predicate& predicate) {
  for (const auto& candidate : known_formats) {
    if (predicate(candidate)) return candidate.value;
  }
  for (const auto& variant : format_variants) {
    if (predicate(variant)) return variant.value;
  }
  return {};
}

}  // namespace

std::string_view name_of(format document_format) noexcept {
  return known_formats[static_cast<std::size_t>(document_format)].name;
}

std::optional<format> parse_format(std::string_view name) noexcept {
  for (const auto& candidate : known_formats) {
    if (candidate.name == name) return candidate.value;
  }
  return {};
}

std::optional<format> detect_format(std::string_view mime_type, std::string_view name) noexcept {
  const auto type = mime_type.substr(0, mime_type.find_first_of("; "));
  if (const auto match = find_format([type](const auto& candidate) { return equals_ignore_case(type, candidate.mime_type); }))
    return match;
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) return {};
  const auto extension = name.substr(dot + 1);
  return find_format([extension](const auto& candidate) { return equals_ignore_case(extension, candidate.name); });
}

namespace {

/// Error codes that a child may report. Any other failure is a fault of the child.
constexpr std::array child_codes{errc::access_denied, errc::invalid_argument, errc::response_too_large, errc::unsupported,
                                 errc::source_unavailable};

std::string string_member(const value& object, std::string_view name) {
  const auto* member = object.find(name);
  const auto* text = member == nullptr ? nullptr : member->as_string();
  return text == nullptr ? std::string() : *text;
}

}  // namespace

std::string to_line(const child_head& head) {
  std::string line;
  json::writer writer(line);
  writer.begin_object().member_if("title", head.properties.title).member_if("author", head.properties.author);
  writer.member_if("language", head.properties.language).key("pages").unsigned_integer(head.properties.pages);
  writer.key("beside").unsigned_integer(head.properties.extra_text.size());
  writer.key("cut").boolean(head.properties.is_truncated).member_if("lacks", head.missing_confinement).end_object();
  return line + '\n';
}

std::string to_line(const failure& error, std::string_view missing_confinement) {
  std::string line;
  json::writer writer(line);
  writer.begin_object().member("error", name_of(error.code)).member("text", error.public_text);
  writer.member_if("why", error.private_text).member_if("lacks", missing_confinement).end_object();
  return line + '\n';
}

result<child_head> parse_head(std::string_view line, std::string& missing_confinement) {
  const auto parsed = value::parse(line, {.max_bytes = max_head_bytes, .max_values = 100});
  if (!parsed || parsed->as_object() == nullptr)
    return fail(errc::source_unavailable, "the document cannot be rendered: the rendering process did not answer");
  missing_confinement = string_member(*parsed, "lacks");
  if (const auto code = string_member(*parsed, "error"); !code.empty()) {
    const auto* const match = std::find_if(child_codes.begin(), child_codes.end(),
                                           [&code](const auto candidate) { return name_of(candidate) == code; });
    return fail(match == child_codes.end() ? errc::source_unavailable : *match, string_member(*parsed, "text"),
                string_member(*parsed, "why"));
  }
  child_head head;
  head.missing_confinement = missing_confinement;
  head.properties.title = string_member(*parsed, "title");
  head.properties.author = string_member(*parsed, "author");
  head.properties.language = string_member(*parsed, "language");
  const auto* pages = parsed->find("pages");
  head.properties.pages =
      static_cast<std::size_t>(std::max<std::int64_t>(0, pages == nullptr ? 0 : pages->as_integer().value_or(0)));
  const auto* extra_bytes = parsed->find("beside");
  head.extra_bytes =
      static_cast<std::size_t>(std::max<std::int64_t>(0, extra_bytes == nullptr ? 0 : extra_bytes->as_integer().value_or(0)));
  const auto* is_truncated = parsed->find("cut");
  head.properties.is_truncated = is_truncated != nullptr && is_truncated->as_boolean().value_or(false);
  return head;
}

namespace {

constexpr std::size_t max_sheet_head_bytes = 64u << 10;
constexpr std::size_t max_listed_sheets = 1'000;

tl::unexpected<failure> invalid_sheets() {
  return fail(errc::source_unavailable, "the workbook cannot be rendered: the rendering process did not answer");
}

}  // namespace

std::string to_line(const sheet& item) {
  std::string line;
  json::writer writer(line);
  writer.begin_object().member("name", item.name).key("bytes").unsigned_integer(item.csv.size());
  writer.key("cut").boolean(item.is_truncated).end_object();
  line += '\n';
  line += item.csv;
  return line += '\n';
}

result<std::vector<sheet>> parse_sheets(std::string_view text) {
  std::vector<sheet> sheets;
  while (!text.empty() && sheets.size() < max_listed_sheets) {
    const auto end = text.find('\n');
    // The text was cut within a head.
    if (end == std::string_view::npos && !sheets.empty()) {
      sheets.back().is_truncated = true;
      break;
    }
    if (end == std::string_view::npos || end > max_sheet_head_bytes) return invalid_sheets();
    const auto head = value::parse(text.substr(0, end), {.max_bytes = max_sheet_head_bytes, .max_values = 100});
    if (!head) return invalid_sheets();
    const auto name = head->string_at("name");
    const auto bytes = head->integer_at("bytes");
    const auto is_truncated = head->boolean_at("cut");
    if (!name || !bytes || !is_truncated || *bytes < 0) return invalid_sheets();
    text.remove_prefix(end + 1);
    const auto size = std::min<std::uint64_t>(static_cast<std::uint64_t>(*bytes), text.size());
    const bool is_complete = size == static_cast<std::uint64_t>(*bytes);
    sheets.push_back({*name, std::string(text.substr(0, static_cast<std::size_t>(size))), *is_truncated || !is_complete});
    text.remove_prefix(static_cast<std::size_t>(size));
    if (!text.empty() && text.front() != '\n') return invalid_sheets();
    if (!text.empty()) text.remove_prefix(1);
  }
  return sheets;
}

}  // namespace hondana::rendering
