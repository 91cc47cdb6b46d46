/// Caches of encoded pages, decoded requests and encoded results, for immediate answers to repeated requests.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/server.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/executor/published.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "protocol/wire/codec.hpp"

namespace hondana::wire {
class codec;
}  // namespace hondana::wire

namespace hondana::session {

/// Identifies a page by everything that its result depends on, except what its validity covers and what belongs to the context.
struct page_key {
  enum class list : std::uint8_t { resources, templates };

  const wire::codec* by = nullptr;      ///< The revision and extension.
  std::shared_ptr<const view> through;  ///< Kept alive, so that its address is not reused.
  /// The caller's scopes, which scope rules use. nullopt: the caller has no proof.
  std::optional<std::string> scopes;
  list which = list::resources;
  std::optional<std::string> cursor;
  friend bool operator==(const page_key&, const page_key&) = default;
};

/// The key of the page that `what` requests. nullopt for other operations, and for pages that are not cached, such as those of
/// a filtered list.
[[nodiscard]] std::optional<page_key> page_asked_for(const model::operation& what, const wire::codec& by, const caller& who);

/// The page cache: encoded results, limited by bytes. The least recently used is evicted first. Each context has its own, so
/// results of another configuration are never sent.
///
/// A page is cached when it is made for the second time, so that a client that reads a long list once does not fill the cache.
/// Validities and access filters are code of others, so they are called and destroyed outside the lock. Threads: any.
class kept_pages {
 public:
  /// `most_bytes`: capacity, including keys and overhead. Pages longer than an eighth of it are not cached; 0 stores nothing.
  explicit kept_pages(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The value of `"result":`, if it is cached and valid; otherwise null.
  [[nodiscard]] shared_bytes find(const page_key& of);
  /// Caches a copy of a page that was just made, replacing an older one.
  void keep(const page_key& of, std::string_view page, std::shared_ptr<const validity> valid);
  /// Removes everything and caches nothing more. Called when the configuration changes, because open streams keep their old
  /// context.
  void retire();
  [[nodiscard]] bool is_off() const noexcept { return most_bytes_ == 0; }
  [[nodiscard]] page_cache_counts counts() const;

 private:
  struct kept_page {
    page_key of;
    shared_bytes page;
    std::shared_ptr<const validity> valid;
    std::size_t bytes = 0;
  };
  using shelf = std::list<kept_page>;
  struct hasher {
    [[nodiscard]] std::size_t operator()(const page_key* of) const noexcept;
  };
  struct same {
    [[nodiscard]] bool operator()(const page_key* one, const page_key* other) const { return *one == *other; }
  };
  /// Requires the lock. Moves the least recently used pages to `out` until at most `most` bytes are left.
  void shrink_to(std::size_t most, shelf& out);
  void take_out(shelf::iterator place, shelf& out) noexcept;

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  shelf shelf_;                                                                // the most recently used first
  std::unordered_map<const page_key*, shelf::iterator, hasher, same> places_;  // positions in `shelf_`, by the keys there
  std::array<std::size_t, 1024> made_once_{};  // hashes of keys, at an index derived from the hash
  page_cache_counts counts_;
  bool is_retired_ = false;
};

/// A message without its id.
struct cut_message {
  std::string_view before;
  std::string_view after;
  std::int64_t id = 0;
};

/// Cuts the id out of a message, if it is a plain number and either follows "jsonrpc" at the start, or is the last member.
/// nullopt if it is elsewhere, or only a parser can tell. If two messages are equal except for the id, and one is a request,
/// then the other is the same request with another id.
[[nodiscard]] std::optional<cut_message> cut_id(std::string_view message) noexcept;

/// A decoded request.
struct decoded_request {
  const wire::codec* codec = nullptr;  ///< Of the revision, not yet of the extension.
  std::string method;
  model::request what;
};

/// An encoded result.
struct written_result {
  std::shared_ptr<const bytes::prepared_reading> of;
  model::cache_hint cache;
  model::self_description by;
  std::string text;
};

/// A cache for requests that clients repeat: it stores their decoded form, and their encoded result while the reading is the
/// same.
///
/// It makes no decisions: a cached request is admitted and read like a new one, and an encoded result is used only for the same
/// reading. All clients can therefore share it. A request is found by everything that decoding depends on. Limits: `places`
/// messages of `longest_message` bytes, including headers, each with its last result of up to `longest_result` bytes. Threads:
/// any.
class known_requests {
 public:
  static constexpr std::size_t places = 256;
  static constexpr std::size_t longest_message = 2048;
  static constexpr std::size_t longest_result = 8192;

  struct entry {
    std::string before;
    std::string after;
    std::optional<rpc::http_headers> headers;  // the headers that decoding uses
    const wire::codec* settled = nullptr;
    std::shared_ptr<const decoded_request> meaning;
    std::shared_ptr<const written_result> answer;  // null: none yet
  };
  using found = std::shared_ptr<const entry>;

  /// `settled`: the codec that the client's session has settled on. Null: none.
  [[nodiscard]] found find(const cut_message& what, const rpc::facts& facts, const wire::codec* settled) const;
  /// Caches the decoded form of a request that is not in a batch. Does nothing if it is too long.
  void keep(const cut_message& what, const rpc::facts& facts, const wire::codec* settled, const wire::codec& codec,
            std::string_view method, const model::request& meaning);
  /// Caches the encoded result of a cached request.
  void keep_answer(const found& of, written_result answer);

 private:
  [[nodiscard]] static std::size_t place_of(std::string_view before, std::string_view after) noexcept;
  void put(found what);

  executor::posted<entry, places> all_;
};

struct context;

/// Answers an admitted request if it is a read that needs no waiting; otherwise nullopt. `who` must have its access filter by
/// the current rules. `known` (null: none): the cached request, where the encoded result is looked up and stored. An exception
/// becomes an internal error.
[[nodiscard]] std::optional<rpc::delivery> answer_at_hand(const context& with, const caller& who, const model::operation& what,
                                                          const rpc::request_id& id, const wire::codec& codec,
                                                          const known_requests::found& known);

/// The same for a cached page. nullopt if there is none, or it is no longer valid.
[[nodiscard]] std::optional<rpc::delivery> page_at_hand(const page_key& wanted, const context& with, const rpc::request_id& id);

}  // namespace hondana::session
