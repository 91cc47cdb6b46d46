/// Parses `?lines=` and `?bytes=`, and locates the range in a file.
#include "sources/files/file_range.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/uri/query_parameters.hpp"
#include "sources/files/open_file.hpp"

namespace hondana::files {
namespace {

constexpr auto range_parameters = std::to_array<uri::query_parameter>({
    {.name = "lines", .type = uri::parameter_type::range, .min = 1},
    {.name = "bytes", .type = uri::parameter_type::range},
});

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
  HONDANA_TRY(const auto values, uri::parse_query(query, range_parameters, "file://"));
  HONDANA_TRY(values.allow_one_of({"lines", "bytes"}));
  if (const auto lines = values.range("lines")) return range{range_unit::lines, lines->first, lines->last};
  if (const auto bytes = values.range("bytes")) return range{range_unit::bytes, bytes->first, bytes->last};
  return std::nullopt;
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
