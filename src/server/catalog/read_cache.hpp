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
class encoded_copies {
 public:
  /// Longer contents are cached in encoded form; shorter ones are copied into each answer.
  static constexpr std::size_t large_content_bytes = 64 * 1024;

  /// The content of a JSON string without quotes: `content` escaped, or in base64.
  [[nodiscard]] shared_bytes encode(std::string_view content, bool is_text) const;
  /// Bytes of all encoded copies in use.
  [[nodiscard]] std::size_t bytes() const noexcept { return live_bytes_->load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<std::size_t>> live_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// Caches the results of reads, up to a number of bytes. The least recently used is evicted first (a clock algorithm: an item
/// read without the lock gets a second chance).
///
/// Every read still asks the source, or the `cache_validator` of the reading, whether the cached version is current. So the
/// cache needs no change notifications, and never returns contents that the source considers modified.
///
/// Contents are stored validated and with their form decided. Small ones are stored unencoded, because encoding costs about as
/// much as copying. Those over 64 KiB are stored from the second read of a version on, so that a single read takes no memory.
/// They are stored in the encoded form, which is the same for all codecs.
///
/// Threads: any.
class read_cache {
 public:
  /// What identifies contents: a source, a URI with its parameters, and the access filter.
  struct cache_key {
    std::uint64_t source_id = 0;                  ///< `source::id`.
    std::string uri;                              ///< Canonical, with query and fragment.
    std::string requested_uri;                    ///< As the client spelled it, because readings may repeat it.
    std::shared_ptr<const access_filter> filter;  ///< Kept alive, so that its id is not reused.
    bool as_bytes = false;                        ///< For callers that process the bytes: nothing is encoded.
    friend bool operator==(const cache_key&, const cache_key&) = default;
  };
  /// A key for lookups, which owns nothing.
  struct key_view {
    std::uint64_t source_id = 0;
    std::string_view uri;
    std::string_view requested_uri;
    const access_filter* filter = nullptr;
    bool as_bytes = false;
  };
  using cached_reading = std::shared_ptr<const bytes::prepared_read_result>;
  /// Cached contents, with the source's latest statement about them.
  struct validated_reading {
    cached_reading reading;
    std::shared_ptr<const cache_validator> validator;  ///< Null: the source must be called.
    std::chrono::milliseconds ttl{0};
  };

  /// `max_bytes`: capacity, including keys and overhead. Contents longer than an eighth of it are not stored; 0 stores
  /// nothing. Evicted contents that are still being sent count up to half of it, so that slow clients cannot displace the whole
  /// cache. While they exceed that, large contents are not stored.
  explicit read_cache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// The cached contents; null if there are none. Before sending them, the caller must confirm their version with the source.
  [[nodiscard]] cached_reading find(const cache_key& key) { return find_validated(as_view(key)).reading; }
  /// The same with the `cache_validator`, which the caller can use instead of the source.
  [[nodiscard]] validated_reading find_validated(const key_view& key);
  /// Stores a copy of `reading`, replacing older contents of this key, and returns it. Returns null, without effect, for
  /// contents without a version, with a stream, or without enough space, and for large contents that are read for the first
  /// time.
  cached_reading store(const cache_key& key, const bytes::prepared_read_result& reading);
  /// The source confirmed `reading` for `ttl`. `validator` replaces its previous validator. No effect if `reading` is no longer
  /// cached.
  void revalidate(const cache_key& key, const cached_reading& reading, std::chrono::milliseconds ttl,
                  std::shared_ptr<const cache_validator> validator);
  /// Counts a hit: cached contents were confirmed and are sent.
  void count_hit() noexcept { hits_.fetch_add(1, std::memory_order_relaxed); }
  /// Counts a miss: the source was read.
  void count_miss();
  /// Sets the capacity.
  void set_limit(std::size_t max_bytes);
  [[nodiscard]] read_cache_statistics statistics() const;

 private:
  struct hasher {
    using is_transparent = void;
    [[nodiscard]] std::size_t operator()(const key_view& key) const noexcept;
    [[nodiscard]] std::size_t operator()(const cache_key& key) const noexcept { return (*this)(as_view(key)); }
    [[nodiscard]] std::size_t operator()(const std::shared_ptr<const cache_key>& key) const noexcept { return (*this)(*key); }
  };
  struct key_equal {
    using is_transparent = void;
    using stored_key = std::shared_ptr<const cache_key>;
    [[nodiscard]] bool operator()(const stored_key& a, const stored_key& b) const noexcept { return *a == *b; }
    [[nodiscard]] bool operator()(const stored_key& a, const key_view& b) const noexcept {
      return a->source_id == b.source_id && a->filter.get() == b.filter && a->uri == b.uri &&
             a->requested_uri == b.requested_uri && a->as_bytes == b.as_bytes;
    }
    [[nodiscard]] bool operator()(const key_view& a, const stored_key& b) const noexcept { return (*this)(b, a); }
  };
  /// The data of one key. Replaced by a new object when something changes.
  struct cache_record {
    std::shared_ptr<const cache_key> key;
    validated_reading validated;
    mutable std::atomic<bool> was_read_again{false};  // set without the lock, so that the order is not updated
  };
  struct cache_slot {
    std::shared_ptr<const cache_record> record;
    std::size_t bytes = 0;
    std::size_t encoded_bytes = 0;  // of `bytes`, those of encoded copies
    std::list<const cache_key*>::iterator order_position;
  };
  using slot_map = std::unordered_map<std::shared_ptr<const cache_key>, cache_slot, hasher, key_equal>;
  [[nodiscard]] static key_view as_view(const cache_key& key) noexcept {
    return {key.source_id, key.uri, key.requested_uri, key.filter.get(), key.as_bytes};
  }
  /// Requires the lock. Evicts the least recently used until `required` bytes fit. Returns false if they do not fit even into
  /// an empty cache.
  bool make_space(std::size_t required);
  /// Requires the lock. Bytes of evicted contents that are still being sent.
  [[nodiscard]] std::size_t evicted_bytes() const noexcept;
  /// Requires the lock. Whether this version of a key was read before; remembered in a few bytes.
  [[nodiscard]] bool is_repeated_read(const cache_key& key, const std::string& version);
  [[nodiscard]] cached_reading copy_of(const bytes::prepared_read_result& reading, bool as_bytes) const;
  void erase(slot_map::iterator position);
  [[nodiscard]] static std::shared_ptr<const cache_record> make_record(std::shared_ptr<const cache_key> key,
                                                                       validated_reading validated);

  mutable std::mutex mutex_;
  std::size_t max_bytes_;
  slot_map slots_;
  std::list<const cache_key*> order_;  // of `slots_`, the most recently used first
  read_cache_statistics statistics_;   // except `hits_`
  std::atomic<std::uint64_t> hits_{0};
  encoded_copies copies_;
  std::size_t encoded_bytes_ = 0;  // bytes of `copies_` that are in `slots_`
  // Frequent keys are found without the lock. Each slot has one of the keys with its hash.
  static constexpr std::size_t max_published = 256;
  executor::published<cache_record, max_published> published_;
  std::array<std::uint64_t, 1024> recent_reads_{};  // digests of reads, at an index derived from the digest
};

/// Whether contents that were cached under a larger limit may still be sent.
[[nodiscard]] bool is_within(std::uint64_t limit, const bytes::prepared_read_result& reading) noexcept;

}  // namespace hondana::catalog
