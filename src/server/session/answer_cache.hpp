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

/// Identifies a page by everything that its result depends on, except what its validator or the snapshot covers.
struct page_key {
  /// The kind of list.
  enum class list : std::uint8_t { resources, templates };

  const wire::codec* codec = nullptr;           ///< Encodes the page, for a revision with or without the extension.
  std::shared_ptr<const access_filter> filter;  ///< Null: none. Held, so that its address is not reused.
  /// The caller's scopes, which scope rules use. nullopt: the caller has no `auth_info`.
  std::optional<std::string> scopes;
  list kind = list::resources;
  std::optional<std::string> cursor;  ///< nullopt: the first page.
  friend bool operator==(const page_key&, const page_key&) = default;
};

/// The key of the page that `operation` requests. nullopt for other operations, and for pages that are not cached, such as
/// those of a filtered list. `caller` must have its access filter by the current rules.
[[nodiscard]] std::optional<page_key> requested_page(const model::operation& operation, const wire::codec& codec,
                                                     const caller_info& caller);

/// Caches encoded pages, up to a number of bytes; evicts the least recently used first. Each snapshot has its own, so pages of
/// another configuration are never sent.
///
/// A page is cached when it is made for the second time, so that reading a long list once does not fill the cache. Validators
/// and access filters may belong to applications, so they are called and destroyed outside the lock. Threads: any.
class page_cache {
 public:
  /// `max_bytes`: capacity, including keys and overhead. 0 stores nothing. Pages of more than an eighth of it are not cached.
  explicit page_cache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// The page as JSON: the value of `"result":`. Null if it is not cached, or no longer valid.
  [[nodiscard]] shared_bytes find(const page_key& key);
  /// Caches a copy of a page that was just made, replacing an older one. `page`: JSON, as `find` returns it. Null `validator`:
  /// the page is not cached.
  void store(const page_key& key, std::string_view page, std::shared_ptr<const cache_validator> validator);
  /// Removes all pages, and caches none from now on. Call it when another snapshot replaces this one, because open streams keep
  /// their old snapshot.
  void retire();
  /// Whether the capacity is 0.
  [[nodiscard]] bool is_disabled() const noexcept { return max_bytes_ == 0; }
  [[nodiscard]] page_cache_statistics statistics() const;

 private:
  struct cached_page {
    page_key key;
    shared_bytes page;
    std::shared_ptr<const cache_validator> validator;
    std::size_t bytes = 0;
  };
  using page_list = std::list<cached_page>;
  struct hasher {
    [[nodiscard]] std::size_t operator()(const page_key* key) const noexcept;
  };
  struct key_equal {
    [[nodiscard]] bool operator()(const page_key* a, const page_key* b) const { return *a == *b; }
  };
  /// Requires the lock. Moves the least recently used pages to `evicted` until at most `max_bytes` bytes are left.
  void shrink_to(std::size_t max_bytes, page_list& evicted);
  void remove(page_list::iterator position, page_list& removed) noexcept;

  const std::size_t max_bytes_;
  mutable std::mutex mutex_;
  page_list pages_;  // the most recently used first
  std::unordered_map<const page_key*, page_list::iterator, hasher, key_equal>
      index_;                                    // positions in `pages_`, by the keys there
  std::array<std::size_t, 1024> recent_keys_{};  // hashes of keys, at an index derived from the hash
  page_cache_statistics statistics_;
  bool is_retired_ = false;
};

/// A message that was split at its id.
struct message_parts {
  std::string_view prefix;  ///< The text before the id.
  std::string_view suffix;  ///< The text after the id.
  std::int64_t id = 0;
};

/// Splits a message at its id, without parsing it. The id must be a plain number that directly follows "jsonrpc" at the start,
/// or is the last member. nullopt otherwise. If two messages are equal except for the id, and one is a request, then the other
/// is the same request with another id.
[[nodiscard]] std::optional<message_parts> split_id(std::string_view message) noexcept;

/// A decoded request.
struct decoded_request {
  const wire::codec* codec = nullptr;  ///< The codec of the revision, without the extension.
  std::string method;
  model::request request;
};

/// An encoded result, and the values that it was made from.
struct encoded_result {
  std::shared_ptr<const bytes::prepared_read_result> reading;
  model::cache_hint cache;
  model::server_info server_info;
  std::string text;  ///< The value of `"result":`.
};

/// Caches requests that clients repeat: their decoded form, and the last encoded result of reads.
///
/// It makes no decisions: the caller must admit a cached request and read the resource as for a new one. An encoded result is
/// used only for the same reading. All clients can therefore share the cache. A request is found by everything that decoding
/// depends on. Limits: `slot_count` messages of `max_message_bytes` bytes, including headers, each with a result of up to
/// `max_result_bytes` bytes. Threads: any.
class request_cache {
 public:
  static constexpr std::size_t slot_count = 256;
  static constexpr std::size_t max_message_bytes = 2048;
  static constexpr std::size_t max_result_bytes = 8192;

  /// A cached request. `prefix` and `suffix` are as in `message_parts`.
  struct cache_entry {
    std::string prefix;
    std::string suffix;
    std::optional<rpc::http_headers> headers;  // the headers that decoding uses
    const wire::codec* revision = nullptr;     // the session's codec; null: none
    std::shared_ptr<const decoded_request> decoded;
    std::shared_ptr<const encoded_result> answer;  // null: none yet
  };
  /// Null: not cached.
  using cached_entry = std::shared_ptr<const cache_entry>;

  /// The cached request that `message` repeats. `revision`: the codec that the client's session has negotiated; null: none.
  [[nodiscard]] cached_entry find(const message_parts& message, const rpc::request_info& request_info,
                                  const wire::codec* revision) const;
  /// Caches the decoded form of a request that is not in a batch. `codec`: has decoded it. Does nothing if the request is too
  /// long, or has headers for arguments.
  void store(const message_parts& message, const rpc::request_info& request_info, const wire::codec* revision,
             const wire::codec& codec, std::string_view method, const model::request& decoded);
  /// Caches the encoded result of a cached request, unless it is too long.
  void store_answer(const cached_entry& entry, encoded_result answer);

 private:
  [[nodiscard]] static std::size_t slot_of(std::string_view prefix, std::string_view suffix) noexcept;
  void put(cached_entry entry);

  executor::published<cache_entry, slot_count> entries_;
};

struct server_snapshot;

/// Answers an admitted read from the read cache, without waiting. nullopt if it is another operation, or its contents are not
/// cached. `caller` must have its access filter by the current rules. `entry`: the cached request, where the encoded result is
/// looked up and stored; null: none. An exception becomes an internal error.
[[nodiscard]] std::optional<rpc::outgoing_response> answer_from_cache(const server_snapshot& snapshot,
                                                                      const caller_info& caller,
                                                                      const model::operation& operation,
                                                                      const rpc::request_id& id, const wire::codec& codec,
                                                                      const request_cache::cached_entry& entry);

/// Answers an admitted request with a cached page. nullopt if the page is not cached, or no longer valid.
[[nodiscard]] std::optional<rpc::outgoing_response> page_from_cache(const page_key& key, const server_snapshot& snapshot,
                                                                    const rpc::request_id& id);

}  // namespace hondana::session
