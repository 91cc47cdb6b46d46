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

/// The stored part of one served entry, about a hundred bytes with its path. `make_entry` makes the full entry from it.
struct record {
  std::uint32_t path_offset;  ///< In the paths of its block.
  std::uint16_t path_size;    ///< In bytes.
  std::uint16_t mode;         ///< The type bits and permissions of st_mode.
  std::uint64_t size;
  std::int64_t modified;  ///< Nanoseconds since 1970.
  bytes::digest version;  ///< The digest of the stamp. Zero: the stamp was racy (`disk::is_racy`).

  [[nodiscard]] bool has_version() const noexcept { return version != bytes::digest{}; }
};

/// Makes a record without a path. `checked_at`: `disk::wall_clock` from before `attributes` were read.
[[nodiscard]] record make_record(const struct stat& attributes, std::int64_t checked_at);

/// The descriptions of the files of a block, packed.
class block_descriptions {
 public:
  /// Adds the description of the next record of the block. `sniffed_type`: the type by content, with static lifetime; empty if
  /// the name determines the type.
  void add(const description& description, std::string_view sniffed_type,
           bytes::active_content active = bytes::active_content::none);

  [[nodiscard]] description at(std::size_t index) const;
  [[nodiscard]] std::string_view sniffed_type(std::size_t index) const noexcept { return items_[index].type; }
  /// The kind of active content that a browser would run, by the first bytes of the file.
  [[nodiscard]] bytes::active_content active_content(std::size_t index) const noexcept {
    return static_cast<bytes::active_content>(items_[index].active_content);
  }
  /// Memory use in bytes.
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

/// Consecutive records of one root, at most `capacity`. Immutable once it is in a listing, except for its descriptions, which
/// are set once.
class record_block {
 public:
  static constexpr std::size_t capacity = 256;

  explicit record_block(std::shared_ptr<const served_root> root) : root_(std::move(root)) { records_.reserve(capacity); }
  ~record_block() { delete descriptions_.load(std::memory_order_acquire); }
  record_block(const record_block&) = delete;
  record_block& operator=(const record_block&) = delete;

  /// Appends a copy of a record of another block of the same root.
  void add(const record_block& source, std::size_t index);
  /// Appends a record. `checked_at`: as for `make_record`.
  void add(std::string_view path, const struct stat& attributes, std::int64_t checked_at);

  [[nodiscard]] const served_root& root() const noexcept { return *root_; }
  [[nodiscard]] const std::shared_ptr<const served_root>& root_pointer() const noexcept { return root_; }
  [[nodiscard]] std::size_t size() const noexcept { return records_.size(); }
  [[nodiscard]] const record& at(std::size_t index) const noexcept { return records_[index]; }
  [[nodiscard]] std::string_view path(std::size_t index) const noexcept {
    return std::string_view(paths_).substr(records_[index].path_offset, records_[index].path_size);
  }
  [[nodiscard]] std::string uri(std::size_t index) const { return root_->uri_of(path(index)); }

  /// Null until `set_descriptions`. Threads: any.
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

/// A part of a listing that is walked again.
struct subtree {
  std::shared_ptr<const served_root> root;
  std::string path;
  bool is_entry_only = false;                         ///< Only the entry at `path`. False: everything below it, too.
  std::vector<std::shared_ptr<record_block>> blocks;  ///< In order; empty if nothing exists now.
};

/// A page of records.
struct record_page {
  std::vector<record_ref> records;
  std::optional<std::string> next_key;  ///< The `after_key` of the next page; absent: this is the last page.
};

/// The records of all roots, in blocks in the order of their URIs. Threads: one appends, any read at the same time. Reads take
/// no lock once the listing is complete.
class listing {
 public:
  /// The block must not be empty, and all its URIs must come after those of earlier blocks.
  void append(std::shared_ptr<record_block> block);
  /// Marks the listing as complete.
  void finish();
  /// Marks the listing as one that will never be complete, because the walk failed. Callers that wait for more fail.
  void abandon();

  /// A copy of this listing, which must be complete, with some subtrees replaced. `subtrees` must be as `remove_nested` makes
  /// them. Blocks without changes are shared.
  [[nodiscard]] std::shared_ptr<listing> with_replaced(const std::vector<subtree>& subtrees) const;
  /// Whether two complete listings contain the same URIs.
  [[nodiscard]] bool has_same_names(const listing& other) const;

  /// Up to `limit` records after the URI `after_key` (empty: from the start) that the caller's access filter shows by URI.
  /// Waits for that many while the listing grows. The page is shorter when the deadline is near, or after 20,000 records.
  /// Errors: cancelled; source_unavailable once the listing is abandoned.
  [[nodiscard]] result<record_page> page(const std::string& after_key, std::size_t limit, const request_context& context) const;

  /// Waits until the listing is complete, at most until `deadline`. Returns whether it is.
  [[nodiscard]] bool wait_until_complete(std::chrono::steady_clock::time_point deadline, const request_context& context) const;
  /// Calls `visit` with a block and an index in it for each record below a folder, in order, until it returns false. The
  /// listing must be complete.
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

  /// The record with exactly this URI; nothing if there is none.
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
  /// The position of the first record after `key`. The index may be one past the end of the block.
  [[nodiscard]] position position_after(std::string_view key) const;
  /// The first record at or after `key`, and the next one that `key` does not cover (`uri_covers`). `is_entry_only`: `key`
  /// covers only itself.
  [[nodiscard]] std::pair<position, position> covered_by(std::string_view key, bool is_entry_only) const;
  /// Replaces a position at the end of a block by the begin of the next one.
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
