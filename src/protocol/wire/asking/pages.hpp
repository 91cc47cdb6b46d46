/// Pieces of results that several kinds of them have.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client.hpp>

#include "base/json/reader.hpp"
#include "protocol/wire/asking/results.hpp"

namespace hondana::wire::asking {

/// broken_protocol: the server's answer is none, for the reason in `text`.
[[nodiscard]] tl::unexpected<failure> broken(std::string text);
/// The member, or null.
[[nodiscard]] value value_member(const json::object& of, std::string_view name);
[[nodiscard]] result<std::string> required_text(const json::object& of, std::string_view name, const std::string& path);
[[nodiscard]] annotations annotations_of(const json::object& of);
[[nodiscard]] std::vector<icon> icons_of(const json::object& of);
[[nodiscard]] result<resource> entry_of(const json::object& of, const std::string& path);
[[nodiscard]] result<read_item> item_of(const json::object& of, const std::string& path);

/// A list with its cursor and freshness; `read` takes one element.
template <class T, class Read>
result<page<T>> page_of(const json::object& from, std::string_view name, Read read) {
  const auto member = from.find(name);
  if (!member) return broken(member.error().text());
  if (!*member) return broken("result." + std::string(name) + ": missing");
  const auto all = (*member)->as_array(name);
  if (!all) return broken("result." + all.error().text());
  constexpr std::size_t most = 100'000;
  if (all->size() > most)
    return fail(errc::response_too_large, "result." + std::string(name) + ": " + std::to_string(all->size()) +
                                              " entries in one page; a client accepts " + std::to_string(most));
  page<T> out;
  std::size_t at = 0;
  for (const auto& one : all->elements()) {
    const auto path = "result." + std::string(name) + "[" + std::to_string(at++) + "]";
    const auto inner = one.as_object(path);
    if (!inner) return broken(inner.error().text());
    HONDANA_TRY(auto made, read(*inner, path));
    out.items.push_back(std::move(made));
  }
  if (const auto cursor = from.find("nextCursor"); cursor && *cursor && !(*cursor)->is_null()) {
    const auto text = (*cursor)->as_string("result.nextCursor");
    if (!text) return broken(text.error().text());
    out.cursor = std::string(*text);
  }
  out.ttl = freshness_of(from).ttl;
  return out;
}

}  // namespace hondana::wire::asking
