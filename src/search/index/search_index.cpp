/// The public class search_index: opens an index and attaches it to a server.

#include <algorithm>
#include <memory>
#include <utility>

#include "search/index/embedded/embedded_store.hpp"
#include "search/index/index_location.hpp"
#include "search/index/indexer.hpp"
#include "search/index/postgres/postgres_store.hpp"
#include "search/index/search_engine.hpp"
#include "search/index/search_provider.hpp"
#include "search/index/shared_index.hpp"
#include "server/catalog/list_filter.hpp"
#include "server/tools/search_engine.hpp"

namespace hondana::inline v0 {

namespace {

/// Shared with the engine and the source.
struct index_state {
  std::shared_ptr<search::shared_index> index = std::make_shared<search::shared_index>();
  std::shared_ptr<search::engine> engine;
  std::shared_ptr<search::search_provider> source;
  std::shared_ptr<provider> source_for_server;
  std::unique_ptr<search::indexer> indexer;
};

tl::unexpected<failure> invalid_option(std::string_view name, std::string_view reason) {
  return fail(errc::invalid_argument, std::string(name) + ": " + std::string(reason));
}

result<std::shared_ptr<const tokenizer::tokenizer>> make_tokenizer(const search_options& options) {
  if (options.tokenizer == tokenizer_kind::trigrams) return tokenizer::make_trigram_tokenizer();
  auto created = tokenizer::make_mecab_tokenizer(options.dictionary.value_or(std::string()));
  if (created || options.tokenizer == tokenizer_kind::mecab) return created;
  if (options.log)
    options.log("search: Japanese is searched by three characters at a time, because " + created.error().public_text);
  return tokenizer::make_trigram_tokenizer();
}

result<std::shared_ptr<const embeddings::embedder>> make_embedder(const embedding_options& options) {
  embeddings::settings settings;
  settings.connection.url = options.url;
  settings.connection.bearer_file = options.bearer_file.value_or(std::string());
  settings.connection.ca_file = options.ca_file.value_or(std::string());
  settings.connection.allows_plaintext_secrets = options.allows_cleartext_token;
  settings.connection.timeout = options.timeout;
  settings.model = options.model;
  settings.dimensions = options.dimensions.value_or(0);
  settings.query_prefix = options.query_prefix;
  settings.document_prefix = options.document_prefix;
  settings.batch_size = options.batch_size;
  settings.query_timeout = options.query_timeout;
  return embeddings::make_embedder(std::move(settings));
}

class opened_index final : public search_index {
 public:
  explicit opened_index(std::unique_ptr<index_state> state) : state_(std::move(state)) {
    state_->engine = std::make_shared<search::engine>(state_->index);
    state_->source = std::make_shared<search::search_provider>(state_->index, state_->engine);
    state_->source_for_server = state_->source;
    state_->indexer = std::make_unique<search::indexer>(state_->index);
    state_->source->set_waiter([weak_state = std::weak_ptr(state_)](search::scan_end end, auto deadline,
                                                                    const auto& on_progress, const auto& stop) -> result<void> {
      const auto locked = weak_state.lock();
      if (!locked) return fail(errc::source_unavailable, "search: the index is closed");
      const auto report = [&] {
        if (on_progress) on_progress(locked->index->state());
      };
      return locked->indexer->wait_for_scan(locked->indexer->request_scan(), end, deadline, stop, report);
    });
  }
  ~opened_index() override { stop(); }

  void start(std::shared_ptr<const tools::services_holder> holder, std::shared_ptr<catalog::change_feed> changes) override {
    state_->index->set_services(std::move(holder));
    state_->indexer->start(std::move(changes));
  }
  void shutdown() override { stop(); }
  [[nodiscard]] const std::shared_ptr<provider>& source() const noexcept override { return state_->source_for_server; }
  [[nodiscard]] std::shared_ptr<const tools::search_engine> engine() const noexcept override { return state_->engine; }
  [[nodiscard]] search_state state() const override { return state_->index->state(); }
  void refresh() override { static_cast<void>(state_->indexer->request_scan()); }
  [[nodiscard]] result<void> wait(std::chrono::steady_clock::time_point deadline,
                                  const std::function<void(const search_state&)>& on_progress,
                                  const std::stop_token& stop) override {
    return state_->source->wait(deadline, on_progress, stop);
  }

 private:
  void stop() {
    state_->indexer->stop();
    // Break a reference cycle: the server's sources include this one.
    state_->index->set_services(nullptr);
  }

  std::shared_ptr<index_state> state_;
};

}  // namespace

result<std::shared_ptr<search_index>> open_search_index(search_options options) {
  if (options.path && options.postgres_url)
    return invalid_option("postgres_url", "the index is stored in a file or in PostgreSQL, not in both; remove one of the two");
  if (options.path && !options.path->starts_with('/')) return invalid_option("path", "expected an absolute path");
  if (options.scan_interval.count() < 100) return invalid_option("scan_interval", "expected at least 100 ms");
  if (options.max_passages == 0) return invalid_option("max_passages", "expected at least 1");
  auto created = std::make_unique<index_state>();
  HONDANA_TRY(auto words, make_tokenizer(options));
  created->index->tokenizer = std::move(words);
  if (options.embeddings) {
    auto embedder = make_embedder(*options.embeddings);
    if (!embedder)
      return tl::unexpected(
          failure{embedder.error().code, "embeddings: " + embedder.error().public_text, embedder.error().private_text});
    created->index->embedder = std::move(*embedder);
  }
  HONDANA_TRY(search::make_folder_for(options));
  HONDANA_TRY(
      auto storage,
      options.postgres_url
          ? search::open_postgres({*options.postgres_url, options.postgres_schema, created->index->tokenizer, options.log})
          : search::open_embedded({options.path.value_or(std::string()), created->index->tokenizer, options.log}));
  created->index->storage = std::move(storage);
  created->index->change_state([&](search_state& state) {
    state.tokenizer = created->index->tokenizer->description();
    if (created->index->embedder) state.vector_source = created->index->embedder->description();
  });
  options.include = catalog::all_prefix_forms(options.include);
  options.exclude = catalog::all_prefix_forms(options.exclude);
  created->index->options = std::move(options);
  return std::make_shared<opened_index>(std::move(created));
}

search_state search_state_of(const search_index& index) { return index.state(); }
void refresh_search_index(search_index& index) { index.refresh(); }
result<void> wait_until_indexed(search_index& index, std::chrono::steady_clock::time_point deadline,
                                const std::function<void(const search_state&)>& on_progress) {
  return index.wait(deadline, on_progress);
}

}  // namespace hondana::inline v0
