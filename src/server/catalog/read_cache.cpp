/// The read cache: contents, also in encoded form, for repeated reads of unchanged resources.
#include "server/catalog/read_cache.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <variant>

#include "base/json/base64.hpp"
#include "base/json/buffer.hpp"
#include "base/json/escape.hpp"

namespace hondana::catalog {
namespace {

/// Bytes that are counted in `counter` while they exist.
struct counted_string {
  counted_string(std::string text, std::shared_ptr<std::atomic<std::size_t>> counter)
      : bytes(std::move(text)), total(std::move(counter)) {
    total->fetch_add(bytes.size(), std::memory_order_relaxed);
  }
  counted_string(const counted_string&) = delete;
  counted_string& operator=(const counted_string&) = delete;
  ~counted_string() { total->fetch_sub(bytes.size(), std::memory_order_relaxed); }

  const std::string bytes;
  const std::shared_ptr<std::atomic<std::size_t>> total;
};

}  // namespace

shared_bytes encoded_copies::encode(std::string_view content, bool is_text) const {
  // Encodes into a buffer first, so that the cached string has no unused capacity.
  std::string encoded;
  if (is_text) {
    json::buffer buffer;
    buffer.reserve(content.size() + content.size() / 8 + json::escape_capacity);
    json::append_escaped(buffer, content);
    encoded = buffer.view();
  } else {
    encoded.reserve(json::base64_size(content.size()));
    json::append_base64(encoded, content);
  }
  const auto copy = std::make_shared<const counted_string>(std::move(encoded), live_bytes_);
  return {copy, &copy->bytes};
}

namespace {

/// Memory of an item besides contents and URIs: nodes of the map and the list, the validator, and allocation headers.
constexpr std::size_t overhead_bytes = 512;
constexpr std::size_t max_share_divisor = 8;

/// Returns 0 if a content is a stream.
std::size_t content_size(const bytes::prepared_read_result& reading) {
  std::size_t total = reading.version.size();
  for (const auto& content : reading.contents) {
    const auto* data = std::get_if<shared_bytes>(&content.data);
    const auto* encoded = std::get_if<bytes::encoded_content>(&content.data);
    if (data == nullptr && encoded == nullptr) return 0;
    for (const auto& [name, value] : content.metadata) {
      const auto* text = std::get_if<std::string>(&value);
      total += sizeof(metadata::value_type) + name.size() + (text != nullptr ? text->size() : 0);
    }
    total += sizeof content + content.uri.size() + content.name.size() + content.title.size() + content.mime_type.size() +
             (data != nullptr ? (*data)->size() : encoded->json_text->size());
  }
  return total;
}

bool has_large_content(const bytes::prepared_read_result& reading) {
  return std::any_of(reading.contents.begin(), reading.contents.end(), [](const bytes::prepared_content& content) {
    return std::get<shared_bytes>(content.data)->size() > encoded_copies::large_content_bytes;
  });
}

std::size_t encoded_bytes_of(const bytes::prepared_read_result& reading) {
  std::size_t total = 0;
  for (const auto& content : reading.contents) {
    if (const auto* encoded = std::get_if<bytes::encoded_content>(&content.data)) total += encoded->json_text->size();
  }
  return total;
}

}  // namespace

std::size_t read_cache::hasher::operator()(const key_view& key) const noexcept {
  const std::hash<std::string_view> text;
  const auto hash = text(key.uri) * 31 + (key.requested_uri == key.uri ? 0 : text(key.requested_uri));
  const auto filter_id = key.filter != nullptr ? key.filter->id() + 1 : 0;
  return hash * 31 + key.source_id * 0x9E3779B97F4A7C15u + filter_id * 2 + (key.as_bytes ? 1 : 0);
}

read_cache::validated_reading read_cache::find_validated(const key_view& key) {
  const auto index = hasher()(key) % max_published;
  if (const auto record = published_.read(index); record && key_equal()(record->key, key)) {
    record->was_read_again.store(true, std::memory_order_relaxed);
    return record->validated;
  }
  const std::lock_guard lock(mutex_);
  const auto position = slots_.find(key);
  if (position == slots_.end()) return {};
  order_.splice(order_.begin(), order_, position->second.order_position);
  published_.publish(position->second.record, index);
  return position->second.record->validated;
}

void read_cache::revalidate(const cache_key& key, const cached_reading& reading, std::chrono::milliseconds ttl,
                            std::shared_ptr<const cache_validator> validator) {
  std::shared_ptr<const cache_record> previous;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto position = slots_.find(as_view(key));
  if (position == slots_.end() || position->second.record->validated.reading != reading) return;
  order_.splice(order_.begin(), order_, position->second.order_position);
  if (const auto& validated = position->second.record->validated; validated.ttl == ttl && validated.validator == validator)
    return;
  previous = std::exchange(position->second.record, make_record(position->first, {reading, std::move(validator), ttl}));
  published_.replace(previous.get(), position->second.record, hasher()(key) % max_published);
}

std::shared_ptr<const read_cache::cache_record> read_cache::make_record(std::shared_ptr<const cache_key> key,
                                                                        validated_reading validated) {
  auto record = std::make_shared<cache_record>();
  record->key = std::move(key);
  record->validated = std::move(validated);
  return record;
}

/// Copies the bytes, because the source may lend its own and need them back.
read_cache::cached_reading read_cache::copy_of(const bytes::prepared_read_result& reading, bool as_bytes) const {
  auto copy = std::make_shared<bytes::prepared_read_result>(reading);
  copy->validator.reset();  // stored next to the copy, where it can be replaced
  for (auto& content : copy->contents) {
    const auto data = std::get<shared_bytes>(content.data);
    if (data->size() > encoded_copies::large_content_bytes && !as_bytes) {
      content.data = bytes::encoded_content{copies_.encode(*data, content.is_text), data->size()};
    } else {
      content.data = std::make_shared<const std::string>(*data);
    }
  }
  return copy;
}

read_cache::cached_reading read_cache::store(const cache_key& key, const bytes::prepared_read_result& reading) {
  const auto content = reading.version.empty() ? 0 : content_size(reading);
  if (content == 0) return nullptr;
  const auto overhead = key.uri.size() + key.requested_uri.size() + overhead_bytes;
  std::size_t max_entry_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    max_entry_bytes = max_bytes_ / max_share_divisor;
    if (content + overhead > max_entry_bytes) return nullptr;
    if (has_large_content(reading) && (!is_repeated_read(key, reading.version) || evicted_bytes() + content > max_bytes_ / 2))
      return nullptr;
  }
  auto copy = copy_of(reading, key.as_bytes);
  // If only the encoded form is too long, it is encoded for each answer.
  if (content_size(*copy) + overhead > max_entry_bytes) copy = copy_of(reading, true);
  const auto cost = content_size(*copy) + overhead;
  const auto encoded = encoded_bytes_of(*copy);
  const std::lock_guard lock(mutex_);
  if (cost > max_bytes_ / max_share_divisor) return nullptr;
  if (const auto existing = slots_.find(as_view(key)); existing != slots_.end()) erase(existing);
  encoded_bytes_ += encoded;  // do not count it as evicted
  const bool has_space = make_space(cost);
  encoded_bytes_ -= encoded;
  if (!has_space) return nullptr;
  std::list<const cache_key*> node{nullptr};  // allocated first, so that no later failure leaves an item without a list node
  const auto stored_key = std::make_shared<const cache_key>(key);
  auto record = make_record(stored_key, {copy, reading.validator, reading.ttl});
  const auto position = slots_.emplace(stored_key, cache_slot{std::move(record), cost, encoded, {}}).first;
  node.front() = stored_key.get();
  order_.splice(order_.begin(), node);
  position->second.order_position = order_.begin();
  statistics_.bytes += cost;
  statistics_.entries += 1;
  encoded_bytes_ += encoded;
  return copy;
}

bool read_cache::is_repeated_read(const cache_key& key, const std::string& version) {
  const auto digest = hasher()(key) * 0x9E3779B97F4A7C15u ^ std::hash<std::string>()(version);
  auto& slot = recent_reads_[digest % recent_reads_.size()];
  return std::exchange(slot, digest) == digest;
}

void read_cache::count_miss() {
  const std::lock_guard lock(mutex_);
  statistics_.misses += 1;
}

void read_cache::set_limit(std::size_t max_bytes) {
  const std::lock_guard lock(mutex_);
  max_bytes_ = max_bytes;
  (void)make_space(0);
}

read_cache_statistics read_cache::statistics() const {
  const std::lock_guard lock(mutex_);
  auto totals = statistics_;
  totals.hits = hits_.load(std::memory_order_relaxed);
  return totals;
}

bool read_cache::make_space(std::size_t required) {
  for (auto second_chances = order_.size();;) {
    if (statistics_.bytes + std::min(evicted_bytes(), max_bytes_ / 2) + required <= max_bytes_) return true;
    if (order_.empty()) return false;
    const auto last = slots_.find(as_view(*order_.back()));
    if (second_chances > 0 && last->second.record->was_read_again.exchange(false, std::memory_order_relaxed)) {
      --second_chances;
      order_.splice(order_.begin(), order_, last->second.order_position);
      continue;
    }
    erase(last);
    statistics_.evictions += 1;
  }
}

std::size_t read_cache::evicted_bytes() const noexcept {
  const auto live_bytes = copies_.bytes();
  return live_bytes > encoded_bytes_ ? live_bytes - encoded_bytes_ : 0;
}

void read_cache::erase(slot_map::iterator position) {
  statistics_.bytes -= position->second.bytes;
  encoded_bytes_ -= position->second.encoded_bytes;
  statistics_.entries -= 1;
  published_.replace(position->second.record.get(), nullptr, hasher()(position->first) % max_published);
  order_.erase(position->second.order_position);
  slots_.erase(position);
}

bool is_within(std::uint64_t limit, const bytes::prepared_read_result& reading) noexcept {
  std::uint64_t total = 0;
  for (const auto& content : reading.contents) {
    if (const auto* data = std::get_if<shared_bytes>(&content.data)) total += (*data)->size();
    if (const auto* encoded = std::get_if<bytes::encoded_content>(&content.data)) total += encoded->size;
  }
  return total <= limit;
}

}  // namespace hondana::catalog
