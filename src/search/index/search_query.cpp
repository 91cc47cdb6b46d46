/// Search queries: URIs of search:///, URI prefixes and words.
#include "search/index/search_query.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "base/uri/uri_syntax.hpp"
#include "protocol/model/iso_8601.hpp"
#include "server/catalog/list_filter.hpp"

namespace hondana::search {

void set_prefix(document_filter& filter, std::string_view prefix) {
  filter.alternative_prefixes.clear();
  if (prefix.empty()) return filter.uri_prefix.clear();
  auto spellings = catalog::prefix_forms(prefix);
  filter.uri_prefix = std::move(spellings.front());
  filter.alternative_prefixes.assign(std::make_move_iterator(spellings.begin() + 1), std::make_move_iterator(spellings.end()));
}

std::vector<query_word> parse_words(const tokenizer::tokenizer& tokenizer, std::string_view query) {
  std::vector<query_word> out;
  std::size_t end = std::string_view::npos;
  for (auto& token : tokenizer.tokenize(query, tokenizer::tokenize_mode::query)) {
    if (out.size() == max_query_words) break;
    const bool is_adjacent = token.begin == end;
    end = token.end;
    const auto is_same = [&token](const query_word& other) { return other.text == token.text; };
    if (std::any_of(out.begin(), out.end(), is_same)) {
      end = std::string_view::npos;
      continue;
    }
    out.push_back({std::move(token.text), token.is_prefix, is_adjacent && !out.empty()});
  }
  return out;
}

namespace {

constexpr std::size_t max_query_bytes = 1024;  // as the limit of the tool
constexpr std::size_t max_value_bytes = 8192;
constexpr std::size_t max_results = 50;

tl::unexpected<failure> invalid_value(std::string_view name, std::string_view reason) {
  return fail(errc::invalid_argument, std::string(name) + ": " + std::string(reason));
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number out{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

using reader = result<void> (*)(address&, const std::string&);

result<void> read_words(address& target, const std::string& value) {
  if (value.empty() || value.size() > max_query_bytes)
    return invalid_value("q", "expected words to search for, at most 1024 bytes.");
  target.query.q = value;
  return {};
}

result<void> read_limit(address& target, const std::string& value) {
  const auto number = parse_number<std::size_t>(value);
  if (!number || *number < 1 || *number > max_results) return invalid_value("limit", "expected a number from 1 to 50.");
  target.query.limit = *number;
  return {};
}

result<void> read_language(address& target, const std::string& value) {
  const auto is_tag = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (value.empty() || value.size() > 64 || !std::all_of(value.begin(), value.end(), is_tag))
    return invalid_value("lang", "expected a language tag, such as ja or en.");
  target.query.filter.language = value;
  return {};
}

result<void> read_scheme(address& target, const std::string& value) {
  auto scheme = ascii::to_lower(value);
  for (const std::string_view suffix : {"://", ":"}) {
    if (scheme.ends_with(suffix)) scheme.resize(scheme.size() - suffix.size());
  }
  const auto is_scheme_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  if (scheme.empty() || !std::all_of(scheme.begin(), scheme.end(), is_scheme_character))
    return invalid_value("scheme", "expected the scheme of URIs, such as file or docs.");
  target.query.filter.scheme = std::move(scheme);
  return {};
}

result<void> read_prefix(address& target, const std::string& value) {
  const auto is_visible = [](char c) { return c > ' ' && c <= '~'; };
  if (value.empty() || !std::all_of(value.begin(), value.end(), is_visible))
    return invalid_value("uriPrefix",
                         "expected the beginning of a URI in visible ASCII, with other characters percent-encoded.");
  set_prefix(target.query.filter, value);
  return {};
}

result<void> read_priority(address& target, const std::string& value) {
  const auto number = parse_number<double>(value);
  if (!number || !(*number >= 0 && *number <= 1)) return invalid_value("minPriority", "expected a number from 0 to 1.");
  target.query.filter.min_priority = number;
  return {};
}

result<void> read_audience(address& target, const std::string& value) {
  if (value != "user" && value != "assistant") return invalid_value("audience", "expected user or assistant.");
  target.query.filter.audience = value == "user" ? chat_role::user : chat_role::assistant;
  return {};
}

result<void> read_time(address& target, const std::string& value) {
  const auto time = model::parse_time(value);
  if (!time) return invalid_value("modifiedSince", "expected a time such as 2025-01-12 or 2025-01-12T15:00:58Z.");
  target.query.filter.modified_since = *time;
  return {};
}

result<void> read_owner(address& target, const std::string& value) {
  target.query.filter.owner = normalize_owner(value);
  if (target.query.filter.owner.empty())
    return invalid_value("owner", "expected an e-mail address or a name, as in dev.hondana/owner of entries.");
  return {};
}

result<void> read_waiting(address& target, const std::string& value) {
  if (value != "complete")
    return invalid_value("wait", "expected complete, which waits until everything that exists now is indexed.");
  target.waits = true;
  return {};
}

struct parameter {
  std::string_view name;
  reader read;
};
constexpr std::array<parameter, 10> parameters{{{"q", read_words},
                                                {"limit", read_limit},
                                                {"lang", read_language},
                                                {"scheme", read_scheme},
                                                {"uriPrefix", read_prefix},
                                                {"minPriority", read_priority},
                                                {"audience", read_audience},
                                                {"modifiedSince", read_time},
                                                {"owner", read_owner},
                                                {"wait", read_waiting}}};

result<void> read_parameter(address& target, const uri::raw_parameter& written, std::set<std::string_view>& seen) {
  const auto name = written.name;
  const auto position =
      std::find_if(parameters.begin(), parameters.end(), [name](const parameter& known) { return known.name == name; });
  if (position == parameters.end())
    return invalid_value(name.substr(0, 64),
                         "unknown parameter. Known ones are q, limit, lang, scheme, uriPrefix, minPriority, audience, "
                         "modifiedSince, owner and wait.");
  if (!seen.insert(position->name).second) return invalid_value(name, "it is given twice.");
  auto value = percent_decode(written.value);
  if (!value || value->size() > max_value_bytes) return invalid_value(name, "its value is malformed or too long.");
  if (!json::is_utf8(*value) || json::has_nul(*value)) return invalid_value(name, "its value is not valid UTF-8.");
  return position->read(target, *value);
}

}  // namespace

result<address> parse_address(std::string_view uri) {
  if (!uri.starts_with(search_uri)) return fail(errc::resource_not_found, "Resource not found");
  auto query = uri.substr(search_uri.size());
  address out;
  if (query.empty()) return out;
  if (query.front() != '?') return fail(errc::resource_not_found, "Resource not found");
  query.remove_prefix(1);
  std::set<std::string_view> seen;
  while (!query.empty()) {
    HONDANA_TRY(read_parameter(out, uri::pop_parameter(query), seen));
  }
  if (out.waits && seen.size() > 1) return invalid_value("wait", "it cannot be combined with other parameters.");
  if (out.query.q.empty() && !out.waits && !seen.empty())
    return invalid_value("q", "it is missing: expected words to search for.");
  return out;
}

}  // namespace hondana::search
