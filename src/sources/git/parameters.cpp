/// One reader for each parameter, and which topic has which.
#include "sources/git/parameters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "base/uri/query.hpp"
#include "protocol/model/times.hpp"
#include "sources/git/quotation.hpp"
#include "sources/git/revision.hpp"

namespace hondana::git {
namespace {

/// What a walk's cursor needs at most, and some more.
constexpr std::size_t longest_value = std::size_t{64} << 10;

tl::unexpected<failure> wrong(std::string_view name, std::string_view value, std::string_view why) {
  return fail(errc::invalid_argument, std::string(name) + ": " + in_quotes(value) + ' ' + std::string(why));
}

template <class Number>
std::optional<Number> whole_number(std::string_view digits) {
  Number value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem != std::errc() || end != digits.data() + digits.size() || digits.empty()) return std::nullopt;
  return value;
}

std::optional<line_range> lines_from(std::string_view text) {
  const auto dash = text.find('-');
  const auto first = whole_number<std::size_t>(text.substr(0, dash));
  if (!first || *first == 0) return std::nullopt;
  if (dash == std::string_view::npos) return line_range{*first, first};
  if (dash + 1 == text.size()) return line_range{*first, std::nullopt};
  const auto last = whole_number<std::size_t>(text.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return line_range{*first, last};
}

/// A day stands for its first second, or as an end for its last one.
std::optional<std::int64_t> moment_from(std::string_view text, bool is_end) {
  if (const auto seconds = whole_number<std::int64_t>(text)) return seconds;
  const auto time = model::parse_time(text);
  if (!time) return std::nullopt;
  const auto seconds = std::chrono::floor<std::chrono::seconds>(time->time_since_epoch()).count();
  constexpr std::size_t day_size = 10;
  constexpr std::int64_t rest_of_day = 86'399;
  return is_end && text.size() == day_size ? seconds + rest_of_day : seconds;
}

result<void> read_moment(std::optional<std::int64_t>& into, std::string_view name, const std::string& value) {
  into = moment_from(value, name == "until");
  if (!into)
    return wrong(name, value,
                 "is not a time. Write a date (2026-01-31), a date and time (2026-01-31T08:00:00Z) or seconds since 1970.");
  return {};
}

using reader = result<void> (*)(address&, const std::string&);

struct parameter {
  std::string_view name;
  std::vector<topic> of;
  reader read;
};

const std::vector<parameter>& parameters() {
  using enum topic;
  static const std::vector<parameter> all{
      {"format",
       {overview, branches, tags, log, commit, tree, diff, blame, history, stashes, worktrees, changes},
       [](address& into, const std::string& value) -> result<void> {
         into.is_json = value == "json";
         if (!into.is_json && value != "markdown") return wrong("format", value, "is not a format. Use markdown or json.");
         return {};
       }},
      {"cursor",
       {branches, tags, log, tree, history},
       [](address& into, const std::string& value) -> result<void> {
         into.cursor = value;
         return {};
       }},
      {"limit",
       {log, history},
       [](address& into, const std::string& value) -> result<void> {
         into.limit = whole_number<std::size_t>(value);
         if (!into.limit || *into.limit == 0 || *into.limit > most_a_page)
           return wrong("limit", value, "is not a number from 1 to " + std::to_string(most_a_page) + '.');
         return {};
       }},
      {"lines",
       {blob, blame},
       [](address& into, const std::string& value) -> result<void> {
         into.lines = lines_from(value);
         if (!into.lines)
           return wrong("lines", value, "is malformed. Write FIRST-LAST, FIRST- or LINE, counted from 1: lines=10-40.");
         return {};
       }},
      {"ref",
       {log},
       [](address& into, const std::string& value) -> result<void> {
         into.ref = value;
         return check_revision(value, "ref");
       }},
      {"path",
       {log, diff, changes},
       [](address& into, const std::string& value) -> result<void> {
         into.path = value;
         while (into.path.ends_with('/')) into.path.pop_back();
         if (into.path.find('\0') != std::string::npos || into.path.starts_with('/'))
           return wrong("path", value, "is not a path below the top folder. Write it as it appears in tree listings.");
         return {};
       }},
      {"author",
       {log},
       [](address& into, const std::string& value) -> result<void> {
         into.author = value;
         return {};
       }},
      {"grep",
       {log},
       [](address& into, const std::string& value) -> result<void> {
         into.grep = value;
         return {};
       }},
      {"since", {log}, [](address& into, const std::string& value) { return read_moment(into.since, "since", value); }},
      {"until", {log}, [](address& into, const std::string& value) { return read_moment(into.until, "until", value); }},
  };
  return all;
}

std::string names_for(topic what) {
  std::string names;
  for (const auto& one : parameters())
    if (std::find(one.of.begin(), one.of.end(), what) != one.of.end())
      names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

}  // namespace

result<void> read_parameters(address& into, std::string_view query) {
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto [name, written] = uri::take_parameter(query);
    const auto& all = parameters();
    const auto known = std::find_if(all.begin(), all.end(), [&](const parameter& one) {
      return one.name == name && std::find(one.of.begin(), one.of.end(), into.what) != one.of.end();
    });
    if (known == all.end())
      return fail(errc::resource_not_found, std::string(name_of(into.what)) + " has no parameter " + in_quotes(name) +
                                                ". Its parameters: " + names_for(into.what) + '.');
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return fail(errc::invalid_argument, std::string(name) + ": it is given more than once. Give it once.");
    seen.push_back(name);
    const auto value = percent_decode(written);
    if (!value || value->size() > longest_value)
      return fail(errc::invalid_argument, std::string(name) + ": its value is malformed or too long.");
    // As a template leaves out what is not set, so an empty value is none.
    if (value->empty()) continue;
    if (auto read = known->read(into, *value); !read) return read;
  }
  return {};
}

}  // namespace hondana::git
