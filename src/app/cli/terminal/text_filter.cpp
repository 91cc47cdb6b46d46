/// Holding back characters that are not complete.
#include "app/cli/terminal/text_filter.hpp"

#include <utility>

#include "app/cli/visible.hpp"
#include "base/json/utf8.hpp"

namespace hondana::cli {
namespace {

/// How many bytes at the end begin a character that goes on.
std::size_t unfinished(std::string_view text) {
  if (text.ends_with('\r')) return 1;
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xC0u) == 0x80) continue;
    const std::size_t whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC2 ? 2 : 1;
    return whole > back ? back : 0;
  }
  return 0;
}

}  // namespace

std::string text_filter::pass(std::string_view piece) {
  held_ += piece;
  const auto kept = unfinished(held_);
  auto shown = visible_lines(std::string_view(held_).substr(0, held_.size() - kept));
  held_.erase(0, held_.size() - kept);
  return shown;
}

std::string text_filter::rest() { return visible(std::exchange(held_, {})); }

bool looks_like_text(std::string_view beginning) {
  beginning.remove_suffix(unfinished(beginning));
  return beginning.find('\0') == std::string_view::npos && json::is_utf8(beginning);
}

}  // namespace hondana::cli
