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

/// Encodes contents as JSON, and counts the bytes of the results while they are in use. An answer to a slow client uses its
/// copy even after the cache has removed it. Threads: any.
class encoded_copies {
 public:
  /// Contents of more bytes are cached in encoded form. Shorter ones are cached as they are, and encoded for each answer.
  static constexpr std::size_t large_content_bytes = 64 * 1024;

  /// Returns the content of a JSON string without quotes: `content` escaped if `is_text`, otherwise in base64.
  [[nodiscard]] shared_bytes encode(std::string_view content, bool is_text) const;
  /// Bytes of all results of `encode` that are in use, in the cache or in answers.
  [[nodiscard]] std::size_t bytes() const noexcept { return live_bytes_->load(std::memory_order_relaxed); }

 private:
  const std::shared_ptr<std::atomic<std::size_t>> live_bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
};

/// Caches the results of reads, up to a number of bytes. The least recently used is evicted first, approximately: one that was
/// found without the lock gets a second chance.
///
/// Before sending cached contents, the caller must confirm that their version is current: with the source, or with its
/// `cache_validator`. The cache therefore needs no change notifications.
///
/// Contents are stored with their kind (text or blob) known. Contents of up to 64 KiB are stored unencoded, because encoding
/// costs about as much as copying. Larger ones are stored encoded, which is the same for all codecs. They are stored only from
/// the second read of a version on, so that a single read uses no memory.
///
/// Threads: any.
class read_cache {
 public:
  /// Identifies contents: by a source, a URI with its parameters, and the access filter.
  struct cache_key {
    std::uint64_t source_id = 0;                  ///< `source::id`.
    std::string uri;                              ///< Canonical, with query and fragment.
    std::string requested_uri;                    ///< As the client spelled it, because readings may repeat it.
    std::shared_ptr<const access_filter> filter;  ///< Null: none. Held, so that its id is not reused.
    bool as_bytes = false;                        ///< The caller processes the bytes, so contents are not stored encoded.
    friend bool operator==(const cache_key&, const cache_key&) = default;
  };
  /// A `cache_key` for lookups, which owns nothing.
  struct key_view {
    std::uint64_t source_id = 0;
    std::string_view uri;
    std::string_view requested_uri;
    const access_filter* filter = nullptr;
    bool as_bytes = false;
  };
  /// Null: not cached.
  using cached_reading = std::shared_ptr<const bytes::prepared_read_result>;
  /// A cached reading, with the latest statement of its source about it.
  struct validated_reading {
    cached_reading reading;
    std::shared_ptr<const cache_validator> validator;  ///< Null: only the source can confirm the version.
    std::chrono::milliseconds ttl{0};                  ///< How long clients may treat it as fresh.
  };

  /// `max_bytes`: capacity, including keys and overhead. 0 stores nothing. A reading of more than an eighth of it is not
  /// stored. Encoded contents that are evicted while they are being sent use up to half of it, so slow clients cannot displace
  /// the whole cache. While they exceed that half, large contents are not stored.
  explicit read_cache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  /// Returns the cached reading; null if there is none. The caller must confirm its version with the source before sending it.
  [[nodiscard]] cached_reading find(const cache_key& key) { return find_validated(as_view(key)).reading; }
  /// As `find`, with a `cache_validator` that can confirm the version instead of the source.
  [[nodiscard]] validated_reading find_validated(const key_view& key);
  /// Stores a copy of `reading`, replacing an older one with this key, and returns the copy. Returns null and stores nothing if
  /// the reading has no version, has a stream, or does not fit. Also if it has large contents and is read for the first time.
  cached_reading store(const cache_key& key, const bytes::prepared_read_result& reading);
  /// Records that the source confirmed the cached `reading`: `ttl` and `validator` replace its previous ones. No effect if
  /// `reading` is no longer cached.
  void revalidate(const cache_key& key, const cached_reading& reading, std::chrono::milliseconds ttl,
                  std::shared_ptr<const cache_validator> validator);
  /// Counts a hit: confirmed contents are sent from the cache.
  void count_hit() noexcept { hits_.fetch_add(1, std::memory_order_relaxed); }
  /// Counts a miss: contents were read from the source.
  void count_miss();
  /// Sets the capacity, and evicts contents beyond it.
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
  /// The data of one key; replaced by a new object when something changes.
  struct cache_record {
    std::shared_ptr<const cache_key> key;
    validated_reading validated;
    mutable std::atomic<bool> was_read_again{false};  // since it was considered for eviction; set without the lock
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
  /// Requires the lock. Bytes of encoded contents that were evicted but are still being sent.
  [[nodiscard]] std::size_t evicted_bytes() const noexcept;
  /// Requires the lock. Returns whether this version of `key` was read before, and remembers this read. Other reads can
  /// overwrite it.
  [[nodiscard]] bool is_repeated_read(const cache_key& key, const std::string& version);
  /// A copy that shares no bytes with `reading`. Large contents are encoded unless `as_bytes`.
  [[nodiscard]] cached_reading copy_of(const bytes::prepared_read_result& reading, bool as_bytes) const;
  void erase(slot_map::iterator position);
  [[nodiscard]] static std::shared_ptr<const cache_record> make_record(std::shared_ptr<const cache_key> key,
                                                                       validated_reading validated);

  mutable std::mutex mutex_;
  std::size_t max_bytes_;
  slot_map slots_;
  std::list<const cache_key*> order_;  // keys in `slots_`, the most recently used first
  read_cache_statistics statistics_;   // except `hits_`
  std::atomic<std::uint64_t> hits_{0};
  encoded_copies copies_;
  std::size_t encoded_bytes_ = 0;  // bytes of `copies_` that are in `slots_`
  // Frequent keys are found without the lock. Each slot has one of the keys with its hash.
  static constexpr std::size_t max_published = 256;
  executor::published<cache_record, max_published> published_;
  std::array<std::uint64_t, 1024> recent_reads_{};  // digests of reads, at an index derived from the digest
};

/// Whether the contents have at most `limit` bytes together, before encoding. They may have been cached under a larger limit.
[[nodiscard]] bool is_within(std::uint64_t limit, const bytes::prepared_read_result& reading) noexcept;

}  // namespace hondana::catalog
