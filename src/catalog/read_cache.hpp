/// Contents that were read before, for reads of what has not changed since.
#pragma once

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
#include <hondana/server.hpp>

#include "bytes/prepare.hpp"

namespace hondana::catalog {

/// Keeps what the last reads gave, by bytes; the least recently used go first.
///
/// It answers nothing by itself: a source is asked at every read whether the version that is kept still holds, and what is kept
/// is sent only when it does. So there is nothing to be told of changes, and it is never older than what the source itself
/// takes for unmodified. Contents are kept unencoded, checked and with their form decided: all codecs write the same ones, and
/// writing them costs about as much as copying. Threads: any.
class read_cache {
 public:
  /// Whose contents: those of a resource with its parameters, as one source answers them to callers with one view.
  struct key {
    std::uint64_t source = 0;             ///< `source::id`.
    std::string uri;                      ///< Canonical, with query and fragment.
    std::string asked_uri;                ///< As spelled by the peer: readings may repeat it.
    std::shared_ptr<const view> through;  ///< Kept alive, so that its id is nobody else's.
    friend bool operator==(const key&, const key&) = default;
  };
  using kept = std::shared_ptr<const bytes::prepared_reading>;

  /// Holds at most so many bytes, keys and bookkeeping included, and nothing longer than an eighth of it; 0 holds nothing.
  explicit read_cache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// What is kept; null when nothing is. The caller must have its version confirmed before it sends it.
  [[nodiscard]] kept find(const key& of);
  /// Keeps a copy of the bytes of `what`, in place of what was kept before; not what has no version, a stream in it, or no
  /// room.
  void keep(const key& of, const bytes::prepared_reading& what);
  /// What is kept was confirmed and is sent: a hit.
  void confirmed();
  /// Something had to be read: a miss.
  void missed();
  /// From now on.
  void limit_to(std::size_t most_bytes);
  [[nodiscard]] read_cache_counts counts() const;

 private:
  struct hasher {
    [[nodiscard]] std::size_t operator()(const key& of) const noexcept;
  };
  struct shelf_place {
    kept what;
    std::size_t bytes = 0;
    std::list<const key*>::iterator in_order;
  };
  /// Under the lock: drops the least recently used until no more than `most` bytes are held.
  void shrink_to(std::size_t most);
  void drop(std::unordered_map<key, shelf_place, hasher>::iterator place);

  mutable std::mutex mutex_;
  std::size_t most_bytes_;
  std::unordered_map<key, shelf_place, hasher> places_;
  std::list<const key*> order_;  // of `places_`; the most recently used first
  read_cache_counts counts_;
};

}  // namespace hondana::catalog
