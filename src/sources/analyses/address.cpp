/// Reading and writing URIs.
#include "sources/analyses/address.hpp"
#include "base/ascii/characters.hpp"

#include <algorithm>
#include <charconv>
#include <compare>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/uri/query.hpp"
#include "sources/analyses/cache/key.hpp"

namespace hondana::analyses_source {
namespace {

constexpr std::size_t longest_value = 1024;

tl::unexpected<failure> not_there(std::string_view why) {
  return fail(errc::resource_not_found, std::string(why) + " wallbounce://analyses lists analyses.");
}

tl::unexpected<failure> wrong(std::string_view parameter, std::string_view why) {
  return fail(errc::invalid_argument, std::string(parameter) + ": " + std::string(why));
}

result<void> take(address& into, std::string_view name, std::string_view text) {
  if (name == "format") {
    if (text != "markdown" && text != "json") return wrong(name, "expected markdown or json");
    into.as = text == "json" ? format::json : format::markdown;
    return {};
  }
  if (into.of != place::index) return wrong(name, "unknown parameter; only format is known here");
  if (name == "session") {
    into.session = text;
  } else if (name == "tag") {
    into.tag = text;
  } else if (name == "task") {
    into.task = analyses::task_named(text);
    if (!into.task) return wrong(name, "expected basic, premium or critical");
  } else if (name == "after") {
    if (!is_id(text)) return wrong(name, "expected the id of an analysis, 32 lower-case hexadecimal digits");
    into.after = text;
  } else if (name == "limit") {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into.limit);
    if (error != std::errc{} || end != text.data() + text.size() || into.limit < 1 || into.limit > most_index)
      return wrong(name, "expected a whole number from 1 to " + std::to_string(most_index));
  } else {
    return wrong(name.substr(0, 64), "unknown parameter; known ones are session, tag, task, after, limit and format");
  }
  return {};
}

result<void> read_query(address& into, std::string_view query) {
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const bool is_empty = query.front() == '&';
    const auto [name, written] = uri::take_parameter(query);
    if (is_empty) continue;
    if (std::find(seen.begin(), seen.end(), name) != seen.end()) return wrong(name.substr(0, 64), "given twice");
    seen.push_back(name);
    const auto text = percent_decode(written);
    if (!text) return wrong(name.substr(0, 64), text.error().public_text);
    if (text->size() > longest_value) return wrong(name.substr(0, 64), "too long");
    HONDANA_TRY(take(into, name, *text));
  }
  return {};
}

result<void> read_analysis(address& into, std::string_view path) {
  const auto slash = std::min(path.find('/'), path.size());
  const auto id = path.substr(0, slash);
  if (!is_id(id)) return not_there("Analysis not found: an id has 32 lower-case hexadecimal digits.");
  into.id = id;
  into.of = place::analysis;
  if (slash == path.size()) return {};
  const auto rest = path.substr(slash + 1);
  if (rest == "flow") {
    into.of = place::flow;
    return {};
  }
  constexpr std::string_view votes = "votes/";
  if (!rest.starts_with(votes) || rest.size() == votes.size() || rest.find('/', votes.size()) != std::string_view::npos)
    return not_there("Resource not found: an analysis has flow and votes/PROVIDER.");
  HONDANA_TRY(auto provider, percent_decode(rest.substr(votes.size())));
  into.provider = std::move(provider);
  into.of = place::vote;
  return {};
}

}  // namespace

bool is_id(std::string_view text) noexcept {
  return text.size() == id_digits && std::all_of(text.begin(), text.end(), ascii::is_lower_hex_digit);
}

result<address> parse_address(std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != scheme_name || !parts.authority || parts.fragment) return not_there("Resource not found.");
  address made;
  auto path = parts.path;
  if (path.starts_with('/')) path.remove_prefix(1);
  if (*parts.authority == "analyses") {
    if (!path.empty()) HONDANA_TRY(read_analysis(made, path));
  } else if (*parts.authority == "by-prompt") {
    auto digest = analyses::digest_spelled(path);
    if (!digest) return not_there("Prompt not found: its digest has 64 lower-case hexadecimal digits.");
    made.of = place::by_prompt;
    made.prompt = std::move(*digest);
  } else if (*parts.authority == "statistics" && path.empty()) {
    made.of = place::statistics;
  } else {
    return not_there("Resource not found.");
  }
  HONDANA_TRY(read_query(made, parts.query.value_or(std::string_view())));
  return made;
}

std::string analysis_uri(std::string_view id) { return std::string(analyses_prefix) + std::string(id); }

std::string flow_uri(std::string_view id) { return analysis_uri(id) + "/flow"; }

std::string vote_uri(std::string_view id, std::string_view provider) {
  return analysis_uri(id) + "/votes/" + percent_encode(provider);
}

std::string by_prompt_uri(std::string_view prompt) { return std::string(by_prompt_prefix) + analyses::spelled(prompt); }

std::string uri_of_index(const address& at) {
  std::string out(index_uri);
  char mark = '?';
  const auto add = [&](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    out += std::exchange(mark, '&');
    out += std::string(name) + '=' + percent_encode(text);
  };
  add("session", at.session);
  add("tag", at.tag);
  add("task", at.task ? analyses::name_of(*at.task) : std::string_view());
  add("after", at.after);
  add("limit", at.limit == usual_index ? std::string() : std::to_string(at.limit));
  add("format", at.as == format::json ? "json" : "");
  return out;
}

std::optional<std::string> id_behind(std::string_view key) {
  if (std::is_lt(compare_by_segment(key, analyses_prefix))) return std::string();
  if (!key.starts_with(analyses_prefix)) return key == index_uri ? std::optional(std::string()) : std::nullopt;
  auto segment = key.substr(analyses_prefix.size());
  std::string out;
  for (const char c : segment.substr(0, id_digits)) {
    if (!ascii::is_lower_hex_digit(c)) break;
    out += c;
  }
  // A whole id is behind itself and its parts; of its beginning, what stands right before all that begin so.
  if (out.size() == id_digits) return out;
  out.resize(id_digits, '0');
  for (auto digit = out.rbegin(); digit != out.rend(); ++digit) {
    if (*digit != '0') {
      *digit = *digit == 'a' ? '9' : static_cast<char>(*digit - 1);
      return out;
    }
    *digit = 'f';
  }
  return std::string();
}

}  // namespace hondana::analyses_source
