/// Bytes of a stdio peer: the same lines however they are cut, none over the cap, every oversized one reported once.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "transport/stdio/input.hpp"

namespace {

using hondana::transport::stdio::line_splitter;

void require(bool holds) {
  if (!holds) std::abort();
}

/// What a splitter says, in order; an oversized line is an empty one, which is never handed out as a line.
struct heard {
  std::vector<std::string> lines;
  std::string rest;
  friend bool operator==(const heard&, const heard&) = default;
};

heard split(std::string_view bytes, std::size_t cap, const std::vector<std::size_t>& pieces) {
  line_splitter lines(cap);
  heard out;
  for (std::size_t i = 0; !bytes.empty(); ++i) {
    const auto piece = bytes.substr(0, pieces[i % pieces.size()]);
    lines.feed(
        piece,
        [&](std::string_view line) {
          require(!line.empty() && line.size() <= cap);
          out.lines.emplace_back(line);
        },
        [&] { out.lines.emplace_back(); });
    require(lines.remainder().size() <= cap);
    bytes.remove_prefix(piece.size());
  }
  out.rest = lines.remainder();
  return out;
}

/// The same, written down plainly.
heard split_plainly(std::string_view bytes, std::size_t cap) {
  heard out;
  for (;;) {
    const auto end = bytes.find('\n');
    auto line = bytes.substr(0, end);
    const bool is_oversized = line.size() > cap;
    if (is_oversized) out.lines.emplace_back();
    if (end == std::string_view::npos) {
      if (!is_oversized) out.rest = line;
      return out;
    }
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!is_oversized && !line.empty()) out.lines.emplace_back(line);
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::size_t cap = data[0] % 64 + 1u;
  const std::vector<std::size_t> pieces{data[1] % 80 + 1u, data[2] % 80 + 1u, data[3] % 80 + 1u};
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 4, size - 4);
  const auto expected = split_plainly(bytes, cap);
  require(split(bytes, cap, {bytes.size() + 1}) == expected);
  require(split(bytes, cap, {1}) == expected);
  require(split(bytes, cap, pieces) == expected);
  return 0;
}
