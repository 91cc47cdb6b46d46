/// The read cache: contents, also in encoded form, for repeated reads of unchanged resources.
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

/// Encodes contents, and counts the bytes of encoded copies while they are in use. A slow client keeps its answer in memory
/// even after the cache has removed it. Threads: any.
class lent_forms {
 public:
  /// Longer contents are cached in encoded form; shorter ones are copied into each answer.
  static constexpr std::size_t big = 64 * 1024;

  /// The content of a JSON string without quotes: `content` escaped, or in base64.
  [[nodiscard]] shared_bytes encode(std::string_view content, bool is_text) const;
  /// Bytes of all encoded copies in use.
  [[nodiscard]] std::size_t bytes() const noexcept { return alive_->load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<std::size_t>> alive_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// Caches the results of reads, up to a number of bytes. The least recently used is evicted first (a clock algorithm: an item
/// read without the lock gets a second chance).
///
/// Every read still asks the source, or the `validity` of the reading, whether the cached version is current. So the cache
/// needs no change notifications, and never returns contents that the source considers modified.
///
/// Contents are stored validated and with their form decided. Small ones are stored unencoded, because encoding costs about as
/// much as copying. Those over 64 KiB are stored from the second read of a version on, so that a single read takes no memory.
/// They are stored in the encoded form, which is the same for all codecs.
///
/// Threads: any.
class read_cache {
 public:
  /// What identifies contents: a source, a URI with its parameters, and the access filter.
  struct key {
    std::uint64_t source = 0;             ///< `source::id`.
    std::string uri;                      ///< Canonical, with query and fragment.
    std::string asked_uri;                ///< As the client spelled it, because readings may repeat it.
    std::shared_ptr<const view> through;  ///< Kept alive, so that its id is not reused.
    bool as_bytes = false;                ///< For callers that process the bytes: nothing is encoded.
    friend bool operator==(const key&, const key&) = default;
  };
  /// A key for lookups, which owns nothing.
  struct key_view {
    std::uint64_t source = 0;
    std::string_view uri;
    std::string_view asked_uri;
    const view* through = nullptr;
    bool as_bytes = false;
  };
  using kept = std::shared_ptr<const bytes::prepared_reading>;
  /// Cached contents, with the source's latest statement about them.
  struct vouched {
    kept what;
    std::shared_ptr<const validity> by;  ///< Null: the source must be called.
    std::chrono::milliseconds ttl{0};
  };

  /// `most_bytes`: capacity, including keys and overhead. Contents longer than an eighth of it are not stored; 0 stores
  /// nothing. Evicted contents that are still being sent count up to half of it, so that slow clients cannot displace the whole
  /// cache. While they exceed that, large contents are not stored.
  explicit read_cache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// The cached contents; null if there are none. Before sending them, the caller must confirm their version with the source.
  [[nodiscard]] kept find(const key& of) { return find_vouched(as_view(of)).what; }
  /// The same with the `validity`, which the caller can use instead of the source.
  [[nodiscard]] vouched find_vouched(const key_view& of);
  /// Stores a copy of `what`, replacing older contents of this key, and returns it. Returns null, without effect, for contents
  /// without a version, with a stream, or without enough space, and for large contents that are read for the first time.
  kept keep(const key& of, const bytes::prepared_reading& what);
  /// The source confirmed `what` for `ttl`, with `by` as its validity from now on. No effect if `what` is no longer cached.
  void vouch(const key& of, const kept& what, std::chrono::milliseconds ttl, std::shared_ptr<const validity> by);
  /// Counts a hit: cached contents were confirmed and are sent.
  void confirmed() noexcept { hits_.fetch_add(1, std::memory_order_relaxed); }
  /// Counts a miss: the source was read.
  void missed();
  /// Sets the capacity.
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
  /// The data of one key. Replaced by a new object when something changes.
  struct record {
    std::shared_ptr<const key> of;
    vouched told;
    mutable std::atomic<bool> was_read_again{false};  // set without the lock, so that the order is not updated
  };
  struct shelf_place {
    std::shared_ptr<const record> now;
    std::size_t bytes = 0;
    std::size_t encoded = 0;  // of `bytes`, those of encoded copies
    std::list<const key*>::iterator in_order;
  };
  using shelf = std::unordered_map<std::shared_ptr<const key>, shelf_place, hasher, same>;
  [[nodiscard]] static key_view as_view(const key& of) noexcept {
    return {of.source, of.uri, of.asked_uri, of.through.get(), of.as_bytes};
  }
  /// Requires the lock. Evicts the least recently used until `more` bytes fit. Returns false if they do not fit even into an
  /// empty cache.
  bool make_room_for(std::size_t more);
  /// Requires the lock. Bytes of evicted contents that are still being sent.
  [[nodiscard]] std::size_t strays() const noexcept;
  /// Requires the lock. Whether this version of a key was read before; remembered in a few bytes.
  [[nodiscard]] bool is_met_again(const key& of, const std::string& version);
  [[nodiscard]] kept copy_of(const bytes::prepared_reading& what, bool as_bytes) const;
  void drop(shelf::iterator place);
  [[nodiscard]] static std::shared_ptr<const record> record_of(std::shared_ptr<const key> of, vouched told);

  mutable std::mutex mutex_;
  std::size_t most_bytes_;
  shelf places_;
  std::list<const key*> order_;  // of `places_`, the most recently used first
  read_cache_counts counts_;     // except `hits_`
  std::atomic<std::uint64_t> hits_{0};
  lent_forms forms_;
  std::size_t encoded_ = 0;  // bytes of `forms_` that are in `places_`
  // Frequent keys are found without the lock. Each slot has one of the keys with its hash.
  static constexpr std::size_t most_posted = 256;
  executor::posted<record, most_posted> posted_;
  std::array<std::uint64_t, 1024> met_{};  // digests of reads, at an index derived from the digest
};

/// Whether contents that were cached under a larger limit may still be sent.
[[nodiscard]] bool is_within(std::uint64_t limit, const bytes::prepared_reading& kept) noexcept;

}  // namespace hondana::catalog
