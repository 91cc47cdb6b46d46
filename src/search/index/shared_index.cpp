/// State shared by the indexer and by searches, and the problems of an index.
#include "search/index/shared_index.hpp"

#include <utility>

namespace hondana::search {

std::string_view problem_text(problem_kind kind) noexcept {
  switch (kind) {
    case problem_kind::defect:
      return "indexing failed and is retried; see the server's log";
    case problem_kind::store:
      return "the index cannot be written or read; see the server's log";
    case problem_kind::lists:
      return "a source cannot be listed; see the server's log";
    case problem_kind::resources:
      return "some resources cannot be read now; see the server's log";
    case problem_kind::capacity:
      return "the index is full: not everything fits into max_passages";
    case problem_kind::vectors:
      return "the embedding service returns no vectors now; see the server's log";
  }
  return {};
}

void problem_tracker::report(problem_kind kind, const std::string& reason) {
  auto& current = reasons_[static_cast<std::size_t>(kind)];
  if (current == reason) return;
  current = reason;
  index_->log_line(reason);
  publish();
}

void problem_tracker::report(problem_kind kind, const failure& error) {
  report(kind, error.private_text.empty() ? error.public_text : error.public_text + " (" + error.private_text + ')');
}

void problem_tracker::resolve(problem_kind kind) {
  auto& current = reasons_[static_cast<std::size_t>(kind)];
  if (current.empty()) return;
  current.clear();
  publish();
}

std::string_view problem_tracker::text() const noexcept {
  for (std::size_t i = 0; i < reasons_.size(); ++i) {
    if (!reasons_[i].empty()) return problem_text(static_cast<problem_kind>(i));
  }
  return {};
}

void problem_tracker::publish() const {
  index_->change_state([this](search_state& state) { state.problem = text(); });
}

}  // namespace hondana::search
