/// Finding the private members of JSON web keys.
#include "secrets/web_keys.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "secrets/near.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t reach = 16 * 1024;  // of a key on either side of its `kty`; one of RSA with 8192 bits has 8 KiB
static_assert(2 * reach < reach_ahead);
constexpr std::string_view type_member = "\"kty";

/// JSON that may stand in a string, and that in another: each quote of its own has so many backslashes before it.
class nested_json {
 public:
  /// `text` has a quote at `at`.
  nested_json(std::string_view text, std::size_t at) noexcept : text_(text) {
    while (at > backslashes_ && text[at - 1 - backslashes_] == '\\') ++backslashes_;
  }

  [[nodiscard]] std::size_t backslashes() const noexcept { return backslashes_; }
  /// Whether a string begins or ends with the quote at `at`.
  [[nodiscard]] bool is_quote(std::size_t at) const noexcept {
    if (text_[at] != '"' || at < backslashes_) return false;
    std::size_t count = 0;
    while (count < at && count <= backslashes_ && text_[at - 1 - count] == '\\') ++count;
    return count == backslashes_;
  }
  /// The quote that ends the string that begins before `at`; `limit` where there is none.
  [[nodiscard]] std::size_t end_of_string(std::size_t at, std::size_t limit) const noexcept {
    while (at < limit && !is_quote(at)) ++at;
    return at;
  }
  /// Where the colon stands behind the quote at `quote`; 0 where another sign does.
  [[nodiscard]] std::size_t colon_behind(std::size_t quote, std::size_t limit) const noexcept {
    auto at = quote + 1;
    while (at < limit && is(kind::blank, text_[at])) ++at;
    return at < limit && text_[at] == ':' ? at : 0;
  }
  /// Behind the brace of the object that `at` stands in; `least` where that is not seen.
  [[nodiscard]] std::size_t begin_of_object(std::size_t at, std::size_t least) const noexcept {
    std::size_t depth = 0;
    bool is_in_string = false;
    for (; at > least; --at) {
      const char c = text_[at - 1];
      if (c == '"' && is_quote(at - 1)) is_in_string = !is_in_string;
      if (is_in_string) continue;
      if (c == '}' || c == ']') ++depth;
      if (c != '{' && c != '[') continue;
      if (depth == 0) return at;
      --depth;
    }
    return least;
  }

 private:
  std::string_view text_;
  std::size_t backslashes_ = 0;
};

bool is_number(std::string_view value) noexcept {
  return !value.empty() &&
         std::all_of(value.begin(), value.end(), [](char c) { return is(kind::word, c) || is(kind::base64, c); });
}

}  // namespace

bool is_private_member(std::string_view type, std::string_view name) noexcept {
  if (type == "oct") return name == "k";
  if (type != "RSA" && type != "EC" && type != "OKP") return false;
  constexpr std::array<std::string_view, 7> names{"d", "p", "q", "dp", "dq", "qi", "oth"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

void find_web_key(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into) {
  const nested_json json(text, at);
  // Another name like this ends what is looked at, so that two keys share no byte.
  auto least = at - std::min(at, reach);
  if (const auto before = text.substr(least, at - least).rfind(type_member); before != std::string_view::npos)
    least += before + type_member.size();
  const auto behind = at + type_member.size();
  const auto limit = std::min({text.size(), at + reach, text.substr(0, at + reach).find(type_member, behind)});
  runs.count(3 * (limit - least));
  const auto name_end = json.end_of_string(behind, std::min(limit, behind + json.backslashes() + 1));
  const auto colon = name_end < limit ? json.colon_behind(name_end, limit) : 0;
  if (colon == 0 || name_end != behind + json.backslashes()) return;
  const auto content = [&](std::size_t begin, std::size_t quote) {
    return text.substr(begin, quote - std::min(json.backslashes(), quote - begin) - begin);
  };
  auto type = colon + 1;
  while (type < limit && (is(kind::blank, text[type]) || text[type] == '\\')) ++type;
  if (type >= limit || text[type] != '"') return;
  const auto type_name = content(type + 1, json.end_of_string(type + 1, limit));

  std::string_view name;
  std::size_t depth = 0;
  for (auto next = json.begin_of_object(at, least); next < limit; ++next) {
    const char c = text[next];
    if (c == '"' && json.is_quote(next)) {
      const auto begin = next + 1;
      next = json.end_of_string(begin, limit);
      const auto said = content(begin, next);
      if (next < limit && json.colon_behind(next, limit) != 0) {
        if (depth == 0) name = said;
      } else if (is_private_member(type_name, name) && is_number(said)) {
        into.push_back({begin, begin + said.size()});
      }
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (depth == 0) return;
      --depth;
    }
    if (c == ',' && depth == 0) name = {};
  }
}

}  // namespace hondana::secrets
