/// The list of files that a walk builds: compact records, their descriptions, and paging.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "base/bytes/digest.hpp"
#include "base/bytes/media_type.hpp"
#include "sources/files/description.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// The stored part of one served entry: about a hundred bytes with its path. The full entry is made when a page needs it.
struct record {
  std::uint32_t path_offset;
  std::uint16_t path_size;
  std::uint16_t mode;  ///< The type bits and permissions of st_mode.
  std::uint64_t size;
  std::int64_t modified;  ///< Nanoseconds since 1970.
  bytes::digest version;  ///< Zero if the file had changed too recently for its stamp to show the next change.

  [[nodiscard]] bool has_version() const noexcept { return version != bytes::digest{}; }
};

/// The record of an entry, without its path. `checked_at`: wall-clock time at or before its state was read.
[[nodiscard]] record make_record(const struct stat& attributes, std::int64_t checked_at);

/// What the second pass found out about the files of a block, packed.
class block_descriptions {
 public:
  /// In the order of the block's records. `sniffed_type` has static lifetime, and is empty if the name determines the type.
  void add(const description& description, std::string_view sniffed_type,
           bytes::active_content active = bytes::active_content::none);

  [[nodiscard]] description at(std::size_t index) const;
  [[nodiscard]] std::string_view sniffed_type(std::size_t index) const noexcept { return items_[index].type; }
  /// The type of active content that a browser would run, judged by the front of the file.
  [[nodiscard]] bytes::active_content active_content(std::size_t index) const noexcept {
    return static_cast<bytes::active_content>(items_[index].active_content);
  }
  [[nodiscard]] std::size_t bytes() const noexcept { return text_.size() + items_.size() * sizeof(item); }

 private:
  struct item {
    std::string_view type;
    std::uint32_t offset;
    std::uint32_t title_size : 14;
    std::uint32_t summary_size : 14;
    std::uint32_t active_content : 4;
  };
  static_assert(sizeof(item) == 24, "there is one for every file");
  std::string text_;
  std::vector<item> items_;
};

/// A run of records of one root. Immutable once it is in a listing, except for its descriptions, which are set once.
class record_block {
 public:
  static constexpr std::size_t capacity = 256;

  explicit record_block(std::shared_ptr<const served_root> root) : root_(std::move(root)) { records_.reserve(capacity); }
  ~record_block() { delete descriptions_.load(std::memory_order_acquire); }
  record_block(const record_block&) = delete;
  record_block& operator=(const record_block&) = delete;

  /// Copies a record from another block of the same root.
  void add(const record_block& source, std::size_t index);
  /// `checked_at`: as for `make_record`.
  void add(std::string_view path, const struct stat& attributes, std::int64_t checked_at);

  [[nodiscard]] const served_root& root() const noexcept { return *root_; }
  [[nodiscard]] const std::shared_ptr<const served_root>& root_pointer() const noexcept { return root_; }
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  [[nodiscard]] const record& at(std::size_t index) const noexcept { return records_[index]; }
  [[nodiscard]] std::string_view path(std::size_t index) const noexcept {
    return std::string_view(paths_).substr(records_[index].path_offset, records_[index].path_size);
  }
  [[nodiscard]] std::string uri(std::size_t index) const { return root_->uri_of(path(index)); }

  /// Null until the second pass has described this block. Threads: any.
  [[nodiscard]] const block_descriptions* descriptions() const noexcept {
    return descriptions_.load(std::memory_order_acquire);
  }
  /// Sets the descriptions. Later calls have no effect. Threads: any.
  void set_descriptions(std::unique_ptr<const block_descriptions> descriptions) noexcept;

 private:
  std::shared_ptr<const served_root> root_;
  std::string paths_;
  std::vector<record> records_;
  std::atomic<const block_descriptions*> descriptions_{nullptr};
};

/// One record of a block.
struct record_ref {
  std::shared_ptr<record_block> block;
  std::size_t index = 0;
};

/// A path with everything below it, walked again; or an entry alone, without its contents.
struct subtree {
  std::shared_ptr<const served_root> root;
  std::string path;
  bool is_entry_only = false;
  std::vector<std::shared_ptr<record_block>> blocks;  ///< In order; empty if nothing exists now.
};

/// A page of records, and the URI after which the next page begins.
struct record_page {
  std::vector<record_ref> records;
  std::optional<std::string> next_key;
};

/// Blocks in the order of their URIs. One thread appends. Any number of threads read, without a lock once the listing is
/// complete.
class listing {
 public:
  void append(std::shared_ptr<record_block> block);
  /// Marks the listing as complete.
  void finish();
  /// Marks the listing as one that will never be complete. Callers that wait for it now or later fail.
  void abandon();

  /// A copy of this listing, which must be complete, with some subtrees replaced. `subtrees` must be in the order of the URIs,
  /// and not nested. Blocks without changes are shared.
  [[nodiscard]] std::shared_ptr<listing> with_replaced(const std::vector<subtree>& subtrees) const;
  /// Whether two complete listings contain the same URIs.
  [[nodiscard]] bool has_same_names(const listing& other) const;

  /// Up to `limit` records after the URI `after_key` (empty: from the start) that the caller's access filter allows. During a
  /// walk it waits for that many. The page is shorter when the deadline is near, or when too many entries were filtered out.
  /// Errors: cancelled; source_unavailable once the listing is abandoned.
  [[nodiscard]] result<record_page> page(const std::string& after_key, std::size_t limit, const request_context& context) const;

  /// Waits until the walk has ended. False if it has not by `deadline`, if it was abandoned, or if `context` is cancelled.
  [[nodiscard]] bool wait_until_complete(std::chrono::steady_clock::time_point deadline, const request_context& context) const;
  /// Calls `visit` with a block and an index in it for everything below a folder, in order, until it returns false. The listing
  /// must be complete.
  template <class Visitor>
  void for_each_below(const served_root& root, std::string_view folder, Visitor&& visit) const {
    const std::string prefix = folder.empty() ? std::string() : std::string(folder) + '/';
    for (auto cursor = normalize(position_after(root.uri_of(folder))); cursor.block < blocks_.size();
         cursor = {cursor.block + 1, 0}) {
      const auto& block = *blocks_[cursor.block];
      for (auto index = cursor.index; index < block.size(); ++index) {
        if (&block.root() != &root || !block.path(index).starts_with(prefix) || !visit(block, index)) return;
      }
    }
  }

  /// The record with exactly this URI.
  [[nodiscard]] std::optional<record_ref> find(std::string_view uri) const;
  /// The block with this index, during or after the walk; null beyond the last.
  [[nodiscard]] std::shared_ptr<record_block> block_at(std::size_t index) const;

  [[nodiscard]] bool is_complete() const noexcept { return is_complete_.load(std::memory_order_acquire); }
  /// The number of records so far.
  [[nodiscard]] std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

 private:
  struct position {
    std::size_t block;
    std::size_t index;
  };
  [[nodiscard]] position position_after(std::string_view key) const;
  /// The first record at or after `key`, and the first one after it that `key` does not cover. `is_entry_only`: `key` covers
  /// only itself.
  [[nodiscard]] std::pair<position, position> covered_by(std::string_view key, bool is_entry_only) const;
  [[nodiscard]] position normalize(position cursor) const noexcept;
  [[nodiscard]] std::unique_lock<std::mutex> lock_unless_complete() const;

  mutable std::mutex mutex_;
  mutable std::condition_variable_any changed_;
  std::vector<std::shared_ptr<record_block>> blocks_;
  std::atomic<std::size_t> size_{0};
  std::atomic<bool> is_complete_{false};
  bool is_abandoned_ = false;
};

}  // namespace hondana::files
