/// Encodes and parses the names and values of forms and queries.
#include "auth/oauth/form.hpp"

#include <algorithm>

#include <hondana/uri.hpp>

#include "base/uri/uri_syntax.hpp"

namespace hondana::oauth {
namespace {

result<std::string> decode_component(std::string text) {
  std::replace(text.begin(), text.end(), '+', ' ');
  auto out = percent_decode(text);
  if (!out) return fail(errc::protocol_error, "the query has an invalid percent-encoding");
  if (std::any_of(out->begin(), out->end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }))
    return fail(errc::protocol_error, "the query has control characters");
  return out;
}

}  // namespace

std::string encode_form(const fields& form) {
  std::string out;
  for (const auto& [name, text] : form) {
    if (!out.empty()) out += '&';
    out += percent_encode(name) + '=' + percent_encode(text);
  }
  return out;
}

result<fields> read_query(std::string_view query) {
  if (query.size() > max_query_bytes)
    return fail(errc::protocol_error, "the query is longer than " + std::to_string(max_query_bytes) + " bytes");
  fields out;
  while (!query.empty()) {
    const bool is_empty = query.front() == '&';
    const auto parameter = uri::pop_parameter(query);
    if (is_empty) continue;
    auto name = decode_component(std::string(parameter.name));
    auto text = decode_component(std::string(parameter.value));
    if (!name || !text) return tl::unexpected(std::move(name ? text.error() : name.error()));
    if (find(out, *name) != nullptr) return fail(errc::protocol_error, "the query has a parameter twice");
    if (out.size() == max_query_fields) return fail(errc::protocol_error, "the query has too many parameters");
    out.emplace_back(std::move(*name), std::move(*text));
  }
  return out;
}

const std::string* find(const fields& form, std::string_view name) noexcept {
  const auto match = std::find_if(form.begin(), form.end(), [name](const auto& field) { return field.first == name; });
  return match == form.end() ? nullptr : &match->second;
}

}  // namespace hondana::oauth
