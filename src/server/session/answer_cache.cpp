/// Caches of encoded pages, decoded requests and encoded results, for immediate answers to repeated requests.
#include "server/session/answer_cache.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <variant>

#include "base/ascii/ascii.hpp"
#include "protocol/wire/codec.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/session.hpp"

namespace hondana::session {
namespace {

/// Memory of an item besides page, cursor and scopes: nodes of the map and the list, and allocation headers.
constexpr std::size_t overhead_bytes = 384;
constexpr std::size_t max_share_divisor = 8;

std::size_t size_of(const std::optional<std::string>& text) noexcept { return text ? text->size() : 0; }

/// In the order of the token: callers with the same scopes in another order have separate pages.
std::optional<std::string> scopes_of(const caller_info& caller) {
  if (!caller.auth_info) return std::nullopt;
  std::string out;
  // lengths, because scopes may contain any character
  for (const auto& scope : caller.auth_info->scopes) ((out += std::to_string(scope.size())) += ' ') += scope;
  return out;
}

}  // namespace

std::optional<page_key> requested_page(const model::operation& operation, const wire::codec& codec, const caller_info& caller) {
  if (const auto* list = std::get_if<model::list_resources>(&operation); list != nullptr && !list->filter) {
    return page_key{&codec, caller.access_filter, scopes_of(caller), page_key::list::resources, list->cursor};
  }
  if (const auto* list = std::get_if<model::list_templates>(&operation)) {
    return page_key{&codec, caller.access_filter, scopes_of(caller), page_key::list::templates, list->cursor};
  }
  return std::nullopt;
}

std::size_t page_cache::hasher::operator()(const page_key* key) const noexcept {
  constexpr std::size_t multiplier = 0x9E3779B97F4A7C15u;
  const std::hash<std::string_view> text;
  const std::hash<const void*> address;
  auto hash = address(key->codec) * multiplier + address(key->filter.get());
  hash = hash * multiplier + static_cast<std::size_t>(key->kind);
  if (key->cursor) hash = hash * multiplier + text(*key->cursor);
  if (key->scopes) hash = hash * multiplier + text(*key->scopes) + 1;
  return hash ^ (hash >> 32);
}

shared_bytes page_cache::find(const page_key& key) {
  shared_bytes page;
  std::shared_ptr<const cache_validator> validator;
  {
    const std::lock_guard lock(mutex_);
    const auto position = index_.find(&key);
    if (position == index_.end()) return nullptr;
    const auto cached = position->second;
    pages_.splice(pages_.begin(), pages_, cached);
    page = cached->page;
    validator = cached->validator;
    statistics_.hits += 1;
  }
  if (validator->is_valid()) return page;
  const std::lock_guard lock(mutex_);
  statistics_.hits -= 1;
  return nullptr;
}

void page_cache::store(const page_key& key, std::string_view page, std::shared_ptr<const cache_validator> validator) {
  const auto cost = page.size() + size_of(key.cursor) + size_of(key.scopes) + overhead_bytes;
  const auto hash = hasher()(&key);
  {
    const std::lock_guard lock(mutex_);
    statistics_.misses += 1;
    auto& last = recent_keys_[hash % recent_keys_.size()];
    const bool is_known = last == hash || index_.contains(&key);
    last = hash;
    if (!is_known || !validator || cost > max_bytes_ / max_share_divisor) return;
  }
  page_list added;
  added.push_back({key, std::make_shared<const std::string>(page), std::move(validator), cost});
  const auto position = added.begin();
  page_list evicted;
  const std::lock_guard lock(mutex_);
  if (is_retired_) return;
  if (const auto existing = index_.find(&key); existing != index_.end()) remove(existing->second, evicted);
  shrink_to(max_bytes_ - cost, evicted);
  index_.emplace(&position->key, position);  // the last statement that can throw
  pages_.splice(pages_.begin(), added);
  statistics_.bytes += cost;
  statistics_.entries += 1;
}

void page_cache::retire() {
  page_list evicted;
  const std::lock_guard lock(mutex_);
  is_retired_ = true;
  index_.clear();
  evicted.swap(pages_);
  statistics_.bytes = 0;
  statistics_.entries = 0;
}

page_cache_statistics page_cache::statistics() const {
  const std::lock_guard lock(mutex_);
  return statistics_;
}

void page_cache::shrink_to(std::size_t max_bytes, page_list& evicted) {
  while (statistics_.bytes > max_bytes) {
    remove(std::prev(pages_.end()), evicted);
    statistics_.evictions += 1;
  }
}

void page_cache::remove(page_list::iterator position, page_list& removed) noexcept {
  statistics_.bytes -= position->bytes;
  statistics_.entries -= 1;
  index_.erase(&position->key);
  removed.splice(removed.begin(), pages_, position);
}

namespace {

// A number of up to 18 digits fits into 64 bits.
constexpr std::size_t max_digits = 18;

constexpr std::array<std::string_view, 2> openings{R"({"jsonrpc":"2.0","id":)", R"({"jsonrpc": "2.0", "id": )"};
constexpr std::array<std::string_view, 2> last_members{R"(,"id":)", R"(, "id": )"};

/// nullopt if it is not a JSON integer, or is longer.
std::optional<std::int64_t> parse_digits(std::string_view digits) noexcept {
  if (digits.empty() || digits.size() > max_digits || (digits.front() == '0' && digits.size() > 1)) return std::nullopt;
  std::int64_t out = 0;
  for (const char digit : digits) out = out * 10 + (digit - '0');
  return out;
}

/// Hashes eight bytes at a time. Only selects a slot.
std::uint64_t mix(std::uint64_t hash, std::string_view text) noexcept {
  const auto add_word = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  };
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    add_word(word);
  }
  std::uint64_t last = text.size();
  for (const char byte : text) last = (last << 8) | static_cast<unsigned char>(byte);
  add_word(last);
  return hash;
}

/// Size of the headers that decoding uses.
std::size_t size_of(const std::optional<rpc::http_headers>& headers) {
  if (!headers) return 0;
  std::size_t total = 0;
  for (const auto* header : {&headers->protocol_version, &headers->method, &headers->name})
    total += *header ? (*header)->size() : 0;
  return total;
}

bool has_same_headers(const std::optional<rpc::http_headers>& cached, const std::optional<rpc::http_headers>& current) {
  if (cached.has_value() != current.has_value()) return false;
  return !cached || (cached->name == current->name && cached->method == current->method &&
                     cached->protocol_version == current->protocol_version && current->arguments.empty());
}

}  // namespace

std::optional<message_parts> split_id(std::string_view message) noexcept {
  for (const auto opening : openings) {
    if (!message.starts_with(opening)) continue;
    const auto remaining = message.substr(opening.size());
    const auto end =
        static_cast<std::size_t>(std::find_if_not(remaining.begin(), remaining.end(), ascii::is_digit) - remaining.begin());
    // With a fraction or an exponent it would be another number.
    if (end == remaining.size() || (remaining[end] != ',' && remaining[end] != '}')) return std::nullopt;
    const auto id = parse_digits(remaining.substr(0, end));
    if (!id) return std::nullopt;
    return message_parts{opening, remaining.substr(end), *id};
  }
  if (!message.ends_with('}')) return std::nullopt;
  auto prefix = message.substr(0, message.size() - 1);
  while (!prefix.empty() && ascii::is_digit(prefix.back())) prefix.remove_suffix(1);
  const auto digits = message.substr(prefix.size(), message.size() - 1 - prefix.size());
  const auto id = parse_digits(digits);
  const auto is_member = [prefix](std::string_view name) { return prefix.ends_with(name); };
  if (!id || std::none_of(last_members.begin(), last_members.end(), is_member)) return std::nullopt;
  return message_parts{prefix, message.substr(message.size() - 1), *id};
}

std::size_t request_cache::slot_of(std::string_view prefix, std::string_view suffix) noexcept {
  return mix(mix(prefix.size() + 1, prefix), suffix) % slot_count;
}

request_cache::cached_entry request_cache::find(const message_parts& message, const rpc::request_info& request_info,
                                                const wire::codec* revision) const {
  if (message.prefix.size() + message.suffix.size() > max_message_bytes) return nullptr;
  auto entry = entries_.read(slot_of(message.prefix, message.suffix));
  if (!entry || entry->suffix != message.suffix || entry->prefix != message.prefix || entry->revision != revision)
    return nullptr;
  return has_same_headers(entry->headers, request_info.http) ? entry : nullptr;
}

void request_cache::store(const message_parts& message, const rpc::request_info& request_info, const wire::codec* revision,
                          const wire::codec& codec, std::string_view method, const model::request& decoded) {
  if (message.prefix.size() + message.suffix.size() + size_of(request_info.http) > max_message_bytes) return;
  if (request_info.http && !request_info.http->arguments.empty()) return;
  cache_entry entry{std::string(message.prefix), std::string(message.suffix), {}, revision, nullptr, nullptr};
  if (request_info.http) {
    entry.headers.emplace();
    entry.headers->protocol_version = request_info.http->protocol_version;
    entry.headers->method = request_info.http->method;
    entry.headers->name = request_info.http->name;
  }
  entry.decoded = std::make_shared<const decoded_request>(decoded_request{&codec, std::string(method), decoded});
  put(std::make_shared<const cache_entry>(std::move(entry)));
}

void request_cache::store_answer(const cached_entry& entry, encoded_result answer) {
  if (answer.text.size() > max_result_bytes) return;
  auto updated = *entry;
  updated.answer = std::make_shared<const encoded_result>(std::move(answer));
  put(std::make_shared<const cache_entry>(std::move(updated)));
}

void request_cache::put(cached_entry entry) {
  const auto slot = slot_of(entry->prefix, entry->suffix);
  entries_.publish(std::move(entry), slot);
}

namespace {

/// Encodes cached contents, or reuses the result that was encoded for the same reading. The comparison covers all inputs of the
/// encoder: the reading, the cache hint, and the server's description. The codec is that of the request.
rpc::outgoing_response encode_cached(const server_snapshot& snapshot, const catalog::cached_answer& cached,
                                     const rpc::request_id& id, const wire::codec& codec,
                                     const request_cache::cached_entry& entry) {
  if (entry && entry->answer) {
    const auto& previous = *entry->answer;
    if (previous.reading == cached.reading && previous.cache == cached.cache && previous.server_info == snapshot.server_info) {
      return {200, wire::wrap_result(id, std::string_view(previous.text))};
    }
  }
  auto result = codec.encode(*cached.reading, cached.executor, cached.cache, snapshot.server_info);
  if (!entry || !result.is_single_text() || result.buffered_bytes() > request_cache::max_result_bytes) {
    return {200, wire::wrap_result(id, std::move(result))};
  }
  encoded_result encoded{cached.reading, cached.cache, snapshot.server_info, result.extract_text()};
  rpc::outgoing_response out{200, wire::wrap_result(id, std::string_view(encoded.text))};
  snapshot.cached_requests->store_answer(entry, std::move(encoded));
  return out;
}

}  // namespace

std::optional<rpc::outgoing_response> answer_from_cache(const server_snapshot& snapshot, const caller_info& caller,
                                                        const model::operation& operation, const rpc::request_id& id,
                                                        const wire::codec& codec, const request_cache::cached_entry& entry) {
  const auto* read = std::get_if<model::read_resource>(&operation);
  if (read == nullptr) return std::nullopt;
  try {
    const auto cached = snapshot.catalog->read_cached(caller, read->uri, read->requested_uri);
    if (!cached) return std::nullopt;
    if (read->cached_version && *read->cached_version == cached->reading->version) {
      return error_response(id, codec.encode_unmodified(read->requested_uri, cached->reading->version), codec);
    }
    return encode_cached(snapshot, *cached, id, codec, entry);
  } catch (const std::exception& error) {
    if (snapshot.log) snapshot.log(std::string("a read could not be answered: ") + error.what());
    return error_response(id, wire::internal_error(), codec);
  }
}

/// Admission and the audit record are complete at this point. The answer follows without interruption, so it can neither be
/// cancelled nor miss a deadline.
std::optional<rpc::outgoing_response> page_from_cache(const page_key& key, const server_snapshot& snapshot,
                                                      const rpc::request_id& id) {
  const auto page = snapshot.pages->find(key);
  if (!page) return std::nullopt;
  return rpc::outgoing_response{200, wire::wrap_result(id, std::string_view(*page))};
}

}  // namespace hondana::session
