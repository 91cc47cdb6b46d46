/// Stretches of a listing: which, and what is in them now.
#include "sources/files/mending.hpp"

#include <algorithm>
#include <compare>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <hondana/uri.hpp>

#include "os/disk/stamp.hpp"

namespace hondana::files {

void reduce(std::vector<stretch>& all) {
  std::vector<std::pair<std::string, stretch>> sorted;
  sorted.reserve(all.size());
  for (auto& one : all) sorted.emplace_back(one.of->uri_of(one.path), std::move(one));
  // Of the same path the one with all below it comes first.
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    const auto order = compare_by_segment(a.first, b.first);
    return std::is_lt(order) || (std::is_eq(order) && !a.second.is_alone && b.second.is_alone);
  });
  all.clear();
  std::string whole;  // the last with all below it
  std::string last;
  for (auto& [uri, one] : sorted) {
    if (!all.empty() && (uri == last || (!whole.empty() && covers(whole, uri)))) continue;
    if (!one.is_alone) whole = uri;
    last = uri;
    all.push_back(std::move(one));
  }
}

bool walk_again(stretch& what, const options& configured, const std::stop_token& stop, gatherer::ears to) {
  if (what.is_alone) {
    const auto looked_at = disk::wall_clock();
    const auto found = what.of->find(what.path);
    if (!found) throw_if_unsure(found.error());
    if (!found || found->path != what.path) return false;
    what.found.push_back(std::make_shared<block>(what.of));
    what.found.back()->add(what.path, found->facts, looked_at);
    return false;
  }
  listing part;
  gatherer gathering(part, configured, stop, std::move(to));
  (void)gathering.gather(what.of, what.path);  // false: the server stops, or the list is as long as it may be
  for (std::size_t i = 0; auto next = part.block_at(i); ++i) what.found.push_back(std::move(next));
  return gathering.has_missed();
}

}  // namespace hondana::files
