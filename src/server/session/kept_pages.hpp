/// Encoded pages of lists, for who asks for the same again while nothing in them has changed.
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

#include "protocol/model/operation.hpp"

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

}  // namespace hondana::session
