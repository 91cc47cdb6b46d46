/// Searching what a server serves by an index of passages (docs/search.md).
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

/// A service that makes vectors of texts, by OpenAI's `/v1/embeddings`.
struct embedding_options {
  std::string url{};                               ///< Up to and with `/v1`: `http://localhost:11434/v1`.
  std::string model{};                             ///< As the service calls it.
  std::size_t dimensions = 0;                      ///< Asked for, where the service can shorten vectors; 0: as they are.
  std::string query_prefix{};                      ///< Put before what is searched for, as some models want it.
  std::string document_prefix{};                   ///< Put before what is found.
  std::string bearer_file{};                       ///< A file with a token, read each time; empty: none.
  std::string authorities{};                       ///< A PEM file to trust instead of the system's.
  std::size_t batch = 32;                          ///< Texts in one request.
  std::chrono::milliseconds timeout{30'000};       ///< Of one request, of documents.
  std::chrono::milliseconds query_timeout{1'500};  ///< A search waits no longer for the vector of its query.
  bool sends_secrets_in_the_clear = false;         ///< The token may go by `http:` to another machine.
};

/// How texts are cut into words.
enum class word_cutting : std::uint8_t {
  automatic,  ///< By MeCab where its library and a dictionary are there, and else by trigrams; the log says so.
  mecab,
  trigrams,
};

/// What is indexed, and where that is kept. Each limit's comment says what happens at it.
struct search_options {
  /// The file of the index; it and files beside it with the same beginning are made. Empty: in memory, made anew at each start.
  std::string path{};
  /// A PostgreSQL instead, which several servers may share: `postgresql://user@host/database`, without a password (a `.pgpass`
  /// file or PGPASSFILE has it). Tables are made in `postgres_schema`.
  std::string postgres{};
  std::string postgres_schema = "hondana_search";
  /// Canonical URI prefixes of what is indexed; empty: what all sources list, but for logs, metrics, git, the environment and
  /// mounted servers.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};  ///< Of these, prefixes of what is not.
  std::uint64_t largest = 16u << 20;   ///< Bytes of a resource; of larger ones name, title and description are indexed alone.
  std::size_t most_passages = 2'000'000;       ///< In all; what comes later is not indexed, and said to be missing.
  std::chrono::milliseconds interval{60'000};  ///< Between two looks at everything, for changes that no source tells of.
  word_cutting words = word_cutting::automatic;
  std::string dictionary{};  ///< MeCab's, a folder; empty: as MeCab is set up.
  std::optional<embedding_options> embeddings{};
  std::function<void(std::string_view)> log{};  ///< One line a noteworthy event; may be empty. Threads: any.
};

/// How an index is doing.
struct search_state {
  std::uint64_t resources = 0;     ///< Indexed,
  std::uint64_t passages = 0;      ///< with these passages,
  std::uint64_t vectors = 0;       ///< of which so many have a vector.
  std::uint64_t waiting = 0;       ///< Resources known to be new or changed, and not indexed yet.
  std::uint64_t without_text = 0;  ///< Of `resources`, those that have no text that could be indexed, or too much.
  std::uint64_t bytes = 0;         ///< Kept on disk or in memory.
  bool is_complete = false;        ///< Everything there was at the last look is indexed.
  std::string words{};             ///< How texts are cut into words, for people.
  std::string vectors_from{};      ///< Where vectors come from, for people; empty: there are none.
  std::string problem{};           ///< What went wrong last, as long as it does; empty: nothing.
};

/// An index with the thread that keeps it up. Given to a server by `server_options::search`, and to no other.
class search_index;

/// Opens or makes one; indexing begins when a server has it. Errors: invalid_argument, naming the option that is wrong;
/// source_unavailable for a store that cannot be had, saying why. A damaged file is moved aside and made anew.
[[nodiscard]] result<std::shared_ptr<search_index>> open_search_index(search_options from);
/// Threads: any; does not block.
[[nodiscard]] search_state state_of(const search_index& which);
/// Looks at everything and indexes what is new, as it does by itself each `interval`. Returns at once. Threads: any.
void refresh(search_index& which);
/// Waits until everything is indexed that was there when this was called; `hears` (may be empty) is told how far it is. Errors:
/// timed_out.
[[nodiscard]] result<void> wait_until_complete(search_index& which, std::chrono::steady_clock::time_point until,
                                               const std::function<void(const search_state&)>& hears = {});

}  // namespace hondana::inline v0
