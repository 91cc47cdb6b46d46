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

tl::unexpected<failure> malformed(std::string_view parameter) {
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

std::optional<std::uint64_t> number(std::string_view digits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

std::optional<range> parse_value(range_unit unit, std::string_view value) {
  const auto dash = value.find('-');
  const auto first = number(value.substr(0, dash));
  if (!first || (unit == range_unit::lines && *first == 0)) return std::nullopt;
  if (dash == std::string_view::npos) return range{unit, *first, first};
  if (dash + 1 == value.size()) return range{unit, *first, std::nullopt};
  const auto last = number(value.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return range{unit, *first, last};
}

std::string plural(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

bool continues(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

/// Narrows a byte range of text to code point boundaries.
result<extent> narrowed(const open_file& file, std::uint64_t size, extent found) {
  // A code point has at most three continuation bytes.
  std::array<char, 4> around{};
  auto count =
      read_exactly(file, around.data(), static_cast<std::size_t>(std::min<std::uint64_t>(3, size - found.begin)), found.begin);
  if (!count) return tl::unexpected(std::move(count.error()));
  for (std::size_t i = 0; i < *count && continues(around[i]); ++i) ++found.begin;
  if (found.end < size) {
    const std::uint64_t from = found.end - std::min<std::uint64_t>(3, found.end);
    count = read_exactly(file, around.data(), static_cast<std::size_t>(found.end - from + 1), from);
    if (!count) return tl::unexpected(std::move(count.error()));
    for (std::size_t i = *count - 1; i > 0 && continues(around[i]); --i) --found.end;
  }
  found.end = std::max(found.begin, found.end);
  return found;
}

result<extent> locate_bytes(const open_file& file, std::uint64_t size, const range& wanted, bool is_text) {
  if (wanted.first >= size) {
    return fail(errc::invalid_argument, "The range begins beyond the end: the file has " + plural(size, "byte") + ".");
  }
  const extent found{wanted.first, wanted.last && *wanted.last < size ? *wanted.last + 1 : size};
  return is_text ? narrowed(file, size, found) : found;
}

failure too_many_lines(const read_request& request) {
  return {errc::response_too_large,
          "The requested lines have more than " + std::to_string(request.max_bytes) +
              " bytes, which is the read limit. Request fewer lines, or a part with ?bytes=FIRST-LAST.",
          {}};
}

failure beyond_line_search(const range& wanted) {
  return {
      errc::invalid_argument,
      "Line " + std::to_string(wanted.first) +
          " is beyond the first 256 MiB of the file, after which lines are not counted. Request a part with ?bytes=FIRST-LAST.",
      {}};
}

/// Counts lines, window by window, until both ends are known, or known to be out of bounds.
result<extent> locate_lines(const open_file& file, std::uint64_t size, const range& wanted, const read_request& request) {
  std::optional<std::uint64_t> begin;
  std::optional<std::uint64_t> end;
  std::uint64_t line = 1;
  std::uint64_t at = 0;  // offset of the window
  if (wanted.first == 1 && size > 0) begin = 0;
  auto passed = for_each_window(file, size, request, [&](std::string_view piece) {
    auto rest = piece;
    for (auto feed = rest.find('\n'); feed != std::string_view::npos; feed = rest.find('\n')) {
      rest.remove_prefix(feed + 1);
      ++line;
      const auto next = at + (piece.size() - rest.size());
      if (line == wanted.first) begin = next;
      if (wanted.last && line - 1 == *wanted.last) {
        end = next;
        return false;
      }
    }
    at += piece.size();
    if (!begin) return at < line_search_bytes;
    return wanted.last.has_value() && at - *begin <= request.max_bytes;
  });
  if (!passed) return tl::unexpected(std::move(passed.error()));
  if (!begin && at < size) return tl::unexpected(beyond_line_search(wanted));
  if (begin && !end && wanted.last && at < size) return tl::unexpected(too_many_lines(request));
  if (begin && *begin == size) begin.reset();  // a LF at the end of the file does not begin a line
  if (!begin) {
    char last = '\n';
    if (size > 0) {
      HONDANA_TRY(read_exactly(file, &last, 1, size - 1));
    }
    return fail(errc::invalid_argument,
                "The range begins beyond the end: the file has " + plural(last == '\n' ? line - 1 : line, "line") + ".");
  }
  return extent{*begin, end.value_or(size)};
}

}  // namespace

result<std::optional<range>> parse_range(std::string_view query) {
  std::optional<range> found;
  while (!query.empty()) {
    const auto [name, written] = uri::take_parameter(query);
    if (name != "lines" && name != "bytes") {
      return fail(errc::resource_not_found, "Files have no parameter of that name. Use ?lines=10-40 or ?bytes=0-4095.");
    }
    if (found) return fail(errc::invalid_argument, "Give either \"lines\" or \"bytes\", and only once.");
    const auto value = percent_decode(written);
    if (value) found = parse_value(name == "lines" ? range_unit::lines : range_unit::bytes, *value);
    if (!found) return malformed(name);
  }
  return found;
}

result<extent> locate_range(const open_file& file, std::uint64_t size, const range& wanted, bool is_text,
                            const read_request& request) {
  if (wanted.unit == range_unit::bytes) return locate_bytes(file, size, wanted, is_text);
  if (!is_text) {
    return fail(errc::invalid_argument,
                "The parameter \"lines\" is for text, and this file is not UTF-8 text. Request a part with ?bytes=FIRST-LAST.");
  }
  return locate_lines(file, size, wanted, request);
}

}  // namespace hondana::files
