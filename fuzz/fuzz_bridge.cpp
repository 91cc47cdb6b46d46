/// Ranges and words of the tools: the first line of the input is the range and the query, the rest is the content; compared
/// with a naive way.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "server/tools/content_part.hpp"
#include "server/tools/scanning_search.hpp"

namespace {

using namespace hondana;

/// The lines asked for, by splitting the whole text.
std::string_view naive_lines(std::string_view text, std::uint64_t first, std::uint64_t last) {
  std::uint64_t line = 1;
  std::size_t begin = text.size();
  std::size_t end = text.size();
  for (std::size_t at = 0; at < text.size(); ++line) {
    const auto next = std::min(text.find('\n', at), text.size() - 1) + 1;
    if (line == first) begin = at;
    if (line == last) end = next;
    at = next;
  }
  return text.substr(begin, end - begin);
}

void search(std::string_view query, std::string_view text) {
  const auto words = tools::words_of(query);
  if (words.empty() || words.size() > 16) {
    if (!words.empty()) std::abort();
    return;
  }
  const auto found = tools::best_passage(text, words);
  if (found.first_line == 0) return;
  if (found.last_line < found.first_line || found.last_line > found.first_line + 2 || found.text.size() > 406) std::abort();
  if (found.words_in_line == 0 || found.words_in_line > words.size()) std::abort();
  for (const auto& word : words) static_cast<void>(tools::presence_of(text, word));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto line = std::min(input.find('\n'), input.size());
  const auto text = input.substr(std::min(line + 1, input.size()));
  search(input.substr(0, line), text);
  const auto wanted = tools::parse_range(std::string(input.substr(0, line)));
  if (!wanted) {
    if (wanted.error().public_text.empty()) std::abort();
    return 0;
  }
  bytes::prepared_content content;
  content.is_text = json::is_utf8(text) && !json::has_nul(text);
  content.data = std::make_shared<const std::string>(text);
  const auto found = tools::extract({}, {}, content, nullptr, *wanted, {}, 1u << 20);
  if (wanted->is_lines) {
    const auto expected = naive_lines(text, wanted->first, wanted->last.value_or(UINT64_MAX));
    if (found.has_value() != (!expected.empty() || (text.empty() && wanted->first == 1))) std::abort();
    if (found && content.is_text && found->bytes != expected) std::abort();
    return 0;
  }
  if (found.has_value() != (wanted->first < text.size() || wanted->first == 0)) std::abort();
  if (!found) return 0;
  if (found->begin + found->bytes.size() > text.size() || found->end > text.size()) std::abort();
  if (text.substr(static_cast<std::size_t>(found->begin), found->bytes.size()) != found->bytes) std::abort();
  if (content.is_text && !json::is_utf8(found->bytes)) std::abort();

  // Pages of the whole, put together, are the whole.
  if (!content.is_text) return 0;
  std::string all;
  std::optional<tools::byte_range> rest;
  for (;;) {
    const auto page = tools::extract({}, {}, content, nullptr, {}, rest, 64);
    if (!page || (page->bytes.empty() && !text.empty())) std::abort();
    all += page->bytes;
    rest = tools::byte_range{page->begin + page->bytes.size(), page->end};
    if (rest->begin == rest->end) break;
  }
  if (all != text) std::abort();
  return 0;
}
