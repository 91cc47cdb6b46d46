/// Going from line to line.
#include "sources/logs/records/extents.hpp"

#include <algorithm>
#include <string_view>

namespace hondana::records {
namespace {

/// The first beginning of a line at or behind `from`; the end of the block where there is none.
std::uint64_t line_at(const block& in, std::uint64_t from) noexcept {
  if (from == 0) return 0;
  if (from >= in.end) return in.end;
  const auto found = std::string_view(in.bytes).find('\n', static_cast<std::size_t>(from - 1 - in.base));
  if (found == std::string_view::npos) return in.end;
  return std::min(in.base + found + 1, in.end);
}

}  // namespace

bool begins_at(const block& in, std::uint64_t at, const framing& by) { return at == 0 || by.begins(in.from(at)); }

void record_starts(const block& in, const framing& by, std::vector<std::uint64_t>& into) {
  into.clear();
  for (auto at = line_at(in, in.begin); at < in.end; at = line_at(in, at + 1)) {
    if (begins_at(in, at, by)) into.push_back(at);
  }
}

std::optional<std::uint64_t> next_start(const block& in, const framing& by, std::uint64_t from) {
  for (auto at = line_at(in, std::max(from, in.begin)); at < in.end; at = line_at(in, at + 1)) {
    if (begins_at(in, at, by)) return at;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> last_start(const block& in, const framing& by, std::uint64_t before) {
  const std::string_view bytes = in.bytes;
  for (auto limit = static_cast<std::size_t>(before - in.base); limit >= 2;) {
    const auto found = bytes.rfind('\n', limit - 2);
    if (found == std::string_view::npos) break;
    const auto at = in.base + found + 1;
    if (at < in.begin) return std::nullopt;
    if (begins_at(in, at, by)) return at;
    limit = found + 1;
  }
  return in.begin == 0 && before > 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
}

}  // namespace hondana::records
