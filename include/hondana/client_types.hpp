/// Arguments and results of a client's calls: options, pages, contents, changes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/input.hpp>
#include <hondana/message.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/tool.hpp>
#include <hondana/value.hpp>

namespace hondana::inline v0 {

/// The error that a server answered with, for `failure::answer`.
struct error_answer {
  std::int64_t code = 0;  ///< The JSON-RPC error code.
  std::string message;
  value data;           ///< Null: none.
  int http_status = 0;  ///< 0: not over HTTP.
};

/// Options of one call.
struct call_options {
  /// Timeout of the call. nullopt: `client_options::call_time`. The time that users take to answer the server's questions does
  /// not count.
  std::optional<std::chrono::milliseconds> time{};
  /// Only for `client::read_to`, where `time` limits each wait for content: the timeout of the whole call. nullopt: none. The
  /// time that users take to answer the server's questions does not count.
  std::optional<std::chrono::milliseconds> whole_time{};
  /// Cancels the call, which then fails as cancelled. The server is notified.
  std::stop_token stop{};
  /// Receives progress. Empty: none is requested. Threads: a thread of the client, which waits for the return. Must not call
  /// the client.
  std::function<void(const progress&)> report{};
  /// Sends the request even if the cache has a fresh answer.
  bool afresh = false;
  /// Sent in `_meta` if it is not empty. Spec: 2026-07-28 basic#_meta.
  trace_context trace{};
};

/// Conditions for entries of a list, all of which must hold. Servers with the versioned-resources extension filter; otherwise
/// the client does.
struct entry_filter {
  std::string text{};         ///< Words that must each occur in name, title, description or URI; case does not matter.
  std::string uri_prefix{};   ///< The start of the URI.
  std::string uri_pattern{};  ///< A pattern for the whole URI: `*` within a segment, `**` across segments, `?`, `[a-z]`.
  std::string mime_type{};    ///< `type/subtype`, or `type/` for all subtypes.
  std::string kind{};         ///< For servers that send kinds.
  std::optional<role> audience{};
  std::optional<double> min_priority{};
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified_since{};

  bool operator==(const entry_filter&) const = default;
};

/// The order of `sort_entries`.
enum class entry_order : std::uint8_t {
  as_listed,
  name,      ///< By name, then URI.
  priority,  ///< Highest first; entries without a priority come last.
  recency,   ///< Latest modification first; entries without one come last.
};

/// Whether an entry meets the conditions.
[[nodiscard]] bool fits(const resource& entry, const entry_filter& wanted);
/// Sorts entries. Stable.
void sort_entries(std::vector<resource>& entries, entry_order order);

/// One page of a list.
template <class T>
struct page {
  std::vector<T> items{};
  /// Cursor of the next page. nullopt: this is the last page. Opaque; may be an empty string.
  std::optional<std::string> cursor{};
  std::chrono::milliseconds ttl{0};  ///< How long the server considers the page fresh.
};

/// The entries of all pages, each of which is fetched when it is reached. An input range of `result<T>` that ends after a
/// failure.
///
///     for (const auto& entry : client.resources()) {
///       if (!entry) return complain(entry.error());
///       use(*entry);
///     }
///
/// Threads: one at a time. After the client is destroyed, fetching a page fails as cancelled. An endless list is a failure
/// (broken_protocol): the same cursor twice in a row, more than 100 000 pages, or more than a thousand empty pages in a row.
template <class T>
class paged {
 public:
  using fetch = std::function<result<page<T>>(const std::optional<std::string>& cursor)>;

  explicit paged(fetch next) : next_(std::move(next)) {}

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = result<T>;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    explicit iterator(paged* from) : from_(from) {}
    const result<T>& operator*() const { return *from_->current_; }
    const result<T>* operator->() const { return &*from_->current_; }
    iterator& operator++() {
      from_->advance();
      return *this;
    }
    void operator++(int) { from_->advance(); }
    friend bool operator==(const iterator& one, std::default_sentinel_t) { return one.is_at_end(); }

   private:
    [[nodiscard]] bool is_at_end() const { return from_ == nullptr || !from_->current_; }
    paged* from_ = nullptr;
  };

  /// The range can be passed through once: entries behind the iterator are not stored.
  [[nodiscard]] iterator begin() {
    if (!has_begun_) advance();
    return iterator(this);
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// The remaining entries as one vector. Errors: those of the pages; response_too_large for more than `most` entries.
  [[nodiscard]] result<std::vector<T>> all(std::size_t most = 1'000'000) {
    std::vector<T> out;
    for (auto& one : *this) {
      if (!one) return tl::unexpected(one.error());
      if (out.size() == most)
        return fail(errc::response_too_large, "more than " + std::to_string(most) + " entries; request fewer with a filter");
      out.push_back(*one);
    }
    return out;
  }

 private:
  void advance() {
    if (has_begun_ && current_ && !*current_) {
      current_.reset();
      return;
    }
    while (at_ == items_.size()) {
      if (has_begun_ && !cursor_) {
        current_.reset();
        return;
      }
      has_begun_ = true;
      auto got = next_(cursor_);
      if (!got) {
        current_ = tl::unexpected(std::move(got.error()));
        cursor_.reset();
        items_.clear();
        at_ = 0;
        return;
      }
      empty_pages_ = got->items.empty() ? empty_pages_ + 1 : 0;
      if (got->cursor && (got->cursor == cursor_ || ++pages_ > 100'000 || empty_pages_ > 1'000)) {
        current_ = fail(errc::broken_protocol, got->cursor == cursor_
                                                   ? "the server returned the same cursor twice, so its list would never end"
                                                   : "the server's list does not end: too many pages");
        cursor_.reset();
        items_.clear();
        at_ = 0;
        return;
      }
      items_ = std::move(got->items);
      at_ = 0;
      cursor_ = std::move(got->cursor);
    }
    current_ = std::move(items_[at_++]);
  }

  fetch next_;
  bool has_begun_ = false;
  std::size_t pages_ = 0;
  std::size_t empty_pages_ = 0;
  std::vector<T> items_{};
  std::size_t at_ = 0;
  std::optional<std::string> cursor_{};
  std::optional<result<T>> current_{};
};

/// One item of the contents of a read.
struct read_item {
  std::string uri{};
  std::string name{};
  std::string title{};
  std::string mimeType{};
  bool is_text = true;     ///< False: the server sent a blob.
  std::string bytes{};     ///< Empty if they went to a `content_writer`.
  std::uint64_t size = 0;  ///< Number of bytes.
  std::string version{};   ///< Empty: the server sent none.
  value meta{};            ///< `_meta`: an object, or null for none.
};

/// The result of a read.
struct read_answer {
  std::vector<read_item> items{};
  std::chrono::milliseconds ttl{0};
  bool is_from_cache = false;
  bool is_not_modified = false;  ///< The given version is still current. Then there are no items.
};

/// Receives content as it arrives, in order, item by item. `item`: index from 0. A failure that it returns ends the read with
/// that failure. Threads: a thread of the client, while `read_to` waits.
using content_writer = std::function<result<void>(std::size_t item, std::string_view bytes)>;

/// What has changed.
enum class change_kind : std::uint8_t {
  resource,       ///< The content of `uri` changed, or the resource was added or removed.
  resource_list,  ///< Resources or templates were added, removed or renamed.
  tool_list,
  prompt_list,
  connection_lost,  ///< No changes arrive until `connection_back`. `text` has the reason.
  connection_back,  ///< The connection is restored. Missed changes follow.
  /// After `connection_lost`: the server rejects the new subscription (401, 403), and there is no better token. `text` has the
  /// reason. The client continues to retry.
  refused,
};

/// One change.
struct change {
  change_kind kind = change_kind::resource;
  std::string uri{};                ///< As the server named it; may be a resource below the watched one.
  std::string title{};              ///< Empty: the server sent none.
  std::optional<resource> entry{};  ///< The current entry, if the server sends it (versioned-resources extension).
  std::string text{};
  /// The change may have happened while no notifications arrived. It was found by comparison, or could not be excluded.
  bool was_missed = false;
};

/// What to watch.
struct watch_request {
  std::vector<std::string> uris{};
  bool resource_list = false;
  bool tool_list = false;
  bool prompt_list = false;
  bool entries = false;  ///< Changes of `uris` include their entries, if the server supports it.
};

/// Receives changes. Threads: one thread of the client, one call at a time. It may call the client.
using change_handler = std::function<void(const change&)>;

/// The result of a tool call.
struct called {
  std::vector<content_block> content{};
  std::optional<value> structuredContent{};
  bool isError = false;
  value raw{};  ///< The whole result as the server sent it.
};

/// Direction of a message, for `client_options::trace`.
enum class message_direction : std::uint8_t { to_server, from_server };

/// A server's description of itself.
struct server_description {
  std::string name{};
  std::string title{};
  std::string version{};
  std::string instructions{};
  std::string revision{};                ///< The revision in use, such as "2026-07-28".
  std::vector<std::string> revisions{};  ///< The revisions that it supports, if it lists them.
  bool is_modern = false;                ///< The revision is 2026-07-28 or later, without sessions.
  std::string transport{};               ///< "stdio", "http", "http+sse" or "memory".
  value capabilities = value::object{};  ///< As the server declared them.
  bool has_resources = false;
  bool has_subscriptions = false;
  bool has_list_changes = false;
  bool has_tools = false;
  bool has_prompts = false;
  bool has_completion = false;
  bool has_skills = false;
  bool has_folders = false;   ///< `resources/directory/read`.
  bool has_versions = false;  ///< The versioned-resources extension.
};

}  // namespace hondana::inline v0
