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

void begin_with(document_filter& which, std::string_view prefix) {
  which.more_prefixes.clear();
  if (prefix.empty()) return which.uri_prefix.clear();
  auto all = catalog::spellings_of_prefix(prefix);
  which.uri_prefix = std::move(all.front());
  which.more_prefixes.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
}

std::vector<wanted_word> words_of(const tokenizer::tokenizer& by, std::string_view query) {
  std::vector<wanted_word> out;
  std::size_t end = std::string_view::npos;
  for (auto& one : by.tokens_of(query, tokenizer::purpose::query)) {
    if (out.size() == most_query_words) break;
    const bool is_behind = one.begin == end;
    end = one.end;
    const auto is_same = [&one](const wanted_word& other) { return other.text == one.text; };
    if (std::any_of(out.begin(), out.end(), is_same)) {
      end = std::string_view::npos;
      continue;
    }
    out.push_back({std::move(one.text), one.is_prefix, is_behind && !out.empty()});
  }
  return out;
}

namespace {

constexpr std::size_t longest_query = 1024;  // as the limit of the tool
constexpr std::size_t longest_value = 8192;
constexpr std::size_t most_results = 50;

tl::unexpected<failure> wrong_value(std::string_view name, std::string_view why) {
  return fail(errc::invalid_argument, std::string(name) + ": " + std::string(why));
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number out{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (text.empty() || problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

using reader = result<void> (*)(address&, const std::string&);

result<void> read_words(address& into, const std::string& value) {
  if (value.empty() || value.size() > longest_query)
    return wrong_value("q", "expected words to search for, at most 1024 bytes.");
  into.what.q = value;
  return {};
}

result<void> read_limit(address& into, const std::string& value) {
  const auto number = number_in<std::size_t>(value);
  if (!number || *number < 1 || *number > most_results) return wrong_value("limit", "expected a number from 1 to 50.");
  into.what.limit = *number;
  return {};
}

result<void> read_language(address& into, const std::string& value) {
  const auto is_tag = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (value.empty() || value.size() > 64 || !std::all_of(value.begin(), value.end(), is_tag))
    return wrong_value("lang", "expected a language tag, such as ja or en.");
  into.what.which.language = value;
  return {};
}

result<void> read_scheme(address& into, const std::string& value) {
  auto scheme = ascii::in_lower_case(value);
  for (const std::string_view ending : {"://", ":"}) {
    if (scheme.ends_with(ending)) scheme.resize(scheme.size() - ending.size());
  }
  const auto may_be = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  };
  if (scheme.empty() || !std::all_of(scheme.begin(), scheme.end(), may_be))
    return wrong_value("scheme", "expected the scheme of URIs, such as file or docs.");
  into.what.which.scheme = std::move(scheme);
  return {};
}

result<void> read_prefix(address& into, const std::string& value) {
  const auto is_visible = [](char c) { return c > ' ' && c <= '~'; };
  if (value.empty() || !std::all_of(value.begin(), value.end(), is_visible))
    return wrong_value("uriPrefix", "expected the beginning of a URI in visible ASCII, with other characters percent-encoded.");
  begin_with(into.what.which, value);
  return {};
}

result<void> read_priority(address& into, const std::string& value) {
  const auto number = number_in<double>(value);
  if (!number || !(*number >= 0 && *number <= 1)) return wrong_value("minPriority", "expected a number from 0 to 1.");
  into.what.which.min_priority = number;
  return {};
}

result<void> read_audience(address& into, const std::string& value) {
  if (value != "user" && value != "assistant") return wrong_value("audience", "expected user or assistant.");
  into.what.which.audience = value == "user" ? role::user : role::assistant;
  return {};
}

result<void> read_time(address& into, const std::string& value) {
  const auto when = model::parse_time(value);
  if (!when) return wrong_value("modifiedSince", "expected a time such as 2025-01-12 or 2025-01-12T15:00:58Z.");
  into.what.which.modified_since = *when;
  return {};
}

result<void> read_owner(address& into, const std::string& value) {
  into.what.which.owner = comparable_owner(value);
  if (into.what.which.owner.empty())
    return wrong_value("owner", "expected an e-mail address or a name, as in dev.hondana/owner of entries.");
  return {};
}

result<void> read_waiting(address& into, const std::string& value) {
  if (value != "complete")
    return wrong_value("wait", "expected complete, which waits until everything that exists now is indexed.");
  into.waits = true;
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

result<void> read_parameter(address& into, const uri::written_parameter& one, std::set<std::string_view>& seen) {
  const auto name = one.name;
  const auto found =
      std::find_if(parameters.begin(), parameters.end(), [name](const parameter& each) { return each.name == name; });
  if (found == parameters.end())
    return wrong_value(name.substr(0, 64),
                       "unknown parameter. Known ones are q, limit, lang, scheme, uriPrefix, minPriority, audience, "
                       "modifiedSince, owner and wait.");
  if (!seen.insert(found->name).second) return wrong_value(name, "it is given twice.");
  auto value = percent_decode(one.value);
  if (!value || value->size() > longest_value) return wrong_value(name, "its value is malformed or too long.");
  if (!json::is_utf8(*value) || json::has_nul(*value)) return wrong_value(name, "its value is not valid UTF-8.");
  return found->read(into, *value);
}

}  // namespace

result<address> parse_address(std::string_view uri) {
  if (!uri.starts_with(search_uri)) return fail(errc::resource_not_found, "Resource not found");
  auto rest = uri.substr(search_uri.size());
  address out;
  if (rest.empty()) return out;
  if (rest.front() != '?') return fail(errc::resource_not_found, "Resource not found");
  rest.remove_prefix(1);
  std::set<std::string_view> seen;
  while (!rest.empty()) {
    HONDANA_TRY(read_parameter(out, uri::take_parameter(rest), seen));
  }
  if (out.waits && seen.size() > 1) return wrong_value("wait", "it cannot be combined with other parameters.");
  if (out.what.q.empty() && !out.waits && !seen.empty())
    return wrong_value("q", "it is missing: expected words to search for.");
  return out;
}

}  // namespace hondana::search
