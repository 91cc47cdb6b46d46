/// Caches contents, also in their encoded form, for reads of what has not changed.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include <hondana/provider.hpp>
#include <hondana/resource.hpp>
#include <hondana/server.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/executor/published.hpp"

namespace hondana::catalog {

/// Encodes contents and counts the bytes of what it has made until nobody has it any more: a peer that takes its answer slowly
/// keeps it in memory, also when the cache has let it go. Threads: any.
class lent_forms {
 public:
  /// What is longer is kept encoded; what is shorter is copied into each answer.
  static constexpr std::size_t big = 64 * 1024;

  /// The inside of a JSON string: `content` escaped, or in base64.
  [[nodiscard]] shared_bytes encode(std::string_view content, bool is_text) const;
  /// Bytes of all that somebody still has.
  [[nodiscard]] std::size_t bytes() const noexcept { return alive_->load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<std::size_t>> alive_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// Keeps what the last reads gave, by bytes; the least recently used go first, and what was read without a lock since its turn
/// came has another one.
///
/// It answers nothing by itself: at every read a source, or the `validity` that it gave with the reading, is asked whether what
/// is kept still holds, and it is sent only when it does. So there is nothing to be told of changes, and it is never older than
/// what the source itself takes for unmodified. Contents are kept checked and with their form decided: small ones unencoded,
/// since writing them costs about as much as copying; those of more than 64 KiB from the second reading of a version on, so
/// that what is read once takes no room, and as they stand in messages, which is the same for all codecs. Threads: any.
class read_cache {
 public:
  /// Whose contents: those of a resource with its parameters, as one source answers them to callers with one view.
  struct key {
    std::uint64_t source = 0;             ///< `source::id`.
    std::string uri;                      ///< Canonical, with query and fragment.
    std::string asked_uri;                ///< As spelled by the peer: readings may repeat it.
    std::shared_ptr<const view> through;  ///< Kept alive, so that its id is nobody else's.
    bool as_bytes = false;                ///< For somebody who looks at the bytes: nothing of it is encoded.
    friend bool operator==(const key&, const key&) = default;
  };
  /// A key to look with, which owns nothing.
  struct key_view {
    std::uint64_t source = 0;
    std::string_view uri;
    std::string_view asked_uri;
    const view* through = nullptr;
    bool as_bytes = false;
  };
  using kept = std::shared_ptr<const bytes::prepared_reading>;
  /// What is kept, with what the source said of it last.
  struct vouched {
    kept what;
    std::shared_ptr<const validity> by;  ///< Null: the source is to be asked.
    std::chrono::milliseconds ttl{0};
  };

  /// Holds at most so many bytes, keys and bookkeeping included, and nothing longer than an eighth of it; 0 holds nothing. What
  /// it has let go and somebody is still being sent counts up to half of that, so that peers who take their answers slowly do
  /// not take the cache from the others; while there is more of it, no big contents are kept.
  explicit read_cache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// What is kept; null when nothing is. The caller must have its version confirmed before it sends it.
  [[nodiscard]] kept find(const key& of) { return find_vouched(as_view(of)).what; }
  /// The same with what may vouch for it, which the caller asks instead of the source.
  [[nodiscard]] vouched find_vouched(const key_view& of);
  /// Keeps a copy of `what`, in place of what was kept before, and hands it out; not what has no version, a stream in it, or no
  /// room, nor big contents that it has not met before.
  kept keep(const key& of, const bytes::prepared_reading& what);
  /// The source has said that `what`, if it still is what is kept, holds, for how long, and who may vouch for it from now on.
  void vouch(const key& of, const kept& what, std::chrono::milliseconds ttl, std::shared_ptr<const validity> by);
  /// What is kept was confirmed and is sent: a hit.
  void confirmed() noexcept { hits_.fetch_add(1, std::memory_order_relaxed); }
  /// Something had to be read: a miss.
  void missed();
  /// From now on.
  void limit_to(std::size_t most_bytes);
  [[nodiscard]] read_cache_counts counts() const;

 private:
  struct hasher {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(const key_view& of) const noexcept;
    [[nodiscard]] std::size_t operator()(const key& of) const noexcept { return (*this)(as_view(of)); }
    [[nodiscard]] std::size_t operator()(const std::shared_ptr<const key>& of) const noexcept { return (*this)(*of); }
  };
  struct same {
    using is_transparent = void;
    using held = std::shared_ptr<const key>;
    [[nodiscard]] bool operator()(const held& a, const held& b) const noexcept { return *a == *b; }
    [[nodiscard]] bool operator()(const held& a, const key_view& b) const noexcept {
      return a->source == b.source && a->through.get() == b.through && a->uri == b.uri && a->asked_uri == b.asked_uri &&
             a->as_bytes == b.as_bytes;
    }
    [[nodiscard]] bool operator()(const key_view& a, const held& b) const noexcept { return (*this)(b, a); }
  };
  /// What is told of a place. Another one is made when something of it changes.
  struct record {
    std::shared_ptr<const key> of;
    vouched told;
    mutable std::atomic<bool> was_read_again{false};  // without a lock, and so without a new place in the order
  };
  struct shelf_place {
    std::shared_ptr<const record> now;
    std::size_t bytes = 0;
    std::size_t encoded = 0;  // of those, bytes that are lent
    std::list<const key*>::iterator in_order;
  };
  using shelf = std::unordered_map<std::shared_ptr<const key>, shelf_place, hasher, same>;
  [[nodiscard]] static key_view as_view(const key& of) noexcept {
    return {of.source, of.uri, of.asked_uri, of.through.get(), of.as_bytes};
  }
  /// Under the lock: drops the least recently used until there is room for `more` bytes; false when there is none even so.
  bool make_room_for(std::size_t more);
  /// Under the lock: bytes of what was let go and is still being sent.
  [[nodiscard]] std::size_t strays() const noexcept;
  /// Under the lock: whether this version of a place is met again; remembered with a few bytes.
  [[nodiscard]] bool is_met_again(const key& of, const std::string& version);
  [[nodiscard]] kept copy_of(const bytes::prepared_reading& what, bool as_bytes) const;
  void drop(shelf::iterator place);
  [[nodiscard]] static std::shared_ptr<const record> record_of(std::shared_ptr<const key> of, vouched told);

  mutable std::mutex mutex_;
  std::size_t most_bytes_;
  shelf places_;
  std::list<const key*> order_;  // of `places_`; the most recently used first
  read_cache_counts counts_;     // but for `hits_`
  std::atomic<std::uint64_t> hits_{0};
  lent_forms forms_;
  std::size_t encoded_ = 0;  // bytes of `forms_` that are in `places_`
  // What is read again and again is found without a lock: one of the places whose keys have that digest.
  static constexpr std::size_t most_posted = 256;
  executor::posted<record, most_posted> posted_;
  std::array<std::uint64_t, 1024> met_{};  // digests of what was read, by a part of themselves
};

/// Whether what was kept under a greater limit may still be sent.
[[nodiscard]] bool is_within(std::uint64_t limit, const bytes::prepared_reading& kept) noexcept;

}  // namespace hondana::catalog
