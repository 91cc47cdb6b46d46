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
  format what;
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
constexpr std::array alike{
    known_format{format::docx, "docm", "application/vnd.ms-word.document.macroenabled.12"},
    known_format{format::docx, "dotx", "application/vnd.openxmlformats-officedocument.wordprocessingml.template"},
    known_format{format::xlsx, "xlsm", "application/vnd.ms-excel.sheet.macroenabled.12"},
    known_format{format::pptx, "pptm", "application/vnd.ms-powerpoint.presentation.macroenabled.12"},
    known_format{format::odt, "ott", "application/vnd.oasis.opendocument.text-template"}};

/// Compares ASCII only.
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

namespace {

/// Error codes that a child may report. Any other failure is a fault of the child.
constexpr std::array child_codes{errc::access_denied, errc::invalid_argument, errc::response_too_large, errc::unsupported,
                                 errc::source_unavailable};

std::string string_of(const value& from, std::string_view name) {
  const auto* found = from.find(name);
  const auto* text = found == nullptr ? nullptr : found->as_string();
  return text == nullptr ? std::string() : *text;
}

}  // namespace

std::string line_of(const child_head& of) {
  std::string line;
  json::writer to(line);
  to.begin_object().member_if("title", of.facts.title).member_if("author", of.facts.author);
  to.member_if("language", of.facts.language).key("pages").unsigned_integer(of.facts.pages);
  to.key("beside").unsigned_integer(of.facts.beside.size());
  to.key("cut").boolean(of.facts.is_cut).member_if("lacks", of.lacks).end_object();
  return line + '\n';
}

std::string line_of(const failure& why, std::string_view lacks) {
  std::string line;
  json::writer to(line);
  to.begin_object().member("error", name_of(why.code)).member("text", why.public_text);
  to.member_if("why", why.private_text).member_if("lacks", lacks).end_object();
  return line + '\n';
}

result<child_head> head_in(std::string_view line, std::string& lacks) {
  const auto read = value::parse(line, {.bytes = longest_head, .values = 100});
  if (!read || read->as_object() == nullptr)
    return fail(errc::source_unavailable, "the document cannot be rendered: the rendering process did not answer");
  lacks = string_of(*read, "lacks");
  if (const auto code = string_of(*read, "error"); !code.empty()) {
    const auto* const known =
        std::find_if(child_codes.begin(), child_codes.end(), [&code](const auto one) { return name_of(one) == code; });
    return fail(known == child_codes.end() ? errc::source_unavailable : *known, string_of(*read, "text"),
                string_of(*read, "why"));
  }
  child_head made;
  made.lacks = lacks;
  made.facts.title = string_of(*read, "title");
  made.facts.author = string_of(*read, "author");
  made.facts.language = string_of(*read, "language");
  const auto* pages = read->find("pages");
  made.facts.pages =
      static_cast<std::size_t>(std::max<std::int64_t>(0, pages == nullptr ? 0 : pages->as_integer().value_or(0)));
  const auto* beside = read->find("beside");
  made.beside = static_cast<std::size_t>(std::max<std::int64_t>(0, beside == nullptr ? 0 : beside->as_integer().value_or(0)));
  const auto* cut = read->find("cut");
  made.facts.is_cut = cut != nullptr && cut->as_boolean().value_or(false);
  return made;
}

namespace {

constexpr std::size_t longest_sheet_head = 64u << 10;
constexpr std::size_t most_listed_sheets = 1'000;

tl::unexpected<failure> no_sheets() {
  return fail(errc::source_unavailable, "the workbook cannot be rendered: the rendering process did not answer");
}

}  // namespace

std::string line_of(const sheet& of) {
  std::string line;
  json::writer to(line);
  to.begin_object().member("name", of.name).key("bytes").unsigned_integer(of.csv.size());
  to.key("cut").boolean(of.is_cut).end_object();
  line += '\n';
  line += of.csv;
  return line += '\n';
}

result<std::vector<sheet>> sheets_in(std::string_view text) {
  std::vector<sheet> all;
  while (!text.empty() && all.size() < most_listed_sheets) {
    const auto end = text.find('\n');
    // The text was cut within a head.
    if (end == std::string_view::npos && !all.empty()) {
      all.back().is_cut = true;
      break;
    }
    if (end == std::string_view::npos || end > longest_sheet_head) return no_sheets();
    const auto head = value::parse(text.substr(0, end), {.bytes = longest_sheet_head, .values = 100});
    if (!head) return no_sheets();
    const auto name = head->string_at("name");
    const auto bytes = head->integer_at("bytes");
    const auto cut = head->boolean_at("cut");
    if (!name || !bytes || !cut || *bytes < 0) return no_sheets();
    text.remove_prefix(end + 1);
    const auto size = std::min<std::uint64_t>(static_cast<std::uint64_t>(*bytes), text.size());
    const bool is_whole = size == static_cast<std::uint64_t>(*bytes);
    all.push_back({*name, std::string(text.substr(0, static_cast<std::size_t>(size))), *cut || !is_whole});
    text.remove_prefix(static_cast<std::size_t>(size));
    if (!text.empty() && text.front() != '\n') return no_sheets();
    if (!text.empty()) text.remove_prefix(1);
  }
  return all;
}

}  // namespace hondana::rendering
