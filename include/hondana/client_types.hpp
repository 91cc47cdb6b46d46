/// Arguments and results of the calls of `client`: options, pages, contents, changes.
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

/// The error that a server answered with, for `failure::server_error`.
struct rpc_error {
  std::optional<std::int64_t> code;  ///< The JSON-RPC error code. nullopt: the HTTP answer has none.
  std::string message;               ///< The message of the JSON-RPC error, or the beginning of the HTTP answer's body.
  std::optional<value> data;
  std::optional<int> http_status;  ///< The HTTP status if it is an error. nullopt: it is not, or HTTP is not used.
};

/// Options of one call.
struct call_options {
  /// Timeout of the call; for a list, of each page. nullopt: `client_options::call_timeout`. In `client::read_to`, it limits
  /// each wait for content. The time that users take to answer the server's questions does not count.
  std::optional<std::chrono::milliseconds> timeout{};
  /// Timeout of the whole call, for `client::read_to`. In other calls, the shorter one of both timeouts applies. nullopt: none.
  /// The time that users take to answer the server's questions does not count.
  std::optional<std::chrono::milliseconds> total_timeout{};
  /// Cancels the call, which then fails as cancelled. The server is notified.
  std::stop_token stop{};
  /// Receives progress. Empty: none is requested. Threads: the one that receives messages, which is blocked meanwhile. Must not
  /// call the client.
  std::function<void(const progress&)> on_progress{};
  /// Sends the request even if the cache has a fresh answer.
  bool bypass_cache = false;
  /// Sent in `_meta` if it is not empty. Spec: 2026-07-28 basic#_meta.
  trace_context trace{};
};

/// Conditions for entries of a list. An entry must meet all that are set. It does not meet a condition on a member that it
/// lacks. Servers with the versioned-resources extension filter; otherwise the client does.
struct entry_filter {
  /// Words that must each occur in name, title, description or URI. Case of a-z does not matter.
  std::optional<std::string> text{};
  std::optional<std::string> uri_prefix{};  ///< The start of the URI.
  /// A pattern for the whole URI: `*` within a segment, `**` across segments, `?`, `[a-z]`.
  std::optional<std::string> uri_pattern{};
  std::optional<std::string> mime_type{};  ///< `type/subtype`, or `type/` for all subtypes. Case does not matter.
  std::optional<std::string> kind{};       ///< As in `resource::kind`.
  std::optional<chat_role> audience{};     ///< Must be in `annotations::audience`.
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

/// Returns whether an entry meets the conditions.
[[nodiscard]] bool matches_filter(const resource& entry, const entry_filter& filter);
/// Sorts entries. Those that are equal in `order` stay in their order.
void sort_entries(std::vector<resource>& entries, entry_order order);

/// One page of a list.
template <class T>
struct list_page {
  std::vector<T> items{};
  /// Cursor of the next page. nullopt: this is the last page. Opaque; may be an empty string.
  std::optional<std::string> cursor{};
  std::chrono::milliseconds ttl{0};  ///< How long the server considers the page fresh.
};

/// The entries of a list. Each page is fetched when iteration reaches it. An input range of `result<T>`; a failure is the last
/// element.
///
///     for (const auto& entry : client.resources()) {
///       if (!entry) return complain(entry.error());
///       use(*entry);
///     }
///
/// Threads: one at a time. After the client is destroyed, fetching a page fails as cancelled. An endless list is a failure
/// (protocol_error): the same cursor twice in a row, more than 100 000 pages, or more than a thousand empty pages in a row.
template <class T>
class paged_range {
 public:
  using fetch_function = std::function<result<list_page<T>>(const std::optional<std::string>& cursor)>;

  explicit paged_range(fetch_function fetch_page) : fetch_page_(std::move(fetch_page)) {}

  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = result<T>;
    using difference_type = std::ptrdiff_t;

    iterator() = default;
    explicit iterator(paged_range* range) : range_(range) {}
    const result<T>& operator*() const { return *range_->current_; }
    const result<T>* operator->() const { return &*range_->current_; }
    iterator& operator++() {
      range_->advance();
      return *this;
    }
    void operator++(int) { range_->advance(); }
    friend bool operator==(const iterator& position, std::default_sentinel_t) { return position.is_at_end(); }

   private:
    [[nodiscard]] bool is_at_end() const { return range_ == nullptr || !range_->current_; }
    paged_range* range_ = nullptr;
  };

  /// Returns an iterator to the current entry. The range can be iterated once: earlier entries are not stored.
  [[nodiscard]] iterator begin() {
    if (!has_begun_) advance();
    return iterator(this);
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// Returns the remaining entries as one vector. Errors: the failure in the range; response_too_large for more than
  /// `max_entries` entries.
  [[nodiscard]] result<std::vector<T>> collect(std::size_t max_entries = 1'000'000) {
    std::vector<T> out;
    for (auto& entry : *this) {
      if (!entry) return tl::unexpected(entry.error());
      if (out.size() == max_entries)
        return fail(errc::response_too_large,
                    "more than " + std::to_string(max_entries) + " entries; request fewer with a filter");
      out.push_back(*entry);
    }
    return out;
  }

 private:
  void advance() {
    if (has_begun_ && current_ && !*current_) {
      current_.reset();
      return;
    }
    while (index_ == items_.size()) {
      if (has_begun_ && !cursor_) {
        current_.reset();
        return;
      }
      has_begun_ = true;
      auto fetched = fetch_page_(cursor_);
      if (!fetched) {
        current_ = tl::unexpected(std::move(fetched.error()));
        cursor_.reset();
        items_.clear();
        index_ = 0;
        return;
      }
      empty_pages_ = fetched->items.empty() ? empty_pages_ + 1 : 0;
      if (fetched->cursor && (fetched->cursor == cursor_ || ++pages_ > 100'000 || empty_pages_ > 1'000)) {
        current_ = fail(errc::protocol_error, fetched->cursor == cursor_
                                                  ? "the server returned the same cursor twice, so its list would never end"
                                                  : "the server's list does not end: too many pages");
        cursor_.reset();
        items_.clear();
        index_ = 0;
        return;
      }
      items_ = std::move(fetched->items);
      index_ = 0;
      cursor_ = std::move(fetched->cursor);
    }
    current_ = std::move(items_[index_++]);
  }

  fetch_function fetch_page_;
  bool has_begun_ = false;
  std::size_t pages_ = 0;
  std::size_t empty_pages_ = 0;
  std::vector<T> items_{};
  std::size_t index_ = 0;
  std::optional<std::string> cursor_{};
  std::optional<result<T>> current_{};
};

/// One item of the contents of a read.
struct received_content {
  std::string uri{};
  std::string name{};
  std::string title{};
  std::string mime_type{};
  bool is_text = true;          ///< False: the server sent a blob.
  std::string bytes{};          ///< The decoded content. Empty if it went to a `content_writer`.
  std::uint64_t size = 0;       ///< Number of content bytes.
  std::string version{};        ///< As in `resource::version`.
  std::optional<value> meta{};  ///< `_meta`: an object.
};

/// The result of a read.
struct read_response {
  std::vector<received_content> contents{};
  std::chrono::milliseconds ttl{0};  ///< How long the server considers the contents fresh.
  bool is_from_cache = false;
  bool is_not_modified = false;  ///< The version passed to `read_if_changed` is current. Then `contents` is empty.
};

/// Receives the content of a `read_to` in pieces, in order. `index`: position of the item in `read_response::contents`, from 0.
/// A failure that it returns ends the read with that failure. Threads: one of the client's, while `read_to` waits.
using content_writer = std::function<result<void>(std::size_t index, std::string_view bytes)>;

/// What has changed.
enum class watch_event_kind : std::uint8_t {
  resource,       ///< The content of `uri` changed, or the resource was added or removed.
  resource_list,  ///< Resources or templates were added, removed or renamed.
  tool_list,
  prompt_list,
  connection_lost,      ///< No changes arrive until `connection_restored`. `reason` says why.
  connection_restored,  ///< Changes arrive again. Events with `was_missed` follow.
  /// After `connection_lost`: the server rejects the new subscription (401, 403), and there is no better token. `reason` says
  /// why. The client continues to retry.
  subscription_rejected,
};

/// One change, or a change of the connection.
struct watch_event {
  watch_event_kind kind = watch_event_kind::resource;
  std::string uri{};                ///< With `resource`: as the server spells it; may be a resource below the watched one.
  std::string title{};              ///< With `resource`, if the server sent one.
  std::optional<resource> entry{};  ///< The current entry, if the server sends it (`watch_request::include_entries`).
  std::string reason{};             ///< See `watch_event_kind`.
  /// True: no notification says that this changed. The client found the change itself, or it may have missed one, because the
  /// connection was lost or the handler was too slow.
  bool was_missed = false;
};

/// What to watch.
struct watch_request {
  std::vector<std::string> uris{};  ///< Resources.
  bool resource_list = false;
  bool tool_list = false;
  bool prompt_list = false;
  bool include_entries = false;  ///< Sets `watch_event::entry` for `uris`, if the server supports it.
};

/// Receives changes. Threads: one thread of the client, one call at a time. It may block and may call the client.
using watch_handler = std::function<void(const watch_event&)>;

/// The result of a tool call.
struct tool_response {
  std::vector<content_block> content{};
  std::optional<value> structured_content{};
  bool is_error = false;  ///< The tool failed; `content` says why.
  value raw{};            ///< The whole result as the server sent it.
};

/// Direction of a message, for `client_options::on_message`.
enum class message_direction : std::uint8_t { to_server, from_server };

/// A server's description of itself.
struct server_description {
  std::string name{};
  std::string title{};
  std::string version{};
  std::string instructions{};
  std::string revision{};                ///< The protocol revision in use, such as "2026-07-28".
  std::vector<std::string> revisions{};  ///< The revisions that the server supports, if it lists them.
  bool is_modern = false;                ///< `revision` is 2026-07-28 or later, without sessions.
  std::string transport{};               ///< "stdio", "http", "http+sse" or "memory".
  value capabilities = value::object{};  ///< As the server declared them.
  bool has_resources = false;
  bool has_subscriptions = false;  ///< Notifies of changed resources.
  bool has_list_changes = false;   ///< Notifies of changes of the resource list.
  bool has_tools = false;
  bool has_prompts = false;
  bool has_completion = false;
  bool has_skills = false;
  bool has_folders = false;   ///< `resources/directory/read`.
  bool has_versions = false;  ///< The versioned-resources extension.
};

}  // namespace hondana::inline v0
