/// Full-text search with an index of passages (docs/search.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// A service that computes vectors (embeddings) of texts, with OpenAI's `/v1/embeddings` protocol.
struct embedding_options {
  std::string url{};    ///< Base URL, including `/v1`: `http://localhost:11434/v1`.
  std::string model{};  ///< The service's name of the model.
  /// Requested dimensions, if the service can shorten vectors. nullopt: the model's own.
  std::optional<std::size_t> dimensions{};
  std::string query_prefix{};                 ///< Text that the model needs before each query.
  std::string document_prefix{};              ///< Text that the model needs before each document.
  std::optional<std::string> bearer_file{};   ///< A file with a token, read for each request.
  std::optional<std::string> ca_file{};       ///< PEM file of certificates to trust instead of the system's.
  std::size_t batch_size = 32;                ///< Texts per request.
  std::chrono::milliseconds timeout{30'000};  ///< For one request with documents.
  /// How long a search waits for the vector of its query. After that, it compares words only.
  std::chrono::milliseconds query_timeout{1'500};
  bool allows_cleartext_token = false;  ///< Permits sending the token over `http:` to another machine.
};

/// How texts are split into words.
enum class tokenizer_kind : std::uint8_t {
  automatic,  ///< `mecab` if its library and a dictionary are installed, otherwise `trigrams`, which is logged.
  mecab,      ///< Words of a MeCab dictionary, for Japanese.
  trigrams,   ///< Sequences of three characters.
};

/// What is indexed, and where the index is stored.
struct search_options {
  /// Absolute path of the index file; further files have this path with a suffix. nullopt: in memory, rebuilt at each start.
  std::optional<std::string> path{};
  /// A PostgreSQL database instead of `path`, which several servers can share: `postgresql://user@host/database`. The password
  /// is in the file `~/.pgpass`, or in that of the variable PGPASSFILE.
  std::optional<std::string> postgres_url{};
  std::string postgres_schema = "hondana_search";  ///< The schema in which tables are created.
  /// Canonical URI prefixes to index. Empty: everything that sources list, except logs, metrics, git, the environment and
  /// mounted servers.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};            ///< Canonical URI prefixes that are not indexed.
  std::uint64_t max_resource_bytes = 16u << 20;  ///< Of larger resources, only name, title and description are indexed.
  /// Maximum number of passages (sections or paragraphs). Resources that do not fit are not indexed, and
  /// `search_state::problem` says so.
  std::size_t max_passages = 2'000'000;
  /// Time between two scans of all resources, which find changes that sources do not report. At least 100 ms.
  std::chrono::milliseconds scan_interval{60'000};
  tokenizer_kind tokenizer = tokenizer_kind::automatic;
  std::optional<std::string> dictionary{};        ///< Folder of the MeCab dictionary. nullopt: that of MeCab's configuration.
  std::optional<embedding_options> embeddings{};  ///< Compares meanings, too. nullopt: words only.
  std::function<void(std::string_view)> log{};    ///< One line per noteworthy event; may be empty. Threads: any.
};

/// The state of an index.
struct search_state {
  std::uint64_t resources = 0;     ///< Indexed resources.
  std::uint64_t passages = 0;      ///< Passages of these resources.
  std::uint64_t vectors = 0;       ///< Passages that have a vector.
  std::uint64_t pending = 0;       ///< Resources that are known to be new or changed, but not indexed yet.
  std::uint64_t without_text = 0;  ///< Of `resources`: those indexed by name, title and description only (not text, too large).
  std::uint64_t bytes = 0;         ///< Size on disk or in memory.
  bool is_complete = false;     ///< The last scan reached all lists, and everything found is indexed. Vectors may be missing.
  std::string tokenizer{};      ///< How texts are split into words, for people.
  std::string vector_source{};  ///< Where vectors come from, for people. Empty: no vectors.
  std::string problem{};        ///< The current problem, for people. Empty: none.
};

/// An index, with the thread that updates it. Pass it to one server only, as `server_options::search`.
class search_index;

/// Opens or creates an index. Indexing begins when a server gets it. A damaged file is renamed, and the index is made again.
/// Errors: invalid_argument for an invalid option; source_unavailable if the store cannot be opened.
[[nodiscard]] result<std::shared_ptr<search_index>> open_search_index(search_options options);
/// Returns the state of an index. Threads: any; does not block.
[[nodiscard]] search_state search_state_of(const search_index& index);
/// Starts a scan of all resources without waiting for `search_options::scan_interval`. Returns at once. Threads: any.
void refresh_search_index(search_index& index);
/// Starts a scan of all resources, and waits until everything that it finds is indexed; vectors may be missing. Calls
/// `on_progress` (may be empty) on this thread, at least every second. Errors: timed_out at `deadline`, also if a resource
/// cannot be listed, read or stored; source_unavailable if the server has stopped.
[[nodiscard]] result<void> wait_until_indexed(search_index& index, std::chrono::steady_clock::time_point deadline,
                                              const std::function<void(const search_state&)>& on_progress = {});

}  // namespace hondana::inline v0
