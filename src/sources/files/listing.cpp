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

constexpr std::size_t scan_per_page = 20'000;    // records that a filter may skip for one page
constexpr std::chrono::milliseconds margin{20};  // left before a deadline to make the response

bool is_after(const block& in, std::size_t index, std::string_view key) {
  return compare_by_segment(in.uri(index), key) == std::strong_ordering::greater;
}

}  // namespace

void block_descriptions::add(const description& what, std::string_view sniffed_type, bytes::active found) {
  constexpr std::uint32_t most = 0x3FFF;  // several times as long as what `describe` returns
  items_.push_back({sniffed_type, static_cast<std::uint32_t>(text_.size()),
                    static_cast<std::uint32_t>(what.title.size()) & most,
                    static_cast<std::uint32_t>(what.summary.size()) & most, static_cast<std::uint32_t>(found) & 0xF});
  (text_ += what.title) += what.summary;
}

description block_descriptions::at(std::size_t index) const {
  const auto& of = items_[index];
  return {text_.substr(of.at, of.title_size), text_.substr(of.at + of.title_size, of.summary_size)};
}

record record_of(const struct stat& facts, std::int64_t looked_at) {
  const auto state = disk::stamp_of(facts);
  return {0,
          0,
          static_cast<std::uint16_t>(facts.st_mode),
          state.size,
          state.modified,
          is_racy(state, looked_at) ? bytes::digest{} : digest_of(state)};
}

void block::add(std::string_view path, const struct stat& facts, std::int64_t looked_at) {
  auto made = record_of(facts, looked_at);
  made.path_at = static_cast<std::uint32_t>(paths_.size());
  made.path_size = static_cast<std::uint16_t>(path.size());
  records_.push_back(made);
  paths_ += path;
}

void block::add(const block& from, std::size_t index) {
  auto made = from.records_[index];
  const auto path = from.path(index);
  made.path_at = static_cast<std::uint32_t>(paths_.size());
  records_.push_back(made);
  paths_ += path;
}

void block::describe(std::unique_ptr<const block_descriptions> what) noexcept {
  const block_descriptions* none = nullptr;
  if (descriptions_.compare_exchange_strong(none, what.get(), std::memory_order_acq_rel)) static_cast<void>(what.release());
}

void listing::append(std::shared_ptr<block> next) {
  {
    const std::lock_guard lock(mutex_);
    size_.fetch_add(next->size(), std::memory_order_relaxed);
    blocks_.push_back(std::move(next));
  }
  grew_.notify_all();
}

void listing::finish() {
  {
    const std::lock_guard lock(mutex_);
    blocks_.shrink_to_fit();
    whole_.store(true, std::memory_order_release);
  }
  grew_.notify_all();
}

void listing::abandon() {
  {
    const std::lock_guard lock(mutex_);
    is_abandoned_ = true;
  }
  grew_.notify_all();
}

std::unique_lock<std::mutex> listing::lock_unless_whole() const {
  return is_whole() ? std::unique_lock<std::mutex>(mutex_, std::defer_lock) : std::unique_lock<std::mutex>(mutex_);
}

listing::position listing::after(std::string_view key) const {
  if (key.empty()) return {0, 0};
  // The last block that begins at or before the key contains the position where later entries begin.
  const auto next = std::partition_point(blocks_.begin(), blocks_.end(),
                                         [key](const std::shared_ptr<block>& one) { return !is_after(*one, 0, key); });
  if (next == blocks_.begin()) return {0, 0};
  const auto& in = **std::prev(next);
  std::size_t low = 1;
  std::size_t high = in.size();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (is_after(in, middle, key)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return {static_cast<std::size_t>(std::prev(next) - blocks_.begin()), low};
}

listing::position listing::normal(position at) const noexcept {
  return at.block < blocks_.size() && at.index == blocks_[at.block]->size() ? position{at.block + 1, 0} : at;
}

std::pair<listing::position, listing::position> listing::covered_by(std::string_view key, bool is_alone) const {
  auto begin = after(key);
  auto before = begin;
  if (before.index == 0 && before.block > 0) before = {before.block - 1, blocks_[before.block - 1]->size()};
  if (before.index > 0 && blocks_[before.block]->uri(before.index - 1) == key) begin = {before.block, before.index - 1};
  begin = normal(begin);
  auto end = begin;
  if (is_alone) {
    const bool is_there = begin.block < blocks_.size() && blocks_[begin.block]->uri(begin.index) == key;
    return {begin, is_there ? normal({begin.block, begin.index + 1}) : begin};
  }
  while (end.block < blocks_.size()) {
    const auto& in = *blocks_[end.block];
    // Covered records are contiguous, so a block is skipped as a whole if its last record is covered.
    if (end.index == 0 && covers(key, in.uri(in.size() - 1))) {
      ++end.block;
      continue;
    }
    if (!covers(key, in.uri(end.index))) break;
    end = normal({end.block, end.index + 1});
  }
  return {begin, end};
}

namespace {

/// Packs records into blocks, so that repeated updates of a listing do not leave ever smaller ones.
class packer {
 public:
  explicit packer(listing& into) : into_(into) {}

  void add(const std::shared_ptr<block>& whole) {
    if (open_ && (&open_->of() != &whole->of() || open_->size() + whole->size() > block::capacity)) flush();
    if (!open_) return into_.append(whole);
    for (std::size_t i = 0; i < whole->size(); ++i) open_->add(*whole, i);
  }
  void add(const std::shared_ptr<block>& from, std::size_t begin, std::size_t end) {
    if (begin == 0 && end == from->size()) return add(from);
    for (auto i = begin; i < end; ++i) {
      if (open_ && (&open_->of() != &from->of() || open_->size() == block::capacity)) flush();
      if (!open_) open_ = std::make_shared<block>(from->root_pointer());
      open_->add(*from, i);
    }
  }
  void flush() {
    if (open_) into_.append(std::move(open_));
    open_ = nullptr;
  }

 private:
  listing& into_;
  std::shared_ptr<block> open_;
};

}  // namespace

std::shared_ptr<listing> listing::with(const std::vector<stretch>& instead) const {
  auto mended = std::make_shared<listing>();
  packer into(*mended);
  const auto copy = [&](position from, position to) {
    for (auto at = from; at.block < to.block; at = {at.block + 1, 0})
      into.add(blocks_[at.block], at.index, blocks_[at.block]->size());
    const auto first = from.block == to.block ? from.index : 0;
    if (to.index > first) into.add(blocks_[to.block], first, to.index);
  };
  position here{0, 0};
  for (const auto& one : instead) {
    const auto [begin, end] = covered_by(one.of->uri_of(one.path), one.is_alone);
    copy(here, begin);
    for (const auto& found : one.found) into.add(found);
    here = end;
  }
  copy(here, {blocks_.size(), 0});
  into.flush();
  mended->finish();
  return mended;
}

bool listing::has_same_names(const listing& other) const {
  if (size() != other.size()) return false;
  position mine{0, 0};
  position theirs{0, 0};
  while (mine.block < blocks_.size()) {
    const auto& in = *blocks_[mine.block];
    const auto& there = *other.blocks_[theirs.block];
    if (&in == &there && mine.index == 0 && theirs.index == 0) {
      ++mine.block;
      ++theirs.block;
      continue;
    }
    if (&in.of() != &there.of() || in.path(mine.index) != there.path(theirs.index)) return false;
    mine = normal({mine.block, mine.index + 1});
    theirs = other.normal({theirs.block, theirs.index + 1});
  }
  return true;
}

result<place_page> listing::page(const std::string& key, std::size_t limit, const call& by) const {
  const auto until = by.deadline == std::chrono::steady_clock::time_point::max() ? by.deadline : by.deadline - margin;
  auto lock = lock_unless_whole();
  auto at = after(key);
  place_page page;
  std::size_t passed = 0;
  std::optional<std::string> last;
  while (page.places.size() < limit && passed < scan_per_page) {
    if (at.block < blocks_.size() && at.index == blocks_[at.block]->size()) at = {at.block + 1, 0};
    if (at.block == blocks_.size()) {
      if (is_whole()) return page;
      const bool grew = monotonic_clock::wait_until(grew_, lock, by.stop, until,
                                                    [&] { return is_abandoned_ || at.block < blocks_.size() || is_whole(); });
      if (by.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
      if (is_abandoned_) {
        return fail(errc::source_unavailable, "The files could not be listed, because indexing failed. Retry later.");
      }
      if (!grew) break;
      if (!last) at = after(key);  // new entries may still be before the key
      continue;
    }
    const auto& in = blocks_[at.block];
    ++passed;
    if (!by.who.view || by.who.view->may_see(in->uri(at.index))) page.places.push_back({in, at.index});
    last = in->uri(at.index++);
  }
  const bool at_end = at.block == blocks_.size() || (at.block + 1 == blocks_.size() && at.index == blocks_[at.block]->size());
  if (!at_end || !is_whole()) page.resume = last.value_or(key);
  return page;
}

bool listing::await_whole(std::chrono::steady_clock::time_point until, const call& by) const {
  auto lock = lock_unless_whole();
  return is_whole() ||
         (monotonic_clock::wait_until(grew_, lock, by.stop, until, [&] { return is_abandoned_ || is_whole(); }) && is_whole());
}

std::optional<place> listing::find(std::string_view uri) const {
  const auto lock = lock_unless_whole();
  auto at = after(uri);
  if (at.index == 0) {
    if (at.block == 0) return std::nullopt;
    at = {at.block - 1, blocks_[at.block - 1]->size()};
  }
  const auto& in = blocks_[at.block];
  if (in->uri(at.index - 1) != uri) return std::nullopt;
  return place{in, at.index - 1};
}

std::shared_ptr<block> listing::block_at(std::size_t index) const {
  const auto lock = lock_unless_whole();
  return index < blocks_.size() ? blocks_[index] : nullptr;
}

}  // namespace hondana::files
