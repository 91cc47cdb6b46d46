/// Search queries: URIs of search:///, URI prefixes and words.
#include "search/index/search_query.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/uri/query_parameters.hpp"
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

constexpr std::array<std::string_view, 2> audience_choices{"user", "assistant"};
constexpr std::array<std::string_view, 1> wait_choices{"complete"};
constexpr auto parameters = std::to_array<uri::query_parameter>({
    {.name = "q", .max_bytes = 1024},  // as the limit of the tool
    {.name = "limit", .type = uri::parameter_type::integer, .min = 1, .max = 50},
    {.name = "lang", .max_bytes = 64},
    {.name = "scheme"},
    {.name = "uriPrefix"},
    {.name = "minPriority", .type = uri::parameter_type::number, .max = 1},
    {.name = "audience", .type = uri::parameter_type::choice, .choices = audience_choices},
    {.name = "modifiedSince"},
    {.name = "owner"},
    {.name = "wait", .type = uri::parameter_type::choice, .choices = wait_choices},
});

template <class Predicate>
bool consists_of(std::string_view text, Predicate is_allowed) {
  return std::all_of(text.begin(), text.end(), is_allowed);
}

result<void> read_filter(document_filter& filter, const uri::query_values& values) {
  filter.language = values.text("lang");
  if (!consists_of(filter.language, [](char c) { return ascii::is_alphanumeric(c) || c == '-'; }))
    return values.invalid("lang", "expected a language tag, such as ja or en.");
  if (values.has("scheme")) {
    auto scheme = ascii::to_lower(values.text("scheme"));
    for (const std::string_view suffix : {"://", ":"}) {
      if (scheme.ends_with(suffix)) scheme.resize(scheme.size() - suffix.size());
    }
    const auto is_scheme_character = [](char c) { return ascii::is_lower_or_digit(c) || c == '+' || c == '-' || c == '.'; };
    if (scheme.empty() || !consists_of(scheme, is_scheme_character))
      return values.invalid("scheme", "expected the scheme of URIs, such as file or docs.");
    filter.scheme = std::move(scheme);
  }
  if (!consists_of(values.text("uriPrefix"), [](char c) { return c > ' ' && c <= '~'; })) {
    return values.invalid("uriPrefix",
                          "expected the beginning of a URI in visible ASCII, with other characters percent-encoded.");
  }
  set_prefix(filter, values.text("uriPrefix"));
  filter.min_priority = values.number("minPriority");
  if (values.has("audience")) filter.audience = values.text("audience") == "user" ? chat_role::user : chat_role::assistant;
  if (values.has("modifiedSince")) {
    const auto time = model::parse_time(values.text("modifiedSince"));
    if (!time) return values.invalid("modifiedSince", "expected a time such as 2025-01-12 or 2025-01-12T15:00:58Z.");
    filter.modified_since = *time;
  }
  if (values.has("owner")) {
    filter.owner = normalize_owner(values.text("owner"));
    if (filter.owner.empty())
      return values.invalid("owner", "expected an e-mail address or a name, as in dev.hondana/owner of entries.");
  }
  return {};
}

}  // namespace

result<address> parse_address(std::string_view uri) {
  if (!uri.starts_with(search_uri)) return fail(errc::resource_not_found, "Resource not found");
  auto query = uri.substr(search_uri.size());
  address out;
  if (query.empty()) return out;
  if (query.front() != '?') return fail(errc::resource_not_found, "Resource not found");
  query.remove_prefix(1);
  HONDANA_TRY(const auto values, uri::parse_query(query, parameters, search_uri));
  HONDANA_TRY(read_filter(out.query.filter, values));
  out.waits = values.has("wait");
  out.query.q = values.text("q");
  out.query.limit = values.integer("limit").value_or(out.query.limit);
  if (out.waits && values.count() > 1) return uri::invalid_parameter("wait", "it cannot be combined with other parameters.");
  if (out.query.q.empty() && !out.waits && !query.empty())
    return uri::invalid_parameter("q", "it is missing: expected words to search for.");
  return out;
}

}  // namespace hondana::search
