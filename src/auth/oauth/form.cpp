/// Encodes and parses names and values of forms and queries.
#include "auth/oauth/form.hpp"

#include <algorithm>

#include <hondana/uri.hpp>

#include "base/uri/uri_syntax.hpp"

namespace hondana::oauth {
namespace {

result<std::string> decoded(std::string text) {
  std::replace(text.begin(), text.end(), '+', ' ');
  auto out = percent_decode(text);
  if (!out) return fail(errc::broken_protocol, "the query has an invalid percent-encoding");
  if (std::any_of(out->begin(), out->end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    return fail(errc::broken_protocol, "the query has control characters");
  return out;
}

}  // namespace

std::string spelled(const fields& of) {
  std::string out;
  for (const auto& [name, text] : of) {
    if (!out.empty()) out += '&';
    out += percent_encode(name) + '=' + percent_encode(text);
  }
  return out;
}

result<fields> read_query(std::string_view query) {
  if (query.size() > longest_query)
    return fail(errc::broken_protocol, "the query is longer than " + std::to_string(longest_query) + " bytes");
  fields out;
  while (!query.empty()) {
    const bool is_empty = query.front() == '&';
    const auto written = uri::take_parameter(query);
    if (is_empty) continue;
    auto name = decoded(std::string(written.name));
    auto text = decoded(std::string(written.value));
    if (!name || !text) return tl::unexpected(std::move(name ? text.error() : name.error()));
    if (find(out, *name) != nullptr) return fail(errc::broken_protocol, "the query has a parameter twice");
    if (out.size() == most_query_fields) return fail(errc::broken_protocol, "the query has too many parameters");
    out.emplace_back(std::move(*name), std::move(*text));
  }
  return out;
}

const std::string* find(const fields& in, std::string_view name) noexcept {
  const auto found = std::find_if(in.begin(), in.end(), [name](const auto& one) { return one.first == name; });
  return found == in.end() ? nullptr : &found->second;
}

}  // namespace hondana::oauth
