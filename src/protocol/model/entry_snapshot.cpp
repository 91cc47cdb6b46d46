/// Large immutable sets of entries, packed as bytes: pages, folders, and the entries that each access filter lets its callers
/// see.
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

#include <hondana/capabilities.hpp>
#include <hondana/entry_snapshot.hpp>
#include <hondana/provider.hpp>
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
  for (const auto& icon : icons) {
    put_text(out, icon.src);
    put_text(out, icon.mime_type);
    put_number(out, icon.sizes.size());
    for (const auto& size : icon.sizes) put_text(out, size);
    put_text(out, icon.theme);
  }
}

void put_metadata(std::string& out, const metadata& metadata) {
  put_number(out, metadata.size());
  for (const auto& [name, value] : metadata) {
    put_text(out, name);
    put_number(out, value.index());
    std::visit(
        [&out](const auto& alternative) {
          if constexpr (std::is_same_v<std::decay_t<decltype(alternative)>, std::string>) {
            put_text(out, alternative);
          } else {
            put_raw(out, alternative);
          }
        },
        value);
  }
}

/// Reads what the functions above write.
class unpacker {
 public:
  explicit unpacker(std::string_view bytes) noexcept : unread_(bytes) {}

  std::uint64_t number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(unread_.front());
      unread_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
  }

  std::string_view text() noexcept {
    const auto size = number();
    const auto value = unread_.substr(0, size);
    unread_.remove_prefix(size);
    return value;
  }

  template <class T>
  T raw() noexcept {
    T value;
    std::memcpy(&value, unread_.data(), sizeof(T));
    unread_.remove_prefix(sizeof(T));
    return value;
  }

  std::vector<chat_role> roles() {
    std::vector<chat_role> result(number());
    for (auto& entry : result) entry = raw<chat_role>();
    return result;
  }

  std::vector<icon> icons() {
    std::vector<icon> result(number());
    for (auto& icon : result) {
      icon.src = text();
      icon.mime_type = text();
      icon.sizes.resize(number());
      for (auto& size : icon.sizes) size = text();
      icon.theme = text();
    }
    return result;
  }

  metadata entry_metadata() {
    metadata result(number());
    for (auto& [name, value] : result) {
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
    return result;
  }

 private:
  std::string_view unread_;
};

std::uint64_t field_mask(const resource& entry) {
  std::uint64_t mask = 0;
  const auto mark = [&mask](field flag, bool present) {
    if (present) mask |= flag;
  };
  mark(has_title, !entry.title.empty());
  mark(has_description, !entry.description.empty());
  mark(has_mime_type, !entry.mime_type.empty());
  mark(has_size, entry.size.has_value());
  mark(has_audience, !entry.annotations.audience.empty());
  mark(has_priority, entry.annotations.priority.has_value());
  mark(has_last_modified, entry.annotations.last_modified.has_value());
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
  const auto mask = field_mask(entry);
  put_number(arena, mask);
  if (mask & has_title) put_text(arena, entry.title);
  if (mask & has_description) put_text(arena, entry.description);
  if (mask & has_mime_type) put_text(arena, entry.mime_type);
  if (mask & has_size) put_number(arena, *entry.size);
  if (mask & has_audience) {
    put_number(arena, entry.annotations.audience.size());
    for (const auto role : entry.annotations.audience) put_raw(arena, role);
  }
  if (mask & has_priority) put_raw(arena, *entry.annotations.priority);
  if (mask & has_last_modified) put_raw<std::int64_t>(arena, entry.annotations.last_modified->time_since_epoch().count());
  if (mask & has_icons) put_icons(arena, entry.icons);
  if (mask & has_kind) put_text(arena, entry.kind);
  if (mask & has_version) put_text(arena, entry.version);
  if (mask & has_metadata) put_metadata(arena, entry.metadata);
}

resource unpack(std::string_view packed) {
  unpacker reader(packed);
  resource entry;
  entry.uri = reader.text();
  entry.name = reader.text();
  const auto mask = reader.number();
  if (mask & has_title) entry.title = reader.text();
  if (mask & has_description) entry.description = reader.text();
  if (mask & has_mime_type) entry.mime_type = reader.text();
  if (mask & has_size) entry.size = reader.number();
  if (mask & has_audience) entry.annotations.audience = reader.roles();
  if (mask & has_priority) entry.annotations.priority = reader.raw<double>();
  if (mask & has_last_modified) {
    entry.annotations.last_modified =
        std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(reader.raw<std::int64_t>()));
  }
  if (mask & has_icons) entry.icons = reader.icons();
  if (mask & has_kind) entry.kind = reader.text();
  if (mask & has_version) entry.version = reader.text();
  if (mask & has_metadata) entry.metadata = reader.entry_metadata();
  return entry;
}

std::string_view packed_uri(std::string_view packed) noexcept { return unpacker(packed).text(); }

/// Two bits per entry for one access filter: whether the decision is known, and whether the entry is visible.
///
/// Threads: any, without a lock. Decisions are deterministic, so two threads that decide the same entry agree.
class visibility {
 public:
  enum class state : std::uint8_t { unknown, hidden, visible };

  explicit visibility(std::size_t entry_count);

  [[nodiscard]] state state_at(std::size_t index) const noexcept;
  void record(std::size_t index, bool is_visible) noexcept;
  /// The first position from `index` on that is not known to be hidden; `entry_count` when there is none. Skips 64 entries at a
  /// time.
  [[nodiscard]] std::size_t skip_hidden(std::size_t index) const noexcept;

 private:
  struct word {
    std::atomic<std::uint64_t> known{0};
    std::atomic<std::uint64_t> visible{0};
  };
  std::size_t entry_count_;
  std::vector<word> words_;
};

/// The visibilities of the access filters used last, at most sixteen. Threads: any.
class visibility_table {
 public:
  explicit visibility_table(std::size_t entry_count) : entry_count_(entry_count) {}

  /// The known decisions for `filter`. A new filter replaces the least recently used one.
  [[nodiscard]] std::shared_ptr<visibility> find_or_create(const std::shared_ptr<const access_filter>& filter);

 private:
  struct row {
    std::weak_ptr<const access_filter> owner;  // detects that a new filter reuses the address of a destroyed one
    const access_filter* address = nullptr;
    std::uint64_t id = 0;
    std::shared_ptr<visibility> decisions;
  };
  std::size_t entry_count_;
  std::mutex mutex_;
  std::vector<row> rows_;  // most recently used last
};

namespace {

constexpr std::size_t word_bits = 64;
constexpr std::size_t max_views = 16;

}  // namespace

visibility::visibility(std::size_t entry_count)
    : entry_count_(entry_count), words_((entry_count + word_bits - 1) / word_bits) {}

visibility::state visibility::state_at(std::size_t index) const noexcept {
  const auto& bits = words_[index / word_bits];
  const auto bit = std::uint64_t{1} << (index % word_bits);
  if ((bits.known.load(std::memory_order_acquire) & bit) == 0) return state::unknown;
  return (bits.visible.load(std::memory_order_relaxed) & bit) != 0 ? state::visible : state::hidden;
}

void visibility::record(std::size_t index, bool is_visible) noexcept {
  auto& bits = words_[index / word_bits];
  const auto bit = std::uint64_t{1} << (index % word_bits);
  if (is_visible) bits.visible.fetch_or(bit, std::memory_order_relaxed);
  bits.known.fetch_or(bit, std::memory_order_release);
}

std::size_t visibility::skip_hidden(std::size_t index) const noexcept {
  while (index < entry_count_) {
    const auto& bits = words_[index / word_bits];
    const auto known = bits.known.load(std::memory_order_acquire);
    const auto hidden = known & ~bits.visible.load(std::memory_order_relaxed);
    const auto run = static_cast<std::size_t>(std::countr_one(hidden >> (index % word_bits)));
    const auto bits_left = word_bits - index % word_bits;
    if (run < bits_left) return std::min(index + run, entry_count_);
    index += bits_left;
  }
  return entry_count_;
}

std::shared_ptr<visibility> visibility_table::find_or_create(const std::shared_ptr<const access_filter>& filter) {
  const auto id = filter->id();
  const std::lock_guard lock(mutex_);
  const auto is_same = [&](const row& candidate) {
    return candidate.address == filter.get() && candidate.id == id && !candidate.owner.owner_before(filter) &&
           !filter.owner_before(candidate.owner);
  };
  const auto position = std::find_if(rows_.begin(), rows_.end(), is_same);
  if (position != rows_.end()) {
    std::rotate(position, position + 1, rows_.end());
    return rows_.back().decisions;
  }
  if (rows_.size() == max_views) rows_.erase(rows_.begin());
  rows_.push_back({filter, filter.get(), id, std::make_shared<visibility>(entry_count_)});
  return rows_.back().decisions;
}

}  // namespace hondana::model

namespace hondana::inline v0 {
namespace {

/// The maximum number of new decisions that an access filter makes for one page.
constexpr std::size_t max_decisions_per_page = 10'000;

/// The positions of `entries` in segment order. Of entries with the same URI, only the last one is included.
std::vector<std::size_t> sort_order(const std::vector<resource>& entries) {
  std::vector<std::size_t> order(entries.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&entries](std::size_t a, std::size_t b) {
    const auto comparison = compare_by_segment(entries[a].uri, entries[b].uri);
    return std::is_eq(comparison) ? a > b : std::is_lt(comparison);
  });
  const auto is_same_uri = [&entries](std::size_t a, std::size_t b) { return entries[a].uri == entries[b].uri; };
  order.erase(std::unique(order.begin(), order.end(), is_same_uri), order.end());
  return order;
}

}  // namespace

struct entry_snapshot::packed {
  std::string arena;
  std::vector<std::uint64_t> offsets;
  model::visibility_table visibilities;

  explicit packed(const std::vector<resource>& entries, const std::vector<std::size_t>& order) : visibilities(order.size()) {
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

entry_snapshot::entry_snapshot(std::vector<resource> entries)
    : packed_(std::make_unique<packed>(entries, sort_order(entries))) {}
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
  const auto position = upper_bound(uri);
  if (position == 0 || packed_->uri_at(position - 1) != uri) return {};
  return at(position - 1);
}

list_result entry_snapshot::page(const list_request& request) const {
  list_result result;
  auto index = request.after_key.empty() ? 0 : upper_bound(request.after_key);
  if (request.limit == 0) {
    if (index < size()) result.next_key = request.after_key;
    return result;
  }
  const auto decisions =
      request.caller.access_filter ? packed_->visibilities.find_or_create(request.caller.access_filter) : nullptr;
  std::size_t decision_count = 0;
  // The entry before `index` is the last one examined. A page that stops early resumes after it.
  while (result.entries.size() < request.limit) {
    if (decisions) index = decisions->skip_hidden(index);
    if (index == size()) return result;
    if (decisions && decisions->state_at(index) == model::visibility::state::unknown) {
      if (decision_count == max_decisions_per_page) break;
      ++decision_count;
      const bool is_visible = request.caller.access_filter->may_see(packed_->uri_at(index));
      decisions->record(index, is_visible);
      if (!is_visible) {
        ++index;
        continue;
      }
    }
    result.entries.push_back(at(index));
    ++index;
  }
  if (index < size()) result.next_key = std::string(packed_->uri_at(index - 1));
  return result;
}

list_result entry_snapshot::children(const children_request& request) const {
  const auto folder = model::folder_prefix(request.uri);
  list_result result;
  auto index = upper_bound(request.after_key.empty() ? folder : request.after_key);
  std::string last = request.after_key;
  for (std::size_t examined = 0; index < size(); ++examined) {
    const auto uri = packed_->uri_at(index);
    if (!uri.starts_with(folder)) return result;
    if (result.entries.size() == request.limit || examined == max_decisions_per_page) {
      result.next_key = std::move(last);
      return result;
    }
    const auto child = model::child_of(folder, uri);
    const bool is_visible = !request.caller.access_filter || request.caller.access_filter->may_see(child);
    if (child.size() == uri.size() && is_visible) result.entries.push_back(at(index));
    last = child;
    index = upper_bound(model::end_of_subtree(child));
  }
  return result;
}

}  // namespace hondana::inline v0
