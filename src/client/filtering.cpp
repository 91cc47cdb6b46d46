/// Which entries are wanted, and in which order.
#include <algorithm>
#include <tuple>
#include <utility>

#include "base/ascii/characters.hpp"
#include "client/narrowing.hpp"
#include "server/catalog/filter.hpp"

namespace hondana::inline v0 {
namespace {

catalog::filter made_ready(const entry_filter& wanted) {
  model::resource_filter out;
  out.uri_prefix = wanted.uri_prefix;
  out.uri_pattern = wanted.uri_pattern;
  out.mime_type = ascii::in_lower_case(wanted.mime_type);
  out.kind = wanted.kind;
  out.audience = wanted.audience;
  out.min_priority = wanted.min_priority;
  out.modified_since = wanted.modified_since;
  out.text = wanted.text;
  return catalog::filter(std::move(out));
}

/// Stable, without the temporary buffer that std::stable_sort takes.
template <class Key>
void sort_by(std::vector<resource>& entries, Key comes_before) {
  std::vector<std::pair<resource, std::size_t>> places;
  places.reserve(entries.size());
  for (auto& one : entries) places.emplace_back(std::move(one), places.size());
  std::sort(places.begin(), places.end(), [&comes_before](const auto& a, const auto& b) {
    if (comes_before(a.first, b.first)) return true;
    return !comes_before(b.first, a.first) && a.second < b.second;
  });
  for (std::size_t at = 0; at < places.size(); ++at) entries[at] = std::move(places[at].first);
}

}  // namespace

bool fits(const resource& entry, const entry_filter& wanted) {
  std::uint64_t steps = 0;
  return made_ready(wanted).passes(entry, steps);
}

void sort_entries(std::vector<resource>& entries, entry_order order) {
  switch (order) {
    case entry_order::as_listed:
      return;
    case entry_order::name:
      return sort_by(entries,
                     [](const resource& a, const resource& b) { return std::tie(a.name, a.uri) < std::tie(b.name, b.uri); });
    case entry_order::priority:
      return sort_by(entries, [](const resource& a, const resource& b) {
        return a.annotations.priority.value_or(-1) > b.annotations.priority.value_or(-1);
      });
    case entry_order::recency:
      return sort_by(entries, [](const resource& a, const resource& b) {
        if (!b.annotations.lastModified) return a.annotations.lastModified.has_value();
        return a.annotations.lastModified && *a.annotations.lastModified > *b.annotations.lastModified;
      });
  }
}

}  // namespace hondana::inline v0

namespace hondana::outbound {

result<page<resource>> resource_page(engine& of, const std::optional<std::string>& cursor, const entry_filter& wanted,
                                     const call_options& how) {
  HONDANA_TRY(const auto can, of.need(&server_description::has_resources, "resources", how));
  const bool is_open = wanted == entry_filter{};
  const bool is_theirs = !is_open && can.has_versions;
  HONDANA_TRY(auto got,
              of.call({.asked = asking::list_resources(cursor, is_theirs ? &wanted : nullptr), .is_kept = true}, how));
  auto out = asking::resources_of(got.result());
  if (!out || is_open || is_theirs) return out;
  std::uint64_t steps = 0;
  const auto filter = made_ready(wanted);
  std::erase_if(out->items, [&](const resource& one) { return !filter.passes(one, steps); });
  return out;
}

result<resource> describe(engine& of, std::string_view uri, const call_options& how) {
  HONDANA_TRY(const auto can, of.need(&server_description::has_resources, "resources", how));
  if (can.has_versions) {
    // The content comes with it; nobody keeps it.
    const auto dropped = [](std::size_t, std::string_view) { return result<void>(); };
    HONDANA_TRY(auto got, of.call({.asked = asking::get_resource(uri), .content = dropped}, how));
    return asking::resource_of(got.result());
  }
  const entry_filter all;
  const time_left left(how.time.value_or(of.options().call_time));
  auto page = how;
  paged<resource> list([&](const std::optional<std::string>& cursor) -> result<hondana::page<resource>> {
    if (left.is_over()) return fail(errc::timed_out, "the server's list did not end in time");
    page.time = left.time();
    return resource_page(of, cursor, all, page);
  });
  for (const auto& one : list) {
    if (!one) return tl::unexpected(one.error());
    if (one->uri == uri) return *one;
  }
  return fail(errc::resource_not_found, "the server does not list " + std::string(uri.substr(0, 500)));
}

}  // namespace hondana::outbound
