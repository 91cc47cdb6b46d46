/// The list of files that a walk builds: compact records, their descriptions, and paging.
#include "sources/files/listing.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "os/disk/file_stamp.hpp"

namespace hondana::files {
namespace {

constexpr std::size_t max_scanned_per_page = 20'000;      // records that a filter may skip for one page
constexpr std::chrono::milliseconds response_margin{20};  // left before a deadline to make the response

bool is_after(const record_block& block, std::size_t index, std::string_view key) {
  return compare_by_segment(block.uri(index), key) == std::strong_ordering::greater;
}

}  // namespace

void block_descriptions::add(const description& description, std::string_view sniffed_type, bytes::active_content active) {
  constexpr std::uint32_t size_mask = 0x3FFF;  // several times as long as what `describe` returns
  items_.push_back(
      {sniffed_type, static_cast<std::uint32_t>(text_.size()), static_cast<std::uint32_t>(description.title.size()) & size_mask,
       static_cast<std::uint32_t>(description.summary.size()) & size_mask, static_cast<std::uint32_t>(active) & 0xF});
  (text_ += description.title) += description.summary;
}

description block_descriptions::at(std::size_t index) const {
  const auto& item = items_[index];
  return {text_.substr(item.offset, item.title_size), text_.substr(item.offset + item.title_size, item.summary_size)};
}

record make_record(const struct stat& attributes, std::int64_t checked_at) {
  const auto stamp = disk::stamp_of(attributes);
  return {0,
          0,
          static_cast<std::uint16_t>(attributes.st_mode),
          stamp.size,
          stamp.modified,
          is_racy(stamp, checked_at) ? bytes::digest{} : digest_of(stamp)};
}

void record_block::add(std::string_view path, const struct stat& attributes, std::int64_t checked_at) {
  auto record = make_record(attributes, checked_at);
  record.path_offset = static_cast<std::uint32_t>(paths_.size());
  record.path_size = static_cast<std::uint16_t>(path.size());
  records_.push_back(record);
  paths_ += path;
}

void record_block::add(const record_block& source, std::size_t index) {
  auto record = source.records_[index];
  const auto path = source.path(index);
  record.path_offset = static_cast<std::uint32_t>(paths_.size());
  records_.push_back(record);
  paths_ += path;
}

void record_block::set_descriptions(std::unique_ptr<const block_descriptions> descriptions) noexcept {
  const block_descriptions* expected = nullptr;
  if (descriptions_.compare_exchange_strong(expected, descriptions.get(), std::memory_order_acq_rel))
    static_cast<void>(descriptions.release());
}

void listing::append(std::shared_ptr<record_block> block) {
  {
    const std::lock_guard lock(mutex_);
    size_.fetch_add(block->size(), std::memory_order_relaxed);
    blocks_.push_back(std::move(block));
  }
  changed_.notify_all();
}

void listing::finish() {
  {
    const std::lock_guard lock(mutex_);
    blocks_.shrink_to_fit();
    is_complete_.store(true, std::memory_order_release);
  }
  changed_.notify_all();
}

void listing::abandon() {
  {
    const std::lock_guard lock(mutex_);
    is_abandoned_ = true;
  }
  changed_.notify_all();
}

std::unique_lock<std::mutex> listing::lock_unless_complete() const {
  return is_complete() ? std::unique_lock<std::mutex>(mutex_, std::defer_lock) : std::unique_lock<std::mutex>(mutex_);
}

listing::position listing::position_after(std::string_view key) const {
  if (key.empty()) return {0, 0};
  // The last block that begins at or before the key contains the position where later entries begin.
  const auto next = std::partition_point(blocks_.begin(), blocks_.end(), [key](const std::shared_ptr<record_block>& candidate) {
    return !is_after(*candidate, 0, key);
  });
  if (next == blocks_.begin()) return {0, 0};
  const auto& block = **std::prev(next);
  std::size_t low = 1;
  std::size_t high = block.size();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (is_after(block, middle, key)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return {static_cast<std::size_t>(std::prev(next) - blocks_.begin()), low};
}

listing::position listing::normalize(position cursor) const noexcept {
  return cursor.block < blocks_.size() && cursor.index == blocks_[cursor.block]->size() ? position{cursor.block + 1, 0}
                                                                                        : cursor;
}

std::pair<listing::position, listing::position> listing::covered_by(std::string_view key, bool is_entry_only) const {
  auto begin = position_after(key);
  auto previous = begin;
  if (previous.index == 0 && previous.block > 0) previous = {previous.block - 1, blocks_[previous.block - 1]->size()};
  if (previous.index > 0 && blocks_[previous.block]->uri(previous.index - 1) == key)
    begin = {previous.block, previous.index - 1};
  begin = normalize(begin);
  auto end = begin;
  if (is_entry_only) {
    const bool exists = begin.block < blocks_.size() && blocks_[begin.block]->uri(begin.index) == key;
    return {begin, exists ? normalize({begin.block, begin.index + 1}) : begin};
  }
  while (end.block < blocks_.size()) {
    const auto& block = *blocks_[end.block];
    // Covered records are contiguous, so a block is skipped as a whole if its last record is covered.
    if (end.index == 0 && uri_covers(key, block.uri(block.size() - 1))) {
      ++end.block;
      continue;
    }
    if (!uri_covers(key, block.uri(end.index))) break;
    end = normalize({end.block, end.index + 1});
  }
  return {begin, end};
}

namespace {

/// Packs records into blocks, so that repeated updates of a listing do not leave ever smaller ones.
class block_packer {
 public:
  explicit block_packer(listing& target) : target_(target) {}

  void add(const std::shared_ptr<record_block>& block) {
    if (open_block_ && (&open_block_->root() != &block->root() || open_block_->size() + block->size() > record_block::capacity))
      flush();
    if (!open_block_) return target_.append(block);
    for (std::size_t i = 0; i < block->size(); ++i) open_block_->add(*block, i);
  }
  void add(const std::shared_ptr<record_block>& source, std::size_t begin, std::size_t end) {
    if (begin == 0 && end == source->size()) return add(source);
    for (auto i = begin; i < end; ++i) {
      if (open_block_ && (&open_block_->root() != &source->root() || open_block_->size() == record_block::capacity)) flush();
      if (!open_block_) open_block_ = std::make_shared<record_block>(source->root_pointer());
      open_block_->add(*source, i);
    }
  }
  void flush() {
    if (open_block_) target_.append(std::move(open_block_));
    open_block_ = nullptr;
  }

 private:
  listing& target_;
  std::shared_ptr<record_block> open_block_;
};

}  // namespace

std::shared_ptr<listing> listing::with_replaced(const std::vector<subtree>& subtrees) const {
  auto updated = std::make_shared<listing>();
  block_packer packer(*updated);
  const auto copy = [&](position begin, position end) {
    for (auto cursor = begin; cursor.block < end.block; cursor = {cursor.block + 1, 0})
      packer.add(blocks_[cursor.block], cursor.index, blocks_[cursor.block]->size());
    const auto first = begin.block == end.block ? begin.index : 0;
    if (end.index > first) packer.add(blocks_[end.block], first, end.index);
  };
  position copied_to{0, 0};
  for (const auto& subtree : subtrees) {
    const auto [begin, end] = covered_by(subtree.root->uri_of(subtree.path), subtree.is_entry_only);
    copy(copied_to, begin);
    for (const auto& block : subtree.blocks) packer.add(block);
    copied_to = end;
  }
  copy(copied_to, {blocks_.size(), 0});
  packer.flush();
  updated->finish();
  return updated;
}

bool listing::has_same_names(const listing& other) const {
  if (size() != other.size()) return false;
  position left{0, 0};
  position right{0, 0};
  while (left.block < blocks_.size()) {
    const auto& left_block = *blocks_[left.block];
    const auto& right_block = *other.blocks_[right.block];
    if (&left_block == &right_block && left.index == 0 && right.index == 0) {
      ++left.block;
      ++right.block;
      continue;
    }
    if (&left_block.root() != &right_block.root() || left_block.path(left.index) != right_block.path(right.index)) return false;
    left = normalize({left.block, left.index + 1});
    right = other.normalize({right.block, right.index + 1});
  }
  return true;
}

result<record_page> listing::page(const std::string& after_key, std::size_t limit, const request_context& context) const {
  const auto deadline =
      context.deadline == std::chrono::steady_clock::time_point::max() ? context.deadline : context.deadline - response_margin;
  auto lock = lock_unless_complete();
  auto cursor = position_after(after_key);
  record_page page;
  std::size_t scanned = 0;
  std::optional<std::string> last_uri;
  while (page.records.size() < limit && scanned < max_scanned_per_page) {
    if (cursor.block < blocks_.size() && cursor.index == blocks_[cursor.block]->size()) cursor = {cursor.block + 1, 0};
    if (cursor.block == blocks_.size()) {
      if (is_complete()) return page;
      const bool is_ready = monotonic_clock::wait_until(changed_, lock, context.stop, deadline, [&] {
        return is_abandoned_ || cursor.block < blocks_.size() || is_complete();
      });
      if (context.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
      if (is_abandoned_) {
        return fail(errc::source_unavailable, "The files could not be listed, because indexing failed. Retry later.");
      }
      if (!is_ready) break;
      if (!last_uri) cursor = position_after(after_key);  // new entries may still be before the key
      continue;
    }
    const auto& block = blocks_[cursor.block];
    ++scanned;
    if (!context.caller.access_filter || context.caller.access_filter->may_see(block->uri(cursor.index)))
      page.records.push_back({block, cursor.index});
    last_uri = block->uri(cursor.index++);
  }
  const bool is_at_end =
      cursor.block == blocks_.size() || (cursor.block + 1 == blocks_.size() && cursor.index == blocks_[cursor.block]->size());
  if (!is_at_end || !is_complete()) page.next_key = last_uri.value_or(after_key);
  return page;
}

bool listing::wait_until_complete(std::chrono::steady_clock::time_point deadline, const request_context& context) const {
  auto lock = lock_unless_complete();
  return is_complete() ||
         (monotonic_clock::wait_until(changed_, lock, context.stop, deadline, [&] { return is_abandoned_ || is_complete(); }) &&
          is_complete());
}

std::optional<record_ref> listing::find(std::string_view uri) const {
  const auto lock = lock_unless_complete();
  auto cursor = position_after(uri);
  if (cursor.index == 0) {
    if (cursor.block == 0) return std::nullopt;
    cursor = {cursor.block - 1, blocks_[cursor.block - 1]->size()};
  }
  const auto& block = blocks_[cursor.block];
  if (block->uri(cursor.index - 1) != uri) return std::nullopt;
  return record_ref{block, cursor.index - 1};
}

std::shared_ptr<record_block> listing::block_at(std::size_t index) const {
  const auto lock = lock_unless_complete();
  return index < blocks_.size() ? blocks_[index] : nullptr;
}

}  // namespace hondana::files
