/// The contract of index stores, and the checks on documents that all stores share.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "search/chunking/passages.hpp"

namespace hondana::search {

/// A time in milliseconds since 1970.
using milliseconds = std::chrono::sys_time<std::chrono::milliseconds>;

/// One indexed resource.
struct document {
  std::string uri{};      ///< Canonical.
  std::string version{};  ///< The indexed version; empty: unknown.
  std::string name{};
  std::string title{};
  std::string description{};
  std::string mime_type{};
  std::string kind{};
  std::string language{};    ///< BCP 47; empty: unknown.
  std::string problem{};     ///< Why it has no passages of its content, for people; empty: it has.
  std::string processing{};  ///< How its texts were made: the result of `processing_id`.
  /// As `owner_metadata_key` (hondana/metadata_keys.hpp), in the spelling of `normalize_owner`; empty: unknown.
  std::string owners{};
  /// The `digest_of` the listed entry. No value: that of this document. It differs if the title comes from the content.
  std::optional<std::uint64_t> listed_digest{};
  std::optional<double> priority{};   ///< 0 to 1.
  std::vector<chat_role> audience{};  ///< Sorted.
  std::optional<milliseconds> modified{};
  std::optional<std::uint64_t> size{};  ///< In bytes.
};

/// Makes an entry for a list of a document, as far as the index knows it.
[[nodiscard]] resource make_entry(const document& document);

/// A passage as stored in the index.
struct stored_passage {
  std::string heading{};
  std::string text{};
  std::uint64_t first_line = 0;  ///< From 1; 0: made from name, title and description, and not part of the content.
  std::uint64_t last_line = 0;   ///< Included.
  std::uint64_t page = 0;        ///< 0: none.
};

/// Identifies a passage of one index: the number of its document, and its position in the document. Never reused in that index.
struct passage_id {
  std::int64_t number = 0;
  static constexpr int order_bits = 16;
  static constexpr std::size_t max_per_document = 1u << order_bits;  ///< Each document has fewer passages.

  /// `order`: the position in the document, from 0.
  [[nodiscard]] static passage_id create(std::int64_t document, std::size_t order) noexcept {
    return {(document << order_bits) | static_cast<std::int64_t>(order)};
  }
  [[nodiscard]] std::int64_t document() const noexcept { return number >> order_bits; }
  friend auto operator<=>(const passage_id&, const passage_id&) = default;
};

/// Selects documents. All members that are not empty must match. A document never matches a condition on a value that it lacks.
struct document_filter {
  std::string uri_prefix{};
  std::vector<std::string> alternative_prefixes{};  ///< Other spellings of `uri_prefix`, one of which may match instead.
  std::string scheme{};
  std::string language{};   ///< A language range: "ja" matches "ja-JP".
  std::string mime_type{};  ///< `type/subtype`, or `type/` for all subtypes.
  std::string kind{};
  std::optional<chat_role> audience{};
  std::optional<double> min_priority{};
  std::optional<milliseconds> modified_since{};  ///< Included.
  std::string owner{};  ///< One of the owners, or several consecutive ones, in the spelling of `normalize_owner`.
  /// Allowed values of `document::processing`; no value: any.
  std::optional<std::vector<std::string>> processing{};

  /// Whether every document passes.
  [[nodiscard]] bool is_open() const noexcept { return *this == document_filter(); }
  bool operator==(const document_filter&) const = default;
};

/// Whether a document passes the filter. Stores may check it in their query language, with the same results.
[[nodiscard]] bool passes(const document_filter& filter, const document& document) noexcept;

/// Returns an owner in the spelling for comparisons, without differences of case and width. Empty if it is too long or
/// malformed.
[[nodiscard]] std::string normalize_owner(std::string_view owner);

/// A word of a query, from a `tokenizer::token`.
struct query_word {
  std::string text{};
  bool is_prefix = false;  ///< Matches every word that begins with `text`.
  bool follows = false;  ///< The word directly follows the previous one in the query. Both together are then a stronger match.

  bool operator==(const query_word&) const = default;
};

/// A passage that has some of the words.
struct match {
  passage_id id{};
  double score = 0;              ///< BM25 (see bm25.hpp).
  std::uint64_t words = 0;       ///< Bit i: the passage has word i of the query, in any field.
  std::uint64_t in_title = 0;    ///< Bit i: word i is in the document's title or name.
  std::uint64_t in_heading = 0;  ///< Bit i: word i is in the heading.
};
/// The passages that a search by words finds.
struct word_matches {
  std::vector<match> passages{};  ///< In any order.
  bool is_complete = true;  ///< False: more passages have these words than may be examined, or `problem` has another reason.
  std::string problem{};    ///< Another problem of the index, for people; empty: none.
};

/// A passage with its document, as shown to a caller.
struct document_passage {
  passage_id id{};
  stored_passage passage{};
  document metadata{};
};

/// Counts of an index.
struct store_counts {
  std::uint64_t documents = 0;
  std::uint64_t without_text = 0;  ///< Documents that have a `problem`.
  std::uint64_t passages = 0;
  std::uint64_t vectors = 0;  ///< Passages that have a vector of the current model.
  std::uint64_t bytes = 0;    ///< Size on disk or in memory.
};

/// The progress of the indexer, which is stored for other processes.
struct progress {
  std::uint64_t waiting = 0;  ///< As `search_state::pending`.
  bool is_complete = false;
  milliseconds updated_at{};
  std::string problem{};
  bool has_scanned = false;  ///< As `shared_index::has_scanned`.
};
/// Converts progress to the text that stores keep.
[[nodiscard]] std::string encode(const progress& value);
/// Parses the result of `encode`. No value: the text is malformed.
[[nodiscard]] std::optional<progress> decode_progress(std::string_view text);

/// Counts and progress of a stored index, which another process may be writing.
struct stored_index {
  store_counts counts{};
  std::optional<progress> last_progress{};  ///< No value: none has been stored yet.
};

/// The state of an index, for processes that only search it.
struct index_status {
  std::uint64_t commits = 0;                ///< Number of commits since the index was created.
  std::string model{};                      ///< The id of the model of its vectors; empty: there are none.
  std::optional<progress> last_progress{};  ///< The progress of the writing process.
};

/// Whether this process may write an index that several processes may have open.
struct write_access {
  bool is_granted = true;        ///< False: another process writes the index; its commits are visible here.
  std::uint64_t generation = 0;  ///< Changes when the index may have other documents than those that this process has put.
};

/// A consistent state of an index. Writes during the lifetime of this object do not change it, except in memory. Keep it only
/// briefly. Threads: one at a time. Errors of all functions: source_unavailable. Damaged parts are missing from answers, and
/// `word_matches::problem` says so.
class index_snapshot {
 public:
  index_snapshot() = default;
  index_snapshot(const index_snapshot&) = delete;
  index_snapshot& operator=(const index_snapshot&) = delete;
  virtual ~index_snapshot() = default;

  /// Changes when the index has been created again, because passage numbers may then have a new meaning.
  [[nodiscard]] virtual std::uint64_t generation() const noexcept { return 0; }
  /// Finds passages with at least one of the words, of documents that match the filter. Examines at most `max_passages`
  /// passages. Errors: also invalid_argument for more than 64 words.
  [[nodiscard]] virtual result<word_matches> find(std::span<const query_word> words, const document_filter& filter,
                                                  std::size_t max_passages) = 0;
  /// Returns the passages with their documents, in the order of `ids`. Leaves out those that have been removed.
  [[nodiscard]] virtual result<std::vector<document_passage>> load(std::span<const passage_id> ids) = 0;
  /// Returns those of `ids`, in order, whose documents have one of the values `allowed` of `processing`. May include removed
  /// passages.
  [[nodiscard]] virtual result<std::vector<passage_id>> filter_by_processing(std::span<const passage_id> ids,
                                                                             std::span<const std::string> allowed) = 0;
  /// Returns the nearest passages, with the cosine as the score, regardless of any filter. No value: the store cannot search
  /// vectors now (without pgvector).
  [[nodiscard]] virtual std::optional<result<std::vector<match>>> nearest(std::span<const float> query, std::size_t count) {
    static_cast<void>(query);
    static_cast<void>(count);
    return std::nullopt;
  }
};

/// A text that has no vector yet.
struct pending_vector {
  std::string digest{};  ///< Digest of the text: 16 bytes.
  std::string text{};    ///< The text to embed: title, heading and text.
};

/// Stores an index. A document is always replaced as a whole, so searches never see a part of one. Committed data survives a
/// crash at any time; a power failure may lose the last second.
///
/// Threads: the writing functions one at a time; the reading functions any, several at once, also during writes. Readers see
/// committed data. Errors of all functions: source_unavailable, with advice in the text (disk full, locked, removed); committed
/// data stays.
class store {
 public:
  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store() = default;

  /// Determines whether this process may write. If another process writes, tries to take over, which succeeds once that process
  /// has ended. A damaged index is moved aside and created again here. Writers call this about once a second.
  [[nodiscard]] virtual result<write_access> acquire_write_access() { return write_access{}; }

  // Writing. After any error except invalid_argument, a change may be incomplete. So nothing of the transaction is committed:
  // `commit` fails, too, and the writer starts again. NUL bytes are removed from texts.

  /// Replaces the document with this URI and its passages, of which there are fewer than `passage_id::max_per_document`.
  /// Without passages, the description becomes a passage, which is also found by name and title. Returns the removed passages.
  /// Errors: also invalid_argument for malformed UTF-8, too many passages or a URI that is empty or has a NUL.
  [[nodiscard]] virtual result<std::vector<passage_id>> put(const document& document,
                                                            std::span<const chunking::passage> passages) = 0;
  /// Changes everything about a document except its language, problem, `processing` and content. Its passages keep their
  /// numbers. Does nothing if there is no such document. Errors: also invalid_argument, as `put`.
  [[nodiscard]] virtual result<void> describe(const document& document) = 0;
  /// Stores the progress with the next commit.
  [[nodiscard]] virtual result<void> put_progress(const progress& value) = 0;
  /// Removes a document and returns its passages; empty if there is no such document.
  [[nodiscard]] virtual result<std::vector<passage_id>> remove(const std::string& uri) = 0;
  /// Makes all changes since the last commit visible to readers. After an error, they are rolled back.
  [[nodiscard]] virtual result<void> commit() = 0;
  /// Discards changes since the last commit.
  virtual void roll_back() noexcept = 0;

  /// Sets the model of the vectors by its id, and deletes vectors of other models. Empty: no vectors. Commits.
  [[nodiscard]] virtual result<void> use_model(const std::string& id) = 0;
  /// Returns at most `count` texts of passages without a vector, those of the most important documents first. Equal texts are
  /// returned once.
  [[nodiscard]] virtual result<std::vector<pending_vector>> texts_without_vector(std::size_t count) = 0;
  struct text_vector {
    std::string digest{};
    std::vector<float> numbers{};
  };
  /// Stores the vectors of texts, replacing those that exist. Becomes visible with the next commit.
  [[nodiscard]] virtual result<void> put_vectors(std::span<const text_vector> vectors) = 0;
  /// Deletes vectors of texts that no passage has had for a day. Commits.
  [[nodiscard]] virtual result<void> clean_up() = 0;

  // Reading.

  struct stored_document {
    std::string uri{};
    std::string version{};
    std::uint64_t listed_digest = 0;  ///< Digest of the listed entry, see `digest_of`.
    bool has_problem = false;         ///< It has a `document::problem`.
    std::string processing{};
  };
  /// Calls `visit` for every document, in any order.
  [[nodiscard]] virtual result<void> for_each_document(const std::function<void(stored_document)>& visit) const = 0;
  /// Returns one state for several reads. For an index in memory, each read sees the current state instead.
  [[nodiscard]] virtual result<std::unique_ptr<index_snapshot>> snapshot() const = 0;
  /// As `index_snapshot::find`, in the current state.
  [[nodiscard]] result<word_matches> find(std::span<const query_word> words, const document_filter& filter,
                                          std::size_t max_passages) const;
  /// As `index_snapshot::load`, in the current state.
  [[nodiscard]] result<std::vector<document_passage>> load(std::span<const passage_id> ids) const;
  using vector_visitor = std::function<void(passage_id, std::span<const float>)>;
  /// Calls `visit` for every passage with a vector of the current model, in any order.
  [[nodiscard]] virtual result<void> for_each_vector(const vector_visitor& visit) const = 0;
  /// Calls `visit` for every passage whose text has one of these digests and a vector.
  [[nodiscard]] virtual result<void> for_each_vector_of(std::span<const std::string> digests,
                                                        const vector_visitor& visit) const = 0;
  /// Counts everything, which takes long for a large index.
  [[nodiscard]] virtual result<store_counts> counts() const = 0;
  [[nodiscard]] virtual result<index_status> status() const = 0;
};

/// Returns a digest of everything except version, language, problem, `processing` and `listed_digest`; the same on every
/// machine.
[[nodiscard]] std::uint64_t digest_of(const document& document);
/// Whether two results of `digest_of` agree in the properties that a source knows without reading the content: everything
/// except title, description and size.
[[nodiscard]] bool agree_except_content(std::uint64_t left, std::uint64_t right) noexcept;
/// Returns the digest of the listed entry, as it is stored.
[[nodiscard]] inline std::uint64_t listed_digest_of(const document& document) {
  return document.listed_digest ? *document.listed_digest : digest_of(document);
}
/// Returns the text to embed for a passage: title (or name), heading and text, on separate lines.
[[nodiscard]] std::string text_to_embed(const document& document, std::string_view heading, std::string_view text);
/// Returns a digest of 16 bytes.
[[nodiscard]] std::string digest_of_text(std::string_view text);

/// A document and its passages that every store can store: well-formed UTF-8 without NUL bytes. It has at least one passage.
struct storable {
  document metadata{};
  std::vector<chunking::passage> passages{};
};
/// Removes NUL bytes. Without passages, makes one of the description, without line numbers. Errors: invalid_argument for
/// malformed UTF-8, too many passages, and a URI that is empty or has a NUL.
[[nodiscard]] result<storable> make_storable(const document& document, std::span<const chunking::passage> passages);
/// Removes NUL bytes from a document. Errors: as the overload above, except for passages.
[[nodiscard]] result<document> make_storable(const document& document);

/// Returns the bit for a role in the stored audience.
[[nodiscard]] constexpr std::int64_t bit_of(chat_role recipient) noexcept { return recipient == chat_role::user ? 1 : 2; }
/// Returns the current time in hours since 1970, as stored for the last use of a vector.
[[nodiscard]] std::int64_t hours_now();
/// `clean_up` deletes vectors that have not been used for this long.
inline constexpr std::int64_t unused_ttl_hours = 24;

/// Returns the text of `document_field::name`: the decoded URI without its scheme, and the name.
[[nodiscard]] std::string name_and_path(std::string_view name, std::string_view uri);

}  // namespace hondana::search
