/// What a client gives and gets: options of calls, pages, contents, changes.
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

/// The error a server answered with: `failure::answer`.
struct error_answer {
  std::int64_t code = 0;  ///< The JSON-RPC number.
  std::string message;
  value data;           ///< Null when there was none.
  int http_status = 0;  ///< 0 where there is none.
};

/// How one call is made.
struct call_options {
  /// Until it fails as timed_out. Nothing: `client_options::call_time`. Time that people take to answer a server's questions
  /// does not count.
  std::optional<std::chrono::milliseconds> time{};
  /// For `client::read_to`, where `time` limits each wait for more content: a limit for the whole call, which then fails as
  /// timed_out. Nothing: no limit. Time that people take to answer the server's questions does not count.
  std::optional<std::chrono::milliseconds> whole_time{};
  /// Cancels the call, which then fails as cancelled, and the server is told.
  std::stop_token stop{};
  /// Hears how far the server has come; empty: it is not asked to tell. Threads: one of the client's, which waits meanwhile: it
  /// must not call the client.
  std::function<void(const progress&)> report{};
  /// Asks the server even if the cache has a fresh answer.
  bool afresh = false;
  /// Goes along in `_meta`, where it is not empty. Spec: 2026-07-28 basic#_meta.
  trace_context trace{};
};

/// Which entries are wanted; all that is set must hold. A server of the versioned dialect chooses itself, else the client does.
struct entry_filter {
  std::string text{};         ///< Words, each somewhere in name, title, description or URI; in either case.
  std::string uri_prefix{};   ///< The URI begins with this.
  std::string uri_pattern{};  ///< Fits the whole URI: `*` within a segment, `**` across them, `?`, `[a-z]`.
  std::string mime_type{};    ///< `type/subtype`, or `type/` for all of a type.
  std::string kind{};         ///< Of servers that tell kinds.
  std::optional<role> audience{};
  std::optional<double> min_priority{};
  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified_since{};

  bool operator==(const entry_filter&) const = default;
};

enum class entry_order : std::uint8_t {
  as_listed,
  name,      ///< By name, then URI.
  priority,  ///< The highest first; entries that state none come last.
  recency,   ///< What was modified last first; entries that do not say come last.
};

/// Whether an entry is one that is wanted.
[[nodiscard]] bool fits(const resource& entry, const entry_filter& wanted);
/// Stable.
void sort_entries(std::vector<resource>& entries, entry_order order);

/// One page of a list, and how fresh it is.
template <class T>
struct page {
  std::vector<T> items{};
  std::optional<std::string> cursor{};  ///< Of the next page; absent at the end. Opaque, may be empty.
  std::chrono::milliseconds ttl{0};     ///< For how long the server thinks it stays right.
};

/// Entries of all pages, each asked for when it is reached: an input range of `result<T>` that ends after a failure.
///
///     for (const auto& entry : client.resources()) {
///       if (!entry) return complain(entry.error());
///       use(*entry);
///     }
///
/// Threads: one at a time. A list that would never end is a failure: a cursor that comes twice in a row, more than 100 000
/// pages, or a thousand empty ones in a row.
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

  /// Once only: what was passed is not kept.
  [[nodiscard]] iterator begin() {
    if (!has_begun_) advance();
    return iterator(this);
  }
  [[nodiscard]] std::default_sentinel_t end() const noexcept { return {}; }

  /// The rest as one vector. Errors: those of the pages; response_too_large beyond `most` entries.
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

/// One item of what was read.
struct read_item {
  std::string uri{};
  std::string name{};
  std::string title{};
  std::string mimeType{};
  bool is_text = true;     ///< False: the server sent bytes.
  std::string bytes{};     ///< Empty when they went to a `content_writer`.
  std::uint64_t size = 0;  ///< How many there were.
  std::string version{};   ///< Where the server tells one.
  value meta{};            ///< `_meta`: an object, or null for none.
};

/// What a read gave.
struct read_answer {
  std::vector<read_item> items{};
  std::chrono::milliseconds ttl{0};
  bool is_from_cache = false;
  bool is_not_modified = false;  ///< The version that was named still holds; there are no items.
};

/// Takes content as it comes, in order, item by item. A failure it returns ends the read with that failure.
/// Threads: one of the client's, while `read_to` waits.
using content_writer = std::function<result<void>(std::size_t item, std::string_view bytes)>;

/// A kind of thing that can have changed.
enum class change_kind : std::uint8_t {
  resource,       ///< The content of `uri` has changed, or it has come or gone.
  resource_list,  ///< Resources or templates have come, gone or been renamed.
  tool_list,
  prompt_list,
  connection_lost,  ///< Nothing is heard until `connection_back`. `text` says why.
  connection_back,  ///< What has changed meanwhile follows.
  /// After `connection_lost`: the server does not let whoever asks subscribe again (401, 403), and no better token could be
  /// had. `text` says why. It goes on being tried, in case that changes.
  refused,
};

struct change {
  change_kind kind = change_kind::resource;
  std::string uri{};                ///< As the server named it; may lie below what was watched.
  std::string title{};              ///< Where the server tells it.
  std::optional<resource> entry{};  ///< As it is now, where the server tells it (the versioned dialect).
  std::string text{};
  /// It happened while nothing was heard, and was found by comparing, or could not be excluded.
  bool was_missed = false;
};

/// What to watch.
struct watch_request {
  std::vector<std::string> uris{};
  bool resource_list = false;
  bool tool_list = false;
  bool prompt_list = false;
  bool entries = false;  ///< Changes of `uris` come with their entries, where the server can.
};

/// Hears changes. Threads: one of the client's, one call at a time; calls of the client are allowed in it.
using change_handler = std::function<void(const change&)>;

/// A result of a tool as the client got it.
struct called {
  std::vector<content_block> content{};
  std::optional<value> structuredContent{};
  bool isError = false;
  value raw{};  ///< The whole result as the server spelled it.
};

/// Which way a message went, for `client_options::trace`.
enum class message_direction : std::uint8_t { to_server, from_server };

/// What a server says of itself.
struct server_description {
  std::string name{};
  std::string title{};
  std::string version{};
  std::string instructions{};
  std::string revision{};                ///< "2026-07-28": what is spoken with it.
  std::vector<std::string> revisions{};  ///< What it can speak, where it tells.
  bool is_modern = false;                ///< 2026-07-28 or later: without sessions.
  std::string transport{};               ///< "stdio", "http", "http+sse" or "memory".
  value capabilities = value::object{};  ///< As it declared them.
  bool has_resources = false;
  bool has_subscriptions = false;
  bool has_list_changes = false;
  bool has_tools = false;
  bool has_prompts = false;
  bool has_completion = false;
  bool has_skills = false;
  bool has_folders = false;   ///< `resources/directory/read`.
  bool has_versions = false;  ///< The versioned dialect.
};

}  // namespace hondana::inline v0
