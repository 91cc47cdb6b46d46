/// Looking at watched files.
#include "sources/files/attached.hpp"

#include <sys/stat.h>

#include <algorithm>

namespace hondana::files {
namespace {

// Time stamps are of the last tick of the kernel's clock, some milliseconds ago.
constexpr std::int64_t tick_nanoseconds = 20'000'000;

/// The nearest folder above a path that is there.
std::optional<disk::stamp> state_above(const root& of, std::string path) {
  while (!path.empty()) {
    path = folder_of(path);
    if (const auto found = of.find(path)) return disk::stamp_of(found->facts);
  }
  return std::nullopt;
}

}  // namespace

bool attached::add(const std::string& uri, std::shared_ptr<const root> of, const std::string& path, std::int64_t since) {
  const auto [place, is_new] = by_uri_.try_emplace(uri);
  auto& one = place->second;
  if (!is_new) return false;
  one.of = std::move(of);
  one.path = path;
  look(uri, one);
  const auto state = one.state ? one.state : state_above(*one.of, path);
  return state && state->changed >= since - tick_nanoseconds;
}

void attached::remove(const std::string& uri) {
  const auto place = by_uri_.find(uri);
  if (place == by_uri_.end()) return;
  forget_ways(uri, place->second);
  by_uri_.erase(place);
}

void attached::forget_ways(const std::string& uri, const entry& one) {
  for (const auto& way : one.ways) {
    const auto [begin, end] = by_path_.equal_range({one.of.get(), way});
    const auto found = std::find_if(begin, end, [&uri](const auto& each) { return each.second == uri; });
    if (found != end) by_path_.erase(found);
  }
}

void attached::look(const std::string& uri, entry& one) {
  auto found = one.of->find(one.path);
  std::vector<std::string> ways{one.path};
  if (found) {
    ways.push_back(found->path);
    ways.insert(ways.end(), found->links.begin(), found->links.end());
    std::sort(ways.begin(), ways.end());
    ways.erase(std::unique(ways.begin(), ways.end()), ways.end());
    one.state = disk::stamp_of(found->facts);
    one.is_folder = S_ISDIR(found->facts.st_mode);
  } else {
    one.state.reset();
  }
  one.is_alias = ways.size() > 1 || one.ways.size() > 1;
  if (ways == one.ways) return;
  forget_ways(uri, one);
  one.ways = std::move(ways);
  for (const auto& way : one.ways) by_path_.emplace(key{one.of.get(), way}, uri);
}

std::vector<std::string> attached::at(const root& of, const std::string& path, bool below) const {
  std::vector<std::string> found;
  const auto take = [&found](auto begin, auto end) {
    for (; begin != end; ++begin) found.push_back(begin->second);
  };
  const auto exact = by_path_.equal_range({&of, path});
  take(exact.first, exact.second);
  if (!path.empty()) {
    const auto around = by_path_.equal_range({&of, folder_of(path)});
    take(around.first, around.second);
  }
  // What lies below is contiguous: '0' comes right after '/'.
  if (below && path.empty()) return this->of(of);
  if (below) take(by_path_.lower_bound({&of, path + '/'}), by_path_.lower_bound({&of, path + '0'}));
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::string> attached::of(const root& which) const {
  std::vector<std::string> found;
  for (const auto& [uri, one] : by_uri_) {
    if (one.of.get() == &which) found.push_back(uri);
  }
  return found;
}

bool attached::has_changed(const std::string& uri) {
  const auto place = by_uri_.find(uri);
  if (place == by_uri_.end()) return false;
  auto& one = place->second;
  const auto before = one.state;
  look(uri, one);
  if (one.state != before) return true;
  return one.state && is_racy(*one.state, disk::wall_clock());
}

bool attached::is_alias(const std::string& uri) const {
  const auto place = by_uri_.find(uri);
  return place != by_uri_.end() && place->second.is_alias;
}

bool attached::shows(const std::string& uri, const root& of, const std::string& path) const {
  const auto place = by_uri_.find(uri);
  if (place == by_uri_.end() || place->second.of.get() != &of || !place->second.is_folder || path.empty()) return false;
  const auto& ways = place->second.ways;
  return std::find(ways.begin(), ways.end(), folder_of(path)) != ways.end();
}

}  // namespace hondana::files
