/// The public class search_index: opens an index and attaches it to a server.

#include <algorithm>
#include <memory>
#include <utility>

#include "search/index/embedded/embedded_store.hpp"
#include "search/index/index_location.hpp"
#include "search/index/index_state.hpp"
#include "search/index/indexer.hpp"
#include "search/index/postgres/postgres_store.hpp"
#include "search/index/search_engine.hpp"
#include "search/index/search_provider.hpp"
#include "server/catalog/list_filter.hpp"
#include "server/tools/search_engine.hpp"

namespace hondana::inline v0 {

namespace {

/// Shared with the engine and the source.
struct index_state {
  std::shared_ptr<search::ground> on = std::make_shared<search::ground>();
  std::shared_ptr<search::engine> by;
  std::shared_ptr<search::search_provider> source;
  std::shared_ptr<provider> source_for_server;
  std::unique_ptr<search::indexer> indexing;
};

tl::unexpected<failure> wrong_option(std::string_view name, std::string_view why) {
  return fail(errc::invalid_argument, std::string(name) + ": " + std::string(why));
}

result<std::shared_ptr<const tokenizer::tokenizer>> tokenizer_for(const search_options& how) {
  if (how.words == word_cutting::trigrams) return tokenizer::words_by_trigrams();
  auto made = tokenizer::words_by_mecab(how.dictionary);
  if (made || how.words == word_cutting::mecab) return made;
  if (how.log) how.log("search: Japanese is searched by three characters at a time, because " + made.error().public_text);
  return tokenizer::words_by_trigrams();
}

result<std::shared_ptr<const embeddings::embedder>> embedder_for(const embedding_options& how) {
  embeddings::settings with;
  with.at.url = how.url;
  with.at.bearer_file = how.bearer_file;
  with.at.authorities = how.authorities;
  with.at.sends_secrets_in_the_clear = how.sends_secrets_in_the_clear;
  with.at.time = how.timeout;
  with.model = how.model;
  with.dimensions = how.dimensions;
  with.query_prefix = how.query_prefix;
  with.document_prefix = how.document_prefix;
  with.batch = how.batch;
  with.query_time = how.query_timeout;
  return embeddings::make_embedder(std::move(with));
}

class opened_index final : public search_index {
 public:
  explicit opened_index(std::unique_ptr<index_state> made) : state_(std::move(made)) {
    state_->by = std::make_shared<search::engine>(state_->on);
    state_->source = std::make_shared<search::search_provider>(state_->on, state_->by);
    state_->source_for_server = state_->source;
    state_->indexing = std::make_unique<search::indexer>(state_->on);
    state_->source->wait_by(
        [in = std::weak_ptr(state_)](search::look_end which, auto until, const auto& hears, const auto& stop) -> result<void> {
          const auto there = in.lock();
          if (!there) return fail(errc::source_unavailable, "search: the index is closed");
          const auto tell = [&] {
            if (hears) hears(there->on->state());
          };
          return there->indexing->wait_for_look(there->indexing->ask_for_look(), which, until, stop, tell);
        });
  }
  ~opened_index() override { end(); }

  void serve(std::shared_ptr<const tools::place> where, std::shared_ptr<catalog::feed> changes) override {
    state_->on->put_where(std::move(where));
    state_->indexing->begin(std::move(changes));
  }
  void leave() override { end(); }
  [[nodiscard]] const std::shared_ptr<provider>& source() const noexcept override { return state_->source_for_server; }
  [[nodiscard]] std::shared_ptr<const tools::search_engine> engine() const noexcept override { return state_->by; }
  [[nodiscard]] search_state now() const override { return state_->on->state(); }
  void refresh() override { static_cast<void>(state_->indexing->ask_for_look()); }
  [[nodiscard]] result<void> wait(std::chrono::steady_clock::time_point until,
                                  const std::function<void(const search_state&)>& hears, const std::stop_token& stop) override {
    return state_->source->wait(until, hears, stop);
  }

 private:
  void end() {
    state_->indexing->end();
    // Break a reference cycle: the server's sources include this one.
    state_->on->put_where(nullptr);
  }

  std::shared_ptr<index_state> state_;
};

}  // namespace

result<std::shared_ptr<search_index>> open_search_index(search_options from) {
  if (!from.path.empty() && !from.postgres.empty())
    return wrong_option("postgres", "the index is stored in a file or in PostgreSQL, not in both; remove one of the two");
  if (!from.path.empty() && from.path.front() != '/') return wrong_option("path", "expected an absolute path");
  if (from.interval.count() < 100) return wrong_option("interval", "expected at least 100 ms");
  if (from.most_passages == 0) return wrong_option("most_passages", "expected at least 1");
  auto made = std::make_unique<index_state>();
  HONDANA_TRY(auto words, tokenizer_for(from));
  made->on->words = std::move(words);
  if (from.embeddings) {
    auto embedder = embedder_for(*from.embeddings);
    if (!embedder)
      return tl::unexpected(
          failure{embedder.error().code, "embeddings: " + embedder.error().public_text, embedder.error().private_text});
    made->on->embedder = std::move(*embedder);
  }
  HONDANA_TRY(search::make_folder_for(from));
  HONDANA_TRY(auto kept, from.postgres.empty()
                             ? search::open_embedded({from.path, made->on->words, from.log})
                             : search::open_postgres({from.postgres, from.postgres_schema, made->on->words, from.log}));
  made->on->kept = std::move(kept);
  made->on->change_state([&](search_state& state) {
    state.words = made->on->words->description();
    if (made->on->embedder) state.vectors_from = made->on->embedder->description();
  });
  from.include = catalog::in_all_spellings(from.include);
  from.exclude = catalog::in_all_spellings(from.exclude);
  made->on->options = std::move(from);
  return std::make_shared<opened_index>(std::move(made));
}

search_state state_of(const search_index& which) { return which.now(); }
void refresh(search_index& which) { which.refresh(); }
result<void> wait_until_complete(search_index& which, std::chrono::steady_clock::time_point until,
                                 const std::function<void(const search_state&)>& hears) {
  return which.wait(until, hears);
}

}  // namespace hondana::inline v0
