/// Cutting and cleaning what others wrote.
#include "sources/git/quotation.hpp"

#include <algorithm>

#include "base/json/utf8.hpp"

namespace hondana::git {

std::string in_quotes(std::string_view word, std::size_t most) {
  std::string out = "\"";
  json::append_replacing(out, word.substr(0, most));
  std::replace_if(out.begin(), out.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; }, '?');
  return out += word.size() > most ? "…\"" : "\"";
}

}  // namespace hondana::git
