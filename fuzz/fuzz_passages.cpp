/// Cuts of any text, as any kind of it: the first three bytes say which and how. Passages stay within the text and their size.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json/utf8.hpp"
#include "search/chunking/passages.hpp"

namespace {

using namespace hondana;

constexpr std::array<std::string_view, 14> names{"a.md",   "a.txt", "a.rst",  "a.adoc", "a.html", "a.cpp", "a.py",
                                                 "a.yaml", "a.css", "a.json", "a.csv",  "a.tsv",  "a.log", "a.toml"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 3, size - 3);
  const auto name = names[data[0] % names.size()];
  chunking::chunking_options how;
  how.max_bytes = 16 + data[1];
  how.target_bytes = 1 + data[2] % how.max_bytes;
  how.overlap = how.target_bytes / 4;
  how.max_passages = 200;
  const auto made = chunking::chunk_text(text, "", name, how);
  if (made.passages.size() > how.max_passages) std::abort();
  const bool is_utf8 = json::is_utf8(text);
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  for (const auto& one : made.passages) {
    if (one.text.empty() || one.text.size() > how.max_bytes) std::abort();
    if (is_utf8 && !(json::is_utf8(one.text) && json::is_utf8(one.heading) && json::is_utf8(one.title))) std::abort();
    if (one.begin < begin || one.end < end || one.end <= one.begin || one.end > text.size()) std::abort();
    begin = one.begin;
    end = one.end;
    if (name == "a.html") continue;
    const auto first = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
    const auto last = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
    if (one.first_line != static_cast<std::size_t>(first) || one.last_line != static_cast<std::size_t>(last)) std::abort();
  }
  return 0;
}
