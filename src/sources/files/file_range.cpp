/// Parses `?lines=` and `?bytes=`, and locates the range in a file.
#include "sources/files/file_range.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include <hondana/uri.hpp>

#include "base/uri/uri_syntax.hpp"
#include "sources/files/open_file.hpp"

namespace hondana::files {
namespace {

tl::unexpected<failure> malformed_error(std::string_view parameter) {
  if (parameter == "lines") {
    return fail(
        errc::invalid_argument,
        "The parameter \"lines\" is malformed. Write lines=FIRST-LAST, lines=FIRST- or lines=LINE, counted from 1, both ends "
        "included: ?lines=10-40.");
  }
  return fail(
      errc::invalid_argument,
      "The parameter \"bytes\" is malformed. Write bytes=FIRST-LAST, bytes=FIRST- or bytes=OFFSET, counted from 0, both ends "
      "included: ?bytes=0-4095.");
}

std::optional<std::uint64_t> parse_number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<range> parse_value(range_unit unit, std::string_view value) {
  const auto dash = value.find('-');
  const auto first = parse_number(value.substr(0, dash));
  if (!first || (unit == range_unit::lines && *first == 0)) return std::nullopt;
  if (dash == std::string_view::npos) return range{unit, *first, first};
  if (dash + 1 == value.size()) return range{unit, *first, std::nullopt};
  const auto last = parse_number(value.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return range{unit, *first, last};
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

bool is_continuation_byte(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Narrows a byte range of text to code point boundaries.
result<byte_range> align_to_code_points(const open_file& file, std::uint64_t size, byte_range range) {
  // A code point has at most three continuation bytes.
  std::array<char, 4> buffer{};
  auto count =
      read_exactly(file, buffer.data(), static_cast<std::size_t>(std::min<std::uint64_t>(3, size - range.begin)), range.begin);
  if (!count) return tl::unexpected(std::move(count.error()));
  for (std::size_t i = 0; i < *count && is_continuation_byte(buffer[i]); ++i) ++range.begin;
  if (range.end < size) {
    const std::uint64_t start = range.end - std::min<std::uint64_t>(3, range.end);
    count = read_exactly(file, buffer.data(), static_cast<std::size_t>(range.end - start + 1), start);
    if (!count) return tl::unexpected(std::move(count.error()));
    for (std::size_t i = *count - 1; i > 0 && is_continuation_byte(buffer[i]); --i) --range.end;
  }
  range.end = std::max(range.begin, range.end);
  return range;
}

result<byte_range> locate_bytes(const open_file& file, std::uint64_t size, const range& requested, bool is_text) {
  if (requested.first >= size) {
    return fail(errc::invalid_argument, "The range begins beyond the end: the file has " + plural(size, "byte") + ".");
  }
  const byte_range range{requested.first, requested.last && *requested.last < size ? *requested.last + 1 : size};
  return is_text ? align_to_code_points(file, size, range) : range;
}

failure too_many_lines_error(const read_request& request) {
  return {errc::response_too_large,
          "The requested lines have more than " + std::to_string(request.max_bytes) +
              " bytes, which is the read limit. Request fewer lines, or a part with ?bytes=FIRST-LAST.",
          {}};
}

failure line_too_far_error(const range& requested) {
  return {
      errc::invalid_argument,
      "Line " + std::to_string(requested.first) +
          " is beyond the first 256 MiB of the file, after which lines are not counted. Request a part with ?bytes=FIRST-LAST.",
      {}};
}

/// Counts lines, window by window, until both ends are known, or known to be out of bounds.
result<byte_range> locate_lines(const open_file& file, std::uint64_t size, const range& requested,
                                const read_request& request) {
  std::optional<std::uint64_t> begin;
  std::optional<std::uint64_t> end;
  std::uint64_t line = 1;
  std::uint64_t offset = 0;  // offset of the window
  if (requested.first == 1 && size > 0) begin = 0;
  auto status = for_each_window(file, size, request, [&](std::string_view window) {
    auto remaining = window;
    for (auto newline = remaining.find('\n'); newline != std::string_view::npos; newline = remaining.find('\n')) {
      remaining.remove_prefix(newline + 1);
      ++line;
      const auto next = offset + (window.size() - remaining.size());
      if (line == requested.first) begin = next;
      if (requested.last && line - 1 == *requested.last) {
        end = next;
        return false;
      }
    }
    offset += window.size();
    if (!begin) return offset < line_search_bytes;
    return requested.last.has_value() && offset - *begin <= request.max_bytes;
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  if (!begin && offset < size) return tl::unexpected(line_too_far_error(requested));
  if (begin && !end && requested.last && offset < size) return tl::unexpected(too_many_lines_error(request));
  if (begin && *begin == size) begin.reset();  // a LF at the end of the file does not begin a line
  if (!begin) {
    char last = '\n';
    if (size > 0) {
      HONDANA_TRY(read_exactly(file, &last, 1, size - 1));
    }
    return fail(errc::invalid_argument,
                "The range begins beyond the end: the file has " + plural(last == '\n' ? line - 1 : line, "line") + ".");
  }
  return byte_range{*begin, end.value_or(size)};
}

}  // namespace

result<std::optional<range>> parse_range(std::string_view query) {
  std::optional<range> parsed;
  while (!query.empty()) {
    const auto [name, raw_value] = uri::pop_parameter(query);
    if (name != "lines" && name != "bytes") {
      return fail(errc::resource_not_found, "Files have no parameter of that name. Use ?lines=10-40 or ?bytes=0-4095.");
    }
    if (parsed) return fail(errc::invalid_argument, "Give either \"lines\" or \"bytes\", and only once.");
    const auto value = percent_decode(raw_value);
    if (value) parsed = parse_value(name == "lines" ? range_unit::lines : range_unit::bytes, *value);
    if (!parsed) return malformed_error(name);
  }
  return parsed;
}

result<byte_range> locate_range(const open_file& file, std::uint64_t size, const range& requested, bool is_text,
                                const read_request& request) {
  if (requested.unit == range_unit::bytes) return locate_bytes(file, size, requested, is_text);
  if (!is_text) {
    return fail(errc::invalid_argument,
                "The parameter \"lines\" is for text, and this file is not UTF-8 text. Request a part with ?bytes=FIRST-LAST.");
  }
  return locate_lines(file, size, requested, request);
}

}  // namespace hondana::files
