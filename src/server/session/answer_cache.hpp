/// Encoded pages, decoded requests and written answers, kept to answer repeated requests at once.
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

/// Which page: all that decides what its result says, but for what its validity watches and what belongs to the context.
struct page_key {
  enum class list : std::uint8_t { resources, templates };

  const wire::codec* by = nullptr;      ///< The revision and dialect.
  std::shared_ptr<const view> through;  ///< Kept alive, so that its address is nobody else's.
  /// What the caller has proved to be good for, which rules about scopes look at; nothing: there is no proof.
  std::optional<std::string> scopes;
  list which = list::resources;
  std::optional<std::string> cursor;
  friend bool operator==(const page_key&, const page_key&) = default;
};

/// The key of the page that `what` asks for; nothing where it asks for something else, or for a page that is not kept, as of a
/// filtered list.
[[nodiscard]] std::optional<page_key> page_asked_for(const model::operation& what, const wire::codec& by, const caller& who);

/// Keeps results by bytes; the least recently used go first. One context has one: what another configuration says is never
/// sent.
///
/// A page is kept when it is made for the second time, so that who goes through a long list once leaves nothing behind.
/// Validities and views, which end in code of others, are asked and let go of outside the lock. Threads: any.
class kept_pages {
 public:
  /// Holds at most so many bytes, keys and bookkeeping included, and nothing longer than an eighth of it; 0 holds nothing.
  explicit kept_pages(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The inside of `"result":`, when it still holds; else null.
  [[nodiscard]] shared_bytes find(const page_key& of);
  /// A page had to be made: keeps a copy of it, in place of what was kept before.
  void keep(const page_key& of, std::string_view page, std::shared_ptr<const validity> valid);
  /// Lets go of everything, and keeps nothing from now on: another configuration has come, and streams hold the context of
  /// this one for as long as they are open.
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
  /// Under the lock: takes the least recently used out until no more than `most` bytes are held.
  void shrink_to(std::size_t most, shelf& out);
  void take_out(shelf::iterator place, shelf& out) noexcept;

  const std::size_t most_bytes_;
  mutable std::mutex mutex_;
  shelf shelf_;                                                                // the most recently used first
  std::unordered_map<const page_key*, shelf::iterator, hasher, same> places_;  // of `shelf_`, by their keys there
  std::array<std::size_t, 1024> made_once_{};                                  // hashes of keys, each where its own says
  page_cache_counts counts_;
  bool is_retired_ = false;
};

/// A message around its id.
struct cut_message {
  std::string_view before;
  std::string_view after;
  std::int64_t id = 0;
};

/// Cuts a message at its id where that is a plain number that stands second, behind "jsonrpc", or last. Nothing: it stands
/// elsewhere, or it takes a parser to tell. Of two messages that are equal but for what was cut, when one is a request of that
/// id, the other is the same request of another.
[[nodiscard]] std::optional<cut_message> cut_id(std::string_view message) noexcept;

/// What a request means, as its decoder said.
struct decoded_request {
  const wire::codec* codec = nullptr;  ///< Of the revision; not yet of the dialect.
  std::string method;
  model::request what;
};

/// The result of an answer, written.
struct written_result {
  std::shared_ptr<const bytes::prepared_reading> of;
  model::cache_hint cache;
  model::self_description by;
  std::string text;
};

/// Most peers ask for the same few resources again and again: what their requests mean is decoded once, and what they are
/// answered with is encoded once, as long as it is the same.
///
/// Nothing is decided here: whoever finds a request here admits it and reads as if it had decoded it itself, and what is
/// written is sent only for the very reading that it was made of. So it may be shared by all peers: a request is found by
/// everything that decoding looks at. Bounds: `places` messages of `longest_message` bytes, with what is looked at of their
/// headers, and results of `longest_result` bytes, the last of each place. Threads: any.
class known_requests {
 public:
  static constexpr std::size_t places = 256;
  static constexpr std::size_t longest_message = 2048;
  static constexpr std::size_t longest_result = 8192;

  struct entry {
    std::string before;
    std::string after;
    std::optional<rpc::http_headers> headers;  // as far as decoding looks at them
    const wire::codec* settled = nullptr;
    std::shared_ptr<const decoded_request> meaning;
    std::shared_ptr<const written_result> answer;  // null: none yet
  };
  using found = std::shared_ptr<const entry>;

  /// `settled`: what the peer has settled. Null: it is not known.
  [[nodiscard]] found find(const cut_message& what, const rpc::facts& facts, const wire::codec* settled) const;
  /// Keeps what a request, of a message by itself, was decoded to. Does nothing for what is too long.
  void keep(const cut_message& what, const rpc::facts& facts, const wire::codec* settled, const wire::codec& codec,
            std::string_view method, const model::request& meaning);
  /// Keeps what it was answered with now.
  void keep_answer(const found& of, written_result answer);

 private:
  [[nodiscard]] static std::size_t place_of(std::string_view before, std::string_view after) noexcept;
  void put(found what);

  executor::posted<entry, places> all_;
};

struct context;

/// The answer to a request that has been admitted, when it is a read and nothing has to be waited for; nothing: it goes the
/// long way. `who` has its view by the present rules. `known` (null: nowhere) is where what is written may be found again, and
/// is kept. What is thrown on the way, such as no memory for it, is an internal error.
[[nodiscard]] std::optional<rpc::delivery> answer_at_hand(const context& with, const caller& who, const model::operation& what,
                                                          const rpc::request_id& id, const wire::codec& codec,
                                                          const known_requests::found& known);

/// The same of a page that is kept; nothing when there is none that holds.
[[nodiscard]] std::optional<rpc::delivery> page_at_hand(const page_key& wanted, const context& with, const rpc::request_id& id);

}  // namespace hondana::session
