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
  std::string language{};  ///< BCP 47; empty: unknown.
  std::string problem{};   ///< Why there are no passages of its content, for people; empty: there are.
  std::string made{};      ///< How its texts were made, see document_reader.hpp.
  std::string owners{};    ///< As `owner_fact` (hondana/facts.hpp), in the spelling of `comparable_owner`; empty: unknown.
  /// Digest of the listed entry, if it differs from this document: the title may come from the content.
  std::optional<std::uint64_t> listed{};
  std::optional<double> priority{};
  std::vector<role> audience{};
  std::optional<milliseconds> modified{};
  std::optional<std::uint64_t> size{};
};

/// The entry for a list, as far as an index knows it.
[[nodiscard]] resource entry_of(const document& what);

/// A passage as stored in the index.
struct stored_passage {
  std::string heading{};
  std::string text{};
  std::uint64_t first_line = 0;  ///< From 1; 0: made from name, title and description, and not part of the content.
  std::uint64_t last_line = 0;
  std::uint64_t page = 0;  ///< 0: none.
};

/// Identifies a passage: the number of the document, and the position in it. Never reused for another passage.
struct passage_id {
  std::int64_t number = 0;
  static constexpr int bits_of_order = 16;
  static constexpr std::size_t most_a_document = 1u << bits_of_order;

  [[nodiscard]] static passage_id of(std::int64_t document, std::size_t order) noexcept {
    return {(document << bits_of_order) | static_cast<std::int64_t>(order)};
  }
  [[nodiscard]] std::int64_t document() const noexcept { return number >> bits_of_order; }
  friend auto operator<=>(const passage_id&, const passage_id&) = default;
};

/// Selects documents. All members that are set must match. A document never matches a condition on a value that it lacks.
struct document_filter {
  std::string uri_prefix{};
  std::vector<std::string> more_prefixes{};  ///< Alternative spellings of `uri_prefix` (`begin_with`).
  std::string scheme{};
  std::string language{};   ///< A language range: "ja" matches "ja-JP".
  std::string mime_type{};  ///< `type/subtype`, or `type/` for all subtypes.
  std::string kind{};
  std::optional<role> audience{};
  std::optional<double> min_priority{};
  std::optional<milliseconds> modified_since{};
  std::string owner{};  ///< One of the owners, in the spelling of `comparable_owner`.
  /// Allowed values of `document::made`; no value: any.
  std::optional<std::vector<std::string>> made{};

  [[nodiscard]] bool is_open() const noexcept { return *this == document_filter(); }
  bool operator==(const document_filter&) const = default;
};

/// Whether a document passes the filter. Stores may implement it in their query language, with the same results.
[[nodiscard]] bool passes(const document_filter& which, const document& what) noexcept;

/// Normalizes an owner for comparison: case and width. Empty if it is too long or malformed.
[[nodiscard]] std::string comparable_owner(std::string_view said);

/// A word of a query, as `tokenizer::tokenizer` returns it.
struct wanted_word {
  std::string text{};
  bool is_prefix = false;
  bool follows = false;  ///< The word follows the previous one directly in the query; both together are more specific.

  bool operator==(const wanted_word&) const = default;
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
struct matches {
  std::vector<match> all{};  ///< In any order.
  bool is_complete = true;   ///< False: more passages have these words than may be examined, or `remark` has another reason.
  std::string remark{};      ///< Another problem of the index, for people; empty: none.
};

/// A passage with its document, as shown to a caller.
struct shown_passage {
  passage_id id{};
  stored_passage passage{};
  document of{};
};

struct store_counts {
  std::uint64_t documents = 0;
  std::uint64_t without_text = 0;
  std::uint64_t passages = 0;
  std::uint64_t vectors = 0;  ///< Passages that have a vector of the current model.
  std::uint64_t bytes = 0;
};

/// The progress of the indexer, stored for other processes.
struct progress {
  std::uint64_t waiting = 0;  ///< As in `search_state`.
  bool is_complete = false;
  milliseconds at{};
  std::string problem{};
  bool has_looked = false;  ///< Everything has been scanned once, even if some resources are missing.
};
/// Converts progress to the text stored among a store's facts, and back; no value if the text is malformed.
[[nodiscard]] std::string spelled(const progress& how);
[[nodiscard]] std::optional<progress> progress_from(std::string_view spelled);

/// Counts and progress of a stored index. Any process may write it.
struct kept_index {
  store_counts counts{};
  std::optional<progress> how{};  ///< No value: none has been stored yet.
};

/// The state of an index, for processes that only search it.
struct index_standing {
  std::uint64_t commits = 0;      ///< Changes with every commit.
  std::string model{};            ///< The model of its vectors; empty: there are none.
  std::optional<progress> how{};  ///< The progress of the writing process.
};

/// Whether this process may write an index that several have open.
struct writing_turn {
  bool is_ours = true;     ///< False: another process updates the index; its commits are visible here.
  std::uint64_t life = 0;  ///< A new number: the index may have other documents than those that this process has put.
};

/// A consistent state of an index. Writes during the lifetime of this object do not change it. Keep it only briefly. Threads:
/// one at a time. Errors: as `store`. Damaged parts are missing from answers, and `matches::remark` says so.
class state_of_index {
 public:
  state_of_index() = default;
  state_of_index(const state_of_index&) = delete;
  state_of_index& operator=(const state_of_index&) = delete;
  virtual ~state_of_index() = default;

  /// A new number: the index has been created again, and passage numbers may have a new meaning.
  [[nodiscard]] virtual std::uint64_t life() const noexcept { return 0; }
  /// Passages with at least one of the words, of documents that match the filter. At most 64 words. Examines at most `most`
  /// passages.
  [[nodiscard]] virtual result<matches> find(std::span<const wanted_word> words, const document_filter& which,
                                             std::size_t most) = 0;
  /// The passages with their documents, in the order of `which`. Passages removed meanwhile are left out.
  [[nodiscard]] virtual result<std::vector<shown_passage>> show(std::span<const passage_id> which) = 0;
  /// The passages whose documents have one of these values of `made`, in the order given. May include passages removed
  /// meanwhile.
  [[nodiscard]] virtual result<std::vector<passage_id>> made_so(std::span<const passage_id> which,
                                                                std::span<const std::string> ways) = 0;
  /// The nearest passages by cosine, if the store itself can search vectors (pgvector); otherwise no value.
  [[nodiscard]] virtual std::optional<result<std::vector<match>>> nearest(std::span<const float> to, std::size_t count) {
    static_cast<void>(to);
    static_cast<void>(count);
    return std::nullopt;
  }
};

/// A text that has no vector yet.
struct wanted_vector {
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

  /// Whether this process may write. If another process writes, tries to take over, which succeeds once that process has ended.
  /// A damaged index is moved aside and created again here. Writers call this about once a second.
  [[nodiscard]] virtual result<writing_turn> take_turn() { return writing_turn{}; }

  // Writing. After any error except invalid_argument, a change may be incomplete. So nothing of the transaction is committed:
  // `commit` fails, too, and the writer starts again. NUL bytes are removed from texts.

  /// Replaces the document with this URI and its passages (at most `passage_id::most_a_document`). Returns the removed
  /// passages. Without passages, name, title and description become a passage. Readers do not see it before `commit`. Errors:
  /// also invalid_argument for malformed UTF-8.
  [[nodiscard]] virtual result<std::vector<passage_id>> put(const document& what, std::span<const chunking::passage> of) = 0;
  /// Changes the description of a document whose content is unchanged: everything except language, problem and `made`. Its
  /// passages keep their numbers. Does nothing if there is no such document.
  [[nodiscard]] virtual result<void> describe(const document& what) = 0;
  /// Stores the progress with the next commit.
  [[nodiscard]] virtual result<void> note(const progress& how) = 0;
  /// Removes a document and returns its passages; empty if there is no such document.
  [[nodiscard]] virtual result<std::vector<passage_id>> remove(const std::string& uri) = 0;
  [[nodiscard]] virtual result<void> commit() = 0;
  /// Discards changes since the last commit.
  virtual void roll_back() noexcept = 0;

  /// Sets the model of the vectors and deletes vectors of other models. Empty: no vectors. Commits.
  [[nodiscard]] virtual result<void> use_model(const std::string& id) = 0;
  /// At most `count` texts of passages without a vector, those of the most important documents first. Equal texts are returned
  /// once.
  [[nodiscard]] virtual result<std::vector<wanted_vector>> without_vector(std::size_t count) = 0;
  struct made_vector {
    std::string digest{};
    std::vector<float> numbers{};
  };
  [[nodiscard]] virtual result<void> put_vectors(std::span<const made_vector> what) = 0;
  /// Deletes vectors of texts that no passage has, unless they were used within a day. Commits.
  [[nodiscard]] virtual result<void> tidy() = 0;

  // Reading.

  struct known {
    std::string uri{};
    std::string version{};
    std::uint64_t described = 0;  ///< Digest of the listed entry, see `digest_of`.
    bool has_problem = false;
    std::string made{};
  };
  /// Calls `each` for every document, in any order.
  [[nodiscard]] virtual result<void> each_document(const std::function<void(known)>& each) const = 0;
  /// One state for several reads. For an index in memory, each call reads the current state instead.
  [[nodiscard]] virtual result<std::unique_ptr<state_of_index>> at_once() const = 0;
  /// Reads the current state.
  [[nodiscard]] result<matches> find(std::span<const wanted_word> words, const document_filter& which, std::size_t most) const;
  [[nodiscard]] result<std::vector<shown_passage>> show(std::span<const passage_id> which) const;
  using vector_hearer = std::function<void(passage_id, std::span<const float>)>;
  /// Calls `each` for every passage with a vector of the current model, in any order.
  [[nodiscard]] virtual result<void> each_vector(const vector_hearer& each) const = 0;
  /// Calls `each` for every passage that has one of these texts and a vector.
  [[nodiscard]] virtual result<void> vectors_of(std::span<const std::string> digests, const vector_hearer& each) const = 0;
  [[nodiscard]] virtual result<store_counts> counts() const = 0;
  [[nodiscard]] virtual result<index_standing> stands() const = 0;
};

/// Digest of everything except version, language, problem and `made`; the same on every machine.
[[nodiscard]] std::uint64_t digest_of(const document& what);
/// Whether two digests agree in the facts that a source knows without reading the content: everything except title, description
/// and size.
[[nodiscard]] bool are_alike_outside(std::uint64_t one, std::uint64_t other) noexcept;
/// The digest of the listed entry, as it is stored.
[[nodiscard]] inline std::uint64_t described_of(const document& what) { return what.listed ? *what.listed : digest_of(what); }
/// The text to embed for a passage.
[[nodiscard]] std::string text_to_embed(const document& of, std::string_view heading, std::string_view text);
/// 16 bytes.
[[nodiscard]] std::string digest_of_text(std::string_view text);

/// A document and its passages with texts that every store can store: well-formed UTF-8 without NUL bytes, which are removed.
/// Without passages, it has one made from the entry, without line numbers.
struct storable {
  document of{};
  std::vector<chunking::passage> all{};
};
/// Errors: invalid_argument for malformed UTF-8, an empty URI or one with NUL, and too many passages.
[[nodiscard]] result<storable> storable_of(const document& what, std::span<const chunking::passage> of);
/// Does the same for the document alone. Errors: as above.
[[nodiscard]] result<document> storable_of(const document& what);

/// The stored form of a role.
[[nodiscard]] constexpr std::int64_t bit_of(role one) noexcept { return one == role::user ? 1 : 2; }
/// The current time in hours, as stored for the last use of a vector. Unused vectors are deleted after `hours_kept_unused`.
[[nodiscard]] std::int64_t hours_now();
inline constexpr std::int64_t hours_kept_unused = 24;

/// The name field of a document: the decoded path of its URI, and its name.
[[nodiscard]] std::string name_and_path(std::string_view name, std::string_view uri);

}  // namespace hondana::search
