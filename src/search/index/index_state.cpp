/// State shared by the indexer and by searches, and the problems of an index.
#include "search/index/index_state.hpp"

#include <utility>

namespace hondana::search {

std::string_view words_for(trouble which) noexcept {
  switch (which) {
    case trouble::defect:
      return "indexing failed and is retried; see the server's log";
    case trouble::store:
      return "the index cannot be written or read; see the server's log";
    case trouble::lists:
      return "a source cannot be listed; see the server's log";
    case trouble::resources:
      return "some resources cannot be read now; see the server's log";
    case trouble::room:
      return "the index is full: not everything fits into most_passages";
    case trouble::vectors:
      return "the embedding service returns no vectors now; see the server's log";
  }
  return {};
}

void troubles::have(trouble which, const std::string& why) {
  auto& known = why_[static_cast<std::size_t>(which)];
  if (known == why) return;
  known = why;
  on_->say(why);
  tell();
}

void troubles::have(trouble which, const failure& why) {
  have(which, why.private_text.empty() ? why.public_text : why.public_text + " (" + why.private_text + ')');
}

void troubles::end(trouble which) {
  auto& known = why_[static_cast<std::size_t>(which)];
  if (known.empty()) return;
  known.clear();
  tell();
}

std::string_view troubles::words() const noexcept {
  for (std::size_t i = 0; i < why_.size(); ++i) {
    if (!why_[i].empty()) return words_for(static_cast<trouble>(i));
  }
  return {};
}

void troubles::tell() const {
  on_->change_state([this](search_state& state) { state.problem = words(); });
}

}  // namespace hondana::search
