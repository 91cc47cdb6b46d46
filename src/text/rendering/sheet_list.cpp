/// Heads of sheets, and what lies between them.
#include "text/rendering/sheet_list.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <hondana/value.hpp>

#include "base/json/writer.hpp"

namespace hondana::rendering {
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
    // Cut within a head.
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
