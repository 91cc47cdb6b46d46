/// Large immutable sets of entries, packed as bytes: pages, folders, and what each view can see of them.
#include "protocol/model/entry_snapshot.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/snapshot.hpp>
#include <hondana/uri.hpp>

namespace hondana::model {
namespace {

/// Which fields follow; absent fields are empty.
enum field : std::uint64_t {
  has_title = 1u << 0,
  has_description = 1u << 1,
  has_mime_type = 1u << 2,
  has_size = 1u << 3,
  has_audience = 1u << 4,
  has_priority = 1u << 5,
  has_last_modified = 1u << 6,
  has_icons = 1u << 7,
  has_kind = 1u << 8,
  has_version = 1u << 9,
  has_metadata = 1u << 10,
};

void put_number(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(0x80 | (value & 0x7F)));
  out.push_back(static_cast<char>(value));
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

template <class T>
void put_raw(std::string& out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void put_icons(std::string& out, const std::vector<icon>& icons) {
  put_number(out, icons.size());
  for (const auto& one : icons) {
    put_text(out, one.src);
    put_text(out, one.mimeType);
    put_number(out, one.sizes.size());
    for (const auto& size : one.sizes) put_text(out, size);
    put_text(out, one.theme);
  }
}

void put_metadata(std::string& out, const metadata& facts) {
  put_number(out, facts.size());
  for (const auto& [name, value] : facts) {
    put_text(out, name);
    put_number(out, value.index());
    std::visit(
        [&out](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::string>) {
            put_text(out, held);
          } else {
            put_raw(out, held);
          }
        },
        value);
  }
}

/// Reads what the functions above write.
class unpacker {
 public:
  explicit unpacker(std::string_view bytes) noexcept : rest_(bytes) {}

  std::uint64_t number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }

  std::string_view text() noexcept {
    const auto size = number();
    const auto found = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return found;
  }

  template <class T>
  T raw() noexcept {
    T value;
    std::memcpy(&value, rest_.data(), sizeof(T));
    rest_.remove_prefix(sizeof(T));
    return value;
  }

  std::vector<role> roles() {
    std::vector<role> found(number());
    for (auto& one : found) one = raw<role>();
    return found;
  }

  std::vector<icon> icons() {
    std::vector<icon> found(number());
    for (auto& one : found) {
      one.src = text();
      one.mimeType = text();
      one.sizes.resize(number());
      for (auto& size : one.sizes) size = text();
      one.theme = text();
    }
    return found;
  }

  metadata facts() {
    metadata found(number());
    for (auto& [name, value] : found) {
      name = text();
      switch (number()) {
        case 0:
          value = raw<bool>();
          break;
        case 1:
          value = raw<std::int64_t>();
          break;
        case 2:
          value = raw<double>();
          break;
        default:
          value = std::string(text());
      }
    }
    return found;
  }

 private:
  std::string_view rest_;
};

std::uint64_t mask_of(const resource& entry) {
  std::uint64_t mask = 0;
  const auto mark = [&mask](field which, bool present) {
    if (present) mask |= which;
  };
  mark(has_title, !entry.title.empty());
  mark(has_description, !entry.description.empty());
  mark(has_mime_type, !entry.mimeType.empty());
  mark(has_size, entry.size.has_value());
  mark(has_audience, !entry.annotations.audience.empty());
  mark(has_priority, entry.annotations.priority.has_value());
  mark(has_last_modified, entry.annotations.lastModified.has_value());
  mark(has_icons, !entry.icons.empty());
  mark(has_kind, !entry.kind.empty());
  mark(has_version, !entry.version.empty());
  mark(has_metadata, !entry.metadata.empty());
  return mask;
}

}  // namespace

void pack(std::string& arena, const resource& entry) {
  static_assert(std::variant_size_v<metadata_value> == 4 &&
                std::is_same_v<std::variant_alternative_t<3, metadata_value>, std::string>);
  put_text(arena, entry.uri);
  put_text(arena, entry.name);
  const auto mask = mask_of(entry);
  put_number(arena, mask);
  if (mask & has_title) put_text(arena, entry.title);
  if (mask & has_description) put_text(arena, entry.description);
  if (mask & has_mime_type) put_text(arena, entry.mimeType);
  if (mask & has_size) put_number(arena, *entry.size);
  if (mask & has_audience) {
    put_number(arena, entry.annotations.audience.size());
    for (const auto one : entry.annotations.audience) put_raw(arena, one);
  }
  if (mask & has_priority) put_raw(arena, *entry.annotations.priority);
  if (mask & has_last_modified) put_raw<std::int64_t>(arena, entry.annotations.lastModified->time_since_epoch().count());
  if (mask & has_icons) put_icons(arena, entry.icons);
  if (mask & has_kind) put_text(arena, entry.kind);
  if (mask & has_version) put_text(arena, entry.version);
  if (mask & has_metadata) put_metadata(arena, entry.metadata);
}

resource unpack(std::string_view packed) {
  unpacker from(packed);
  resource entry;
  entry.uri = from.text();
  entry.name = from.text();
  const auto mask = from.number();
  if (mask & has_title) entry.title = from.text();
  if (mask & has_description) entry.description = from.text();
  if (mask & has_mime_type) entry.mimeType = from.text();
  if (mask & has_size) entry.size = from.number();
  if (mask & has_audience) entry.annotations.audience = from.roles();
  if (mask & has_priority) entry.annotations.priority = from.raw<double>();
  if (mask & has_last_modified) {
    entry.annotations.lastModified =
        std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(from.raw<std::int64_t>()));
  }
  if (mask & has_icons) entry.icons = from.icons();
  if (mask & has_kind) entry.kind = from.text();
  if (mask & has_version) entry.version = from.text();
  if (mask & has_metadata) entry.metadata = from.facts();
  return entry;
}

std::string_view packed_uri(std::string_view packed) noexcept { return unpacker(packed).text(); }

/// Two bits per entry for one view: whether the decision is known, and whether the entry is visible.
///
/// Threads: any, without a lock. Decisions are deterministic, so two threads that decide the same entry agree.
class visibility {
 public:
  enum class sight : std::uint8_t { unknown, hidden, visible };

  explicit visibility(std::size_t entries);

  [[nodiscard]] sight at(std::size_t index) const noexcept;
  void remember(std::size_t index, bool is_visible) noexcept;
  /// The first position from `index` on that is not known to be hidden; `entries` when there is none. Skips 64 entries at a
  /// time.
  [[nodiscard]] std::size_t skip_hidden(std::size_t index) const noexcept;

 private:
  struct word {
    std::atomic<std::uint64_t> known{0};
    std::atomic<std::uint64_t> visible{0};
  };
  std::size_t entries_;
  std::vector<word> words_;
};

/// The visibilities of the views used last, at most sixteen. Threads: any.
class visibility_table {
 public:
  explicit visibility_table(std::size_t entries) : entries_(entries) {}

  /// The known decisions for `through`. A new view replaces the least recently used one.
  [[nodiscard]] std::shared_ptr<visibility> of(const std::shared_ptr<const view>& through);

 private:
  struct row {
    std::weak_ptr<const view> owner;  // detects that a new view reuses the address of a destroyed one
    const view* address = nullptr;
    std::uint64_t id = 0;
    std::shared_ptr<visibility> seen;
  };
  std::size_t entries_;
  std::mutex mutex_;
  std::vector<row> rows_;  // most recently used last
};

namespace {

constexpr std::size_t word_bits = 64;
constexpr std::size_t views_kept = 16;

}  // namespace

visibility::visibility(std::size_t entries) : entries_(entries), words_((entries + word_bits - 1) / word_bits) {}

visibility::sight visibility::at(std::size_t index) const noexcept {
  const auto& place = words_[index / word_bits];
  const auto bit = std::uint64_t{1} << (index % word_bits);
  if ((place.known.load(std::memory_order_acquire) & bit) == 0) return sight::unknown;
  return (place.visible.load(std::memory_order_relaxed) & bit) != 0 ? sight::visible : sight::hidden;
}

void visibility::remember(std::size_t index, bool is_visible) noexcept {
  auto& place = words_[index / word_bits];
  const auto bit = std::uint64_t{1} << (index % word_bits);
  if (is_visible) place.visible.fetch_or(bit, std::memory_order_relaxed);
  place.known.fetch_or(bit, std::memory_order_release);
}

std::size_t visibility::skip_hidden(std::size_t index) const noexcept {
  while (index < entries_) {
    const auto& place = words_[index / word_bits];
    const auto known = place.known.load(std::memory_order_acquire);
    const auto hidden = known & ~place.visible.load(std::memory_order_relaxed);
    const auto run = static_cast<std::size_t>(std::countr_one(hidden >> (index % word_bits)));
    const auto left_in_word = word_bits - index % word_bits;
    if (run < left_in_word) return std::min(index + run, entries_);
    index += left_in_word;
  }
  return entries_;
}

std::shared_ptr<visibility> visibility_table::of(const std::shared_ptr<const view>& through) {
  const auto id = through->id();
  const std::lock_guard lock(mutex_);
  const auto is_same = [&](const row& one) {
    return one.address == through.get() && one.id == id && !one.owner.owner_before(through) && !through.owner_before(one.owner);
  };
  const auto place = std::find_if(rows_.begin(), rows_.end(), is_same);
  if (place != rows_.end()) {
    std::rotate(place, place + 1, rows_.end());
    return rows_.back().seen;
  }
  if (rows_.size() == views_kept) rows_.erase(rows_.begin());
  rows_.push_back({through, through.get(), id, std::make_shared<visibility>(entries_)});
  return rows_.back().seen;
}

}  // namespace hondana::model

namespace hondana::inline v0 {
namespace {

/// The maximum number of new decisions that a view makes for one page.
constexpr std::size_t decisions_a_page = 10'000;

/// The positions of `entries` in segment order. Of entries with the same URI, only the last one is included.
std::vector<std::size_t> ordered(const std::vector<resource>& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&entries](std::size_t a, std::size_t b) {
    const auto by_uri = compare_by_segment(entries[a].uri, entries[b].uri);
    return std::is_eq(by_uri) ? a > b : std::is_lt(by_uri);
  });
  const auto same = [&entries](std::size_t a, std::size_t b) { return entries[a].uri == entries[b].uri; };
  order.erase(std::unique(order.begin(), order.end(), same), order.end());
  return order;
}

}  // namespace

struct entry_snapshot::packed {
  std::string arena;
  std::vector<std::uint64_t> offsets;
  model::visibility_table seen;

  explicit packed(const std::vector<resource>& entries, const std::vector<std::size_t>& order) : seen(order.size()) {
    offsets.reserve(order.size());
    for (const auto index : order) {
      offsets.push_back(arena.size());
      model::pack(arena, entries[index]);
    }
    arena.shrink_to_fit();
  }

  [[nodiscard]] std::string_view bytes_at(std::size_t index) const noexcept {
    return std::string_view(arena).substr(offsets[index]);
  }
  [[nodiscard]] std::string_view uri_at(std::size_t index) const noexcept { return model::packed_uri(bytes_at(index)); }
};

entry_snapshot::entry_snapshot(std::vector<resource> entries) : packed_(std::make_unique<packed>(entries, ordered(entries))) {}
entry_snapshot::~entry_snapshot() = default;

std::size_t entry_snapshot::size() const noexcept { return packed_->offsets.size(); }

resource entry_snapshot::at(std::size_t index) const { return model::unpack(packed_->bytes_at(index)); }

std::size_t entry_snapshot::upper_bound(std::string_view key) const noexcept {
  std::size_t low = 0;
  std::size_t high = size();
  while (low < high) {
    const auto middle = low + (high - low) / 2;
    if (std::is_gt(compare_by_segment(packed_->uri_at(middle), key))) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::optional<resource> entry_snapshot::find(std::string_view uri) const {
  const auto after = upper_bound(uri);
  if (after == 0 || packed_->uri_at(after - 1) != uri) return {};
  return at(after - 1);
}

list_result entry_snapshot::page(const list_request& request) const {
  list_result found;
  auto index = request.after.empty() ? 0 : upper_bound(request.after);
  if (request.limit == 0) {
    if (index < size()) found.resume = request.after;
    return found;
  }
  const auto seen = request.who.view ? packed_->seen.of(request.who.view) : nullptr;
  std::size_t decisions = 0;
  // The entry before `index` is the last one examined. A page that stops early resumes after it.
  while (found.entries.size() < request.limit) {
    if (seen) index = seen->skip_hidden(index);
    if (index == size()) return found;
    if (seen && seen->at(index) == model::visibility::sight::unknown) {
      if (decisions == decisions_a_page) break;
      ++decisions;
      const bool is_visible = request.who.view->may_see(packed_->uri_at(index));
      seen->remember(index, is_visible);
      if (!is_visible) {
        ++index;
        continue;
      }
    }
    found.entries.push_back(at(index));
    ++index;
  }
  if (index < size()) found.resume = std::string(packed_->uri_at(index - 1));
  return found;
}

list_result entry_snapshot::children(const children_request& request) const {
  const auto folder = model::folder_prefix(request.uri);
  list_result found;
  auto index = upper_bound(request.after.empty() ? folder : request.after);
  std::string last = request.after;
  for (std::size_t looks = 0; index < size(); ++looks) {
    const auto uri = packed_->uri_at(index);
    if (!uri.starts_with(folder)) return found;
    if (found.entries.size() == request.limit || looks == decisions_a_page) {
      found.resume = std::move(last);
      return found;
    }
    const auto child = model::child_of(folder, uri);
    const bool is_visible = !request.who.view || request.who.view->may_see(child);
    if (child.size() == uri.size() && is_visible) found.entries.push_back(at(index));
    last = child;
    index = upper_bound(model::end_of_subtree(child));
  }
  return found;
}

}  // namespace hondana::inline v0
