/// Cutting messages, and finding them again.
#include "server/session/known_requests.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace hondana::session {
namespace {

// A number of as many digits fits 64 bits.
constexpr std::size_t most_digits = 18;

constexpr std::array<std::string_view, 2> openings{R"({"jsonrpc":"2.0","id":)", R"({"jsonrpc": "2.0", "id": )"};
constexpr std::array<std::string_view, 2> last_members{R"(,"id":)", R"(, "id": )"};

/// Nothing for what is no integer as JSON writes them, or a longer one.
std::optional<std::int64_t> number_in(std::string_view digits) noexcept {
  if (digits.empty() || digits.size() > most_digits || (digits.front() == '0' && digits.size() > 1)) return std::nullopt;
  std::int64_t out = 0;
  for (const char one : digits) out = out * 10 + (one - '0');
  return out;
}

/// Of eight bytes at a time: it decides nothing but where to look.
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

/// Of what decoding looks at.
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
    // A fraction or an exponent would make it another number.
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

}  // namespace hondana::session
