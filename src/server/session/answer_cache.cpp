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
constexpr std::size_t bookkeeping_bytes = 384;
constexpr std::size_t share_of_one = 8;

std::size_t size_of(const std::optional<std::string>& text) noexcept { return text ? text->size() : 0; }

/// In the order of the token: callers with the same scopes in another order have separate pages.
std::optional<std::string> scopes_of(const caller& who) {
  if (!who.proof) return std::nullopt;
  std::string all;
  // lengths, because scopes may contain any character
  for (const auto& one : who.proof->scopes) ((all += std::to_string(one.size())) += ' ') += one;
  return all;
}

}  // namespace

std::optional<page_key> page_asked_for(const model::operation& what, const wire::codec& by, const caller& who) {
  if (const auto* list = std::get_if<model::list_resources>(&what); list != nullptr && !list->filter) {
    return page_key{&by, who.view, scopes_of(who), page_key::list::resources, list->cursor};
  }
  if (const auto* list = std::get_if<model::list_templates>(&what)) {
    return page_key{&by, who.view, scopes_of(who), page_key::list::templates, list->cursor};
  }
  return std::nullopt;
}

std::size_t kept_pages::hasher::operator()(const page_key* of) const noexcept {
  constexpr std::size_t odd = 0x9E3779B97F4A7C15u;
  const std::hash<std::string_view> text;
  const std::hash<const void*> address;
  auto mixed = address(of->by) * odd + address(of->through.get());
  mixed = mixed * odd + static_cast<std::size_t>(of->which);
  if (of->cursor) mixed = mixed * odd + text(*of->cursor);
  if (of->scopes) mixed = mixed * odd + text(*of->scopes) + 1;
  return mixed ^ (mixed >> 32);
}

shared_bytes kept_pages::find(const page_key& of) {
  shared_bytes page;
  std::shared_ptr<const validity> valid;
  {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(&of);
    if (found == places_.end()) return nullptr;
    const auto place = found->second;
    shelf_.splice(shelf_.begin(), shelf_, place);
    page = place->page;
    valid = place->valid;
    counts_.hits += 1;
  }
  if (valid->holds()) return page;
  const std::lock_guard lock(mutex_);
  counts_.hits -= 1;
  return nullptr;
}

void kept_pages::keep(const page_key& of, std::string_view page, std::shared_ptr<const validity> valid) {
  const auto cost = page.size() + size_of(of.cursor) + size_of(of.scopes) + bookkeeping_bytes;
  const auto hash = hasher()(&of);
  {
    const std::lock_guard lock(mutex_);
    counts_.misses += 1;
    auto& last = made_once_[hash % made_once_.size()];
    const bool is_known = last == hash || places_.contains(&of);
    last = hash;
    if (!is_known || !valid || cost > most_bytes_ / share_of_one) return;
  }
  shelf fresh;
  fresh.push_back({of, std::make_shared<const std::string>(page), std::move(valid), cost});
  const auto place = fresh.begin();
  shelf gone;
  const std::lock_guard lock(mutex_);
  if (is_retired_) return;
  if (const auto before = places_.find(&of); before != places_.end()) take_out(before->second, gone);
  shrink_to(most_bytes_ - cost, gone);
  places_.emplace(&place->of, place);  // the last statement that can throw
  shelf_.splice(shelf_.begin(), fresh);
  counts_.bytes += cost;
  counts_.entries += 1;
}

void kept_pages::retire() {
  shelf gone;
  const std::lock_guard lock(mutex_);
  is_retired_ = true;
  places_.clear();
  gone.swap(shelf_);
  counts_.bytes = 0;
  counts_.entries = 0;
}

page_cache_counts kept_pages::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void kept_pages::shrink_to(std::size_t most, shelf& out) {
  while (counts_.bytes > most) {
    take_out(std::prev(shelf_.end()), out);
    counts_.evictions += 1;
  }
}

void kept_pages::take_out(shelf::iterator place, shelf& out) noexcept {
  counts_.bytes -= place->bytes;
  counts_.entries -= 1;
  places_.erase(&place->of);
  out.splice(out.begin(), shelf_, place);
}

namespace {

// A number of up to 18 digits fits into 64 bits.
constexpr std::size_t most_digits = 18;

constexpr std::array<std::string_view, 2> openings{R"({"jsonrpc":"2.0","id":)", R"({"jsonrpc": "2.0", "id": )"};
constexpr std::array<std::string_view, 2> last_members{R"(,"id":)", R"(, "id": )"};

/// nullopt if it is not a JSON integer, or is longer.
std::optional<std::int64_t> number_in(std::string_view digits) noexcept {
  if (digits.empty() || digits.size() > most_digits || (digits.front() == '0' && digits.size() > 1)) return std::nullopt;
  std::int64_t out = 0;
  for (const char one : digits) out = out * 10 + (one - '0');
  return out;
}

/// Hashes eight bytes at a time. Only selects a slot.
std::uint64_t mixed(std::uint64_t hash, std::string_view text) noexcept {
  const auto take = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  };
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    take(word);
  }
  std::uint64_t last = text.size();
  for (const char byte : text) last = (last << 8) | static_cast<unsigned char>(byte);
  take(last);
  return hash;
}

/// Size of the headers that decoding uses.
std::size_t size_of(const std::optional<rpc::http_headers>& all) {
  if (!all) return 0;
  std::size_t total = 0;
  for (const auto* one : {&all->protocol_version, &all->method, &all->name}) total += *one ? (*one)->size() : 0;
  return total;
}

bool is_same(const std::optional<rpc::http_headers>& kept, const std::optional<rpc::http_headers>& now) {
  if (kept.has_value() != now.has_value()) return false;
  return !kept || (kept->name == now->name && kept->method == now->method && kept->protocol_version == now->protocol_version &&
                   now->arguments.empty());
}

}  // namespace

std::optional<cut_message> cut_id(std::string_view message) noexcept {
  for (const auto opening : openings) {
    if (!message.starts_with(opening)) continue;
    const auto rest = message.substr(opening.size());
    const auto end = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), ascii::is_digit) - rest.begin());
    // With a fraction or an exponent it would be another number.
    if (end == rest.size() || (rest[end] != ',' && rest[end] != '}')) return std::nullopt;
    const auto id = number_in(rest.substr(0, end));
    if (!id) return std::nullopt;
    return cut_message{opening, rest.substr(end), *id};
  }
  if (!message.ends_with('}')) return std::nullopt;
  auto before = message.substr(0, message.size() - 1);
  while (!before.empty() && ascii::is_digit(before.back())) before.remove_suffix(1);
  const auto digits = message.substr(before.size(), message.size() - 1 - before.size());
  const auto id = number_in(digits);
  const auto is_member = [before](std::string_view name) { return before.ends_with(name); };
  if (!id || std::none_of(last_members.begin(), last_members.end(), is_member)) return std::nullopt;
  return cut_message{before, message.substr(message.size() - 1), *id};
}

std::size_t known_requests::place_of(std::string_view before, std::string_view after) noexcept {
  return mixed(mixed(before.size() + 1, before), after) % places;
}

known_requests::found known_requests::find(const cut_message& what, const rpc::facts& facts, const wire::codec* settled) const {
  if (what.before.size() + what.after.size() > longest_message) return nullptr;
  auto here = all_.read(place_of(what.before, what.after));
  if (!here || here->after != what.after || here->before != what.before || here->settled != settled) return nullptr;
  return is_same(here->headers, facts.http) ? here : nullptr;
}

void known_requests::keep(const cut_message& what, const rpc::facts& facts, const wire::codec* settled,
                          const wire::codec& codec, std::string_view method, const model::request& meaning) {
  if (what.before.size() + what.after.size() + size_of(facts.http) > longest_message) return;
  if (facts.http && !facts.http->arguments.empty()) return;
  entry made{std::string(what.before), std::string(what.after), {}, settled, nullptr, nullptr};
  if (facts.http) {
    made.headers.emplace();
    made.headers->protocol_version = facts.http->protocol_version;
    made.headers->method = facts.http->method;
    made.headers->name = facts.http->name;
  }
  made.meaning = std::make_shared<const decoded_request>(decoded_request{&codec, std::string(method), meaning});
  put(std::make_shared<const entry>(std::move(made)));
}

void known_requests::keep_answer(const found& of, written_result answer) {
  if (answer.text.size() > longest_result) return;
  auto more = *of;
  more.answer = std::make_shared<const written_result>(std::move(answer));
  put(std::make_shared<const entry>(std::move(more)));
}

void known_requests::put(found what) {
  const auto where = place_of(what->before, what->after);
  all_.post(std::move(what), where);
}

namespace {

/// Encodes cached contents, or reuses the result that was encoded for the same reading. The comparison covers all inputs of the
/// encoder: the reading, the cache hint, and the server's description. The codec is that of the request.
rpc::delivery encoded(const context& with, const catalog::held_answer& found, const rpc::request_id& id,
                      const wire::codec& codec, const known_requests::found& known) {
  if (known && known->answer) {
    const auto& before = *known->answer;
    if (before.of == found.reading && before.cache == found.cache && before.by == with.self) {
      return {200, wire::wrap_result(id, std::string_view(before.text))};
    }
  }
  auto result = codec.encode(*found.reading, found.home, found.cache, with.self);
  if (!known || !result.is_whole() || result.bytes_held() > known_requests::longest_result) {
    return {200, wire::wrap_result(id, std::move(result))};
  }
  written_result made{found.reading, found.cache, with.self, result.take_text()};
  rpc::delivery out{200, wire::wrap_result(id, std::string_view(made.text))};
  with.known->keep_answer(known, std::move(made));
  return out;
}

}  // namespace

std::optional<rpc::delivery> answer_at_hand(const context& with, const caller& who, const model::operation& what,
                                            const rpc::request_id& id, const wire::codec& codec,
                                            const known_requests::found& known) {
  const auto* read = std::get_if<model::read_resource>(&what);
  if (read == nullptr) return std::nullopt;
  try {
    const auto found = with.catalog->read_at_hand(who, read->uri, read->asked_uri);
    if (!found) return std::nullopt;
    if (read->if_version && *read->if_version == found->reading->version) {
      return refusal(id, codec.encode_unmodified(read->asked_uri, found->reading->version), codec);
    }
    return encoded(with, *found, id, codec, known);
  } catch (const std::exception& error) {
    if (with.log) with.log(std::string("a read could not be answered: ") + error.what());
    return refusal(id, wire::internal_error(), codec);
  }
}

/// Admission and the audit record are complete at this point. The answer follows without interruption, so it can neither be
/// cancelled nor miss a deadline.
std::optional<rpc::delivery> page_at_hand(const page_key& wanted, const context& with, const rpc::request_id& id) {
  const auto page = with.pages->find(wanted);
  if (!page) return std::nullopt;
  return rpc::delivery{200, wire::wrap_result(id, std::string_view(*page))};
}

}  // namespace hondana::session
