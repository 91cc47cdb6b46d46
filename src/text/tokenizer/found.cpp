/// Which of the words of a text are kept.
#include "text/tokenizer/found.hpp"

#include <algorithm>

namespace hondana::tokenizer {

void found::add(std::string text, std::size_t begin, std::size_t end, worth is, bool is_prefix) {
  if (text.empty() || (is == worth::none && !is_query())) return;
  if (text.size() > longest_token) {
    std::size_t most = longest_token;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    text.resize(most);
  }
  // The end is that of the last character, which may be folded to more than this word.
  const auto last = part_->source[end - 1];
  while (part_->source[end] == last) ++end;
  tokens_.push_back({std::move(text), source_of(begin), source_of(end), is_prefix});
  if (is_query()) worths_.push_back(is);
}

std::vector<token> found::finish() && {
  if (!is_query() || tokens_.empty()) return std::move(tokens_);
  const auto best = *std::min_element(worths_.begin(), worths_.end());
  std::vector<token> out;
  out.reserve(tokens_.size());
  for (std::size_t i = 0; i < tokens_.size(); ++i)
    if (worths_[i] == best) out.push_back(std::move(tokens_[i]));
  return out;
}

}  // namespace hondana::tokenizer
