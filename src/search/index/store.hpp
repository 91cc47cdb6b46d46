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
  std::string version{};  ///< Of what was indexed; empty: unknown.
  std::string name{};
  std::string title{};
  std::string description{};
  std::string mime_type{};
  std::string kind{};
  std::string language{};  ///< BCP 47; empty: unknown.
  std::string problem{};   ///< Why there are no passages of its contents, for people; empty: there are.
  std::string made{};      ///< How its texts were made, see document_reader.hpp.
  std::string
      owners{};  ///< As `owner_fact` (hondana/facts.hpp) has them, but as `comparable_owner` spells it; empty: not stated.
  /// Digest of what a list says of it, where that is not what stands here: the title may be that of the contents.
  std::optional<std::uint64_t> listed{};
  std::optional<double> priority{};
  std::vector<role> audience{};
  std::optional<milliseconds> modified{};
  std::optional<std::uint64_t> size{};
};

/// The entry that a list would give, as far as an index knows it.
[[nodiscard]] resource entry_of(const document& what);

/// What an index has of a passage.
struct stored_passage {
  std::string heading{};
  std::string text{};
  std::uint64_t first_line = 0;  ///< From 1; 0: it is of name, title and description, and of no place in the contents.
  std::uint64_t last_line = 0;
  std::uint64_t page = 0;  ///< 0: none.
};

/// Names a passage: the document's number, and which one of it this is. Never used again for another one.
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

/// Which documents may be found. All that is set must hold; what a document does not state never holds of it.
struct document_filter {
  std::string uri_prefix{};
  std::vector<std::string> more_prefixes{};  ///< With it: how else that beginning is written (`begin_with`).
  std::string scheme{};
  std::string language{};   ///< A range: "ja" has "ja-JP".
  std::string mime_type{};  ///< `type/subtype`, or `type/` for all of a type.
  std::string kind{};
  std::optional<role> audience{};
  std::optional<double> min_priority{};
  std::optional<milliseconds> modified_since{};
  std::string owner{};  ///< One of its owners, as `comparable_owner` spells it.
  /// How its texts were made: in one of these ways; nothing: in any.
  std::optional<std::vector<std::string>> made{};

  [[nodiscard]] bool is_open() const noexcept { return *this == document_filter(); }
  bool operator==(const document_filter&) const = default;
};

/// Whether a document passes. Stores may ask in their own language, and must agree with this.
[[nodiscard]] bool passes(const document_filter& which, const document& what) noexcept;

/// An owner as it is compared: letters of one case, and of one width. Empty for what is too long, or no text.
[[nodiscard]] std::string comparable_owner(std::string_view said);

/// A word of a query, as `tokenizer::tokenizer` makes it.
struct wanted_word {
  std::string text{};
  bool is_prefix = false;
  bool follows = false;  ///< It stands directly behind the one before it in the query, so that both together tell more.

  bool operator==(const wanted_word&) const = default;
};

/// A passage that has some of the words.
struct match {
  passage_id id{};
  double score = 0;              ///< BM25 (see bm25.hpp).
  std::uint64_t words = 0;       ///< Bit i: it has word i of the query, in any place;
  std::uint64_t in_title = 0;    ///< in the document's title or name,
  std::uint64_t in_heading = 0;  ///< or in its heading.
};
struct matches {
  std::vector<match> all{};  ///< In no order.
  bool is_complete = true;   ///< False: there are more passages with these words than may be looked at,
  std::string remark{};      ///< or what else is wrong with the index, for people.
};

/// What there is of a passage and its document when it is shown.
struct shown_passage {
  passage_id id{};
  stored_passage passage{};
  document of{};
};

struct store_counts {
  std::uint64_t documents = 0;
  std::uint64_t without_text = 0;
  std::uint64_t passages = 0;
  std::uint64_t vectors = 0;  ///< Passages that have one of the present model.
  std::uint64_t bytes = 0;
};

/// How far who indexes has come, kept for those that look in from outside.
struct progress {
  std::uint64_t waiting = 0;  ///< As of `search_state`.
  bool is_complete = false;
  milliseconds at{};
  std::string problem{};
  bool has_looked = false;  ///< Everything has been looked at once, whatever is missing nevertheless.
};
/// As it stands among a store's facts, and back; nothing: that is none.
[[nodiscard]] std::string spelled(const progress& how);
[[nodiscard]] std::optional<progress> progress_from(std::string_view spelled);

/// An index as it stands where it is kept, whoever keeps it.
struct kept_index {
  store_counts counts{};
  std::optional<progress> how{};  ///< Nothing: nobody has noted it yet.
};

/// How an index stands, for those that only search it.
struct index_standing {
  std::uint64_t commits = 0;      ///< Another number: something has been written.
  std::string model{};            ///< Of its vectors; empty: there are none.
  std::optional<progress> how{};  ///< Of whoever writes it.
};

/// Whose turn it is to write an index that several have open.
struct writing_turn {
  bool is_ours = true;     ///< False: another keeps the index up, and what it commits is seen here.
  std::uint64_t life = 0;  ///< Another number: the index may have other documents than those that were put here.
};

/// One state of an index, whatever is written while this lives. Short-lived. Threads: one at a time. Errors: as of `store`.
/// What cannot be read for damage is missing from answers, and `matches::remark` says so.
class state_of_index {
 public:
  state_of_index() = default;
  state_of_index(const state_of_index&) = delete;
  state_of_index& operator=(const state_of_index&) = delete;
  virtual ~state_of_index() = default;

  /// Another number: the index has been made anew, and numbers may mean other passages.
  [[nodiscard]] virtual std::uint64_t life() const noexcept { return 0; }
  /// Passages with at least one of the words, of documents that pass. At most 64 words; at most `most` passages are looked at.
  [[nodiscard]] virtual result<matches> find(std::span<const wanted_word> words, const document_filter& which,
                                             std::size_t most) = 0;
  /// What there is to show; what has gone meanwhile is missing from the answer. In the order asked for.
  [[nodiscard]] virtual result<std::vector<shown_passage>> show(std::span<const passage_id> which) = 0;
  /// Those whose documents were made in one of these ways, in the order given; what has gone may be among them.
  [[nodiscard]] virtual result<std::vector<passage_id>> made_so(std::span<const passage_id> which,
                                                                std::span<const std::string> ways) = 0;
  /// The nearest passages by cosine, where the store itself can tell (pgvector); nothing: it cannot.
  [[nodiscard]] virtual std::optional<result<std::vector<match>>> nearest(std::span<const float> to, std::size_t count) {
    static_cast<void>(to);
    static_cast<void>(count);
    return std::nullopt;
  }
};

/// A text that has no vector yet.
struct wanted_vector {
  std::string digest{};  ///< Of the text, for machines: 16 bytes.
  std::string text{};    ///< What is to be embedded: title, heading and text.
};

/// Keeps an index. All of a document is replaced at once, so that nobody ever finds half of one; what `commit` has acknowledged
/// is there after the process, or the machine's power, has gone at any moment (of the last second before a power failure
/// nothing need be).
///
/// Threads: the writing methods one at a time; the reading methods any, several at once, also while something is written: they
/// see what was committed. Errors of all: source_unavailable, whose text says what to do (disk full, locked, gone); what was
/// committed stays.
class store {
 public:
  store() = default;
  store(const store&) = delete;
  store& operator=(const store&) = delete;
  virtual ~store() = default;

  /// Whether this one may write; where another does, it tries to take over from it, which works once that one has ended. Asked
  /// about once a second by who writes, since here is also where a damaged index is moved aside and made anew.
  [[nodiscard]] virtual result<writing_turn> take_turn() { return writing_turn{}; }

  // Writing. What fails but for invalid_argument may have been done by half, so that nothing of the transaction is committed:
  // `commit` says so then, too, and all begins anew. NUL bytes are left out of texts.

  /// Puts a document with its passages (`passage_id::most_a_document` at most) in the place of what was there under its URI,
  /// whose passages it returns. Where there are none, name, title and description are a passage of their own. Text of malformed
  /// UTF-8 is refused (invalid_argument). Not seen by readers before `commit`.
  [[nodiscard]] virtual result<std::vector<passage_id>> put(const document& what, std::span<const chunking::passage> of) = 0;
  /// Changes what is known of a document whose contents are the same, all but language, problem and how it was made. Its
  /// passages keep their numbers. Nothing happens where there is none.
  [[nodiscard]] virtual result<void> describe(const document& what) = 0;
  /// Kept with the next commit.
  [[nodiscard]] virtual result<void> note(const progress& how) = 0;
  /// Forgets it, and returns its passages: none where there is no such document.
  [[nodiscard]] virtual result<std::vector<passage_id>> remove(const std::string& uri) = 0;
  [[nodiscard]] virtual result<void> commit() = 0;
  /// Forgets what has been put since the last commit.
  virtual void roll_back() noexcept = 0;

  /// Of which model vectors are from now on; those of others are forgotten. Empty: there are none. Commits.
  [[nodiscard]] virtual result<void> use_model(const std::string& id) = 0;
  /// Texts of passages without vector, at most `count`, those of the most important documents first; of several passages with
  /// equal texts one.
  [[nodiscard]] virtual result<std::vector<wanted_vector>> without_vector(std::size_t count) = 0;
  struct made_vector {
    std::string digest{};
    std::vector<float> numbers{};
  };
  [[nodiscard]] virtual result<void> put_vectors(std::span<const made_vector> what) = 0;
  /// Vectors of texts that no passage has any more, but those used within a day, are forgotten. Commits.
  [[nodiscard]] virtual result<void> tidy() = 0;

  // Reading.

  struct known {
    std::string uri{};
    std::string version{};
    std::uint64_t described = 0;  ///< Digest of what a list says of it, see `digest_of`.
    bool has_problem = false;
    std::string made{};
  };
  /// Every document, in any order.
  [[nodiscard]] virtual result<void> each_document(const std::function<void(known)>& each) const = 0;
  /// To ask several things of one state; of an index in memory each is asked of the state that there is then.
  [[nodiscard]] virtual result<std::unique_ptr<state_of_index>> at_once() const = 0;
  /// As of the state that there is now.
  [[nodiscard]] result<matches> find(std::span<const wanted_word> words, const document_filter& which, std::size_t most) const;
  [[nodiscard]] result<std::vector<shown_passage>> show(std::span<const passage_id> which) const;
  using vector_hearer = std::function<void(passage_id, std::span<const float>)>;
  /// Every passage with a vector of the present model, in any order.
  [[nodiscard]] virtual result<void> each_vector(const vector_hearer& each) const = 0;
  /// Every passage that has one of these texts, and a vector.
  [[nodiscard]] virtual result<void> vectors_of(std::span<const std::string> digests, const vector_hearer& each) const = 0;
  [[nodiscard]] virtual result<store_counts> counts() const = 0;
  [[nodiscard]] virtual result<index_standing> stands() const = 0;
};

/// Of everything but version, language, problem and how it was made; equal for equal ones on every machine.
[[nodiscard]] std::uint64_t digest_of(const document& what);
/// Whether two such are of what says the same of itself before anybody looks into it: all but title, description and size.
[[nodiscard]] bool are_alike_outside(std::uint64_t one, std::uint64_t other) noexcept;
/// Of what a list says of it, as it is kept.
[[nodiscard]] inline std::uint64_t described_of(const document& what) { return what.listed ? *what.listed : digest_of(what); }
/// What a passage is embedded by.
[[nodiscard]] std::string text_to_embed(const document& of, std::string_view heading, std::string_view text);
/// 16 bytes.
[[nodiscard]] std::string digest_of_text(std::string_view text);

/// A document and its passages, with texts that every store can keep: well-formed, and without NUL, which is left out. Where
/// there are no passages, there is the one of the entry, of no lines.
struct storable {
  document of{};
  std::vector<chunking::passage> all{};
};
/// Errors: invalid_argument: a text is malformed UTF-8, the URI is empty or has a NUL, or there are too many passages.
[[nodiscard]] result<storable> storable_of(const document& what, std::span<const chunking::passage> of);
/// The same of the document alone.
[[nodiscard]] result<document> storable_of(const document& what);

/// How roles are kept.
[[nodiscard]] constexpr std::int64_t bit_of(role one) noexcept { return one == role::user ? 1 : 2; }
/// When vectors were used, and for how many hours those that nothing uses any more are kept.
[[nodiscard]] std::int64_t hours_now();
inline constexpr std::int64_t hours_kept_unused = 24;

/// What counts as a document's name: the path of its URI, decoded, and its name.
[[nodiscard]] std::string name_and_path(std::string_view name, std::string_view uri);

}  // namespace hondana::search
