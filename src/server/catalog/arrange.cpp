/// Checking an arrangement of sources, and finding the way through it.
#include <algorithm>
#include <compare>
#include <cstddef>
#include <iterator>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/uri.hpp>

#include "protocol/model/mount.hpp"
#include "server/catalog/catalog.hpp"
#include "server/catalog/masking.hpp"

namespace hondana::catalog {
namespace {

std::string name_of(const source& one) { return '"' + one.what()->name() + '"'; }

tl::unexpected<failure> refuse(std::string text) { return fail(errc::invalid_argument, std::move(text)); }

}  // namespace

std::vector<std::string> mounts_of(const std::vector<std::shared_ptr<source>>& all) {
  std::vector<std::string> out;
  for (const auto& one : all) {
    if (dynamic_cast<const model::mount*>(one->what().get()) == nullptr) continue;
    auto claims = one->what()->claims();
    std::move(claims.begin(), claims.end(), std::back_inserter(out));
  }
  return out;
}

catalog::catalog(std::vector<std::shared_ptr<source>> sources, limits limits, std::shared_ptr<executor::timers> timers,
                 std::shared_ptr<read_cache> cache, std::shared_ptr<const gate::gate> rules,
                 std::shared_ptr<const seal::sealer> sealer)
    : sources_(std::move(sources)),
      limits_(limits),
      timers_(std::move(timers)),
      cache_(std::move(cache)),
      rules_(rules ? std::move(rules) : std::make_shared<const gate::gate>()),
      sealer_(std::move(sealer)) {
  limits_.page_size = std::max<std::size_t>(limits_.page_size, 1);
}

catalog::~catalog() = default;

result<std::shared_ptr<const catalog>> catalog::make(std::vector<std::shared_ptr<source>> sources, limits limits,
                                                     std::shared_ptr<executor::timers> timers,
                                                     std::shared_ptr<read_cache> cache, std::shared_ptr<const gate::gate> rules,
                                                     std::shared_ptr<const seal::sealer> sealer) {
  const std::shared_ptr<catalog> made(
      new catalog(std::move(sources), limits, std::move(timers), std::move(cache), std::move(rules), std::move(sealer)));
  for (const auto& one : made->sources_) {
    HONDANA_TRY(made->take_claims(one));
  }
  std::sort(made->routes_.begin(), made->routes_.end(),
            [](const route& a, const route& b) { return std::is_lt(compare_by_segment(a.prefix, b.prefix)); });
  HONDANA_TRY(made->check_overlaps());
  for (const auto& one : made->sources_) {
    HONDANA_TRY(made->take_templates(one));
  }
  auto& all = made->templates_;
  std::sort(all.begin(), all.end(),
            [](const offered_template& a, const offered_template& b) { return a.entry.uriTemplate < b.entry.uriTemplate; });
  made->best_first_.resize(all.size());
  std::iota(made->best_first_.begin(), made->best_first_.end(), std::size_t{0});
  std::sort(made->best_first_.begin(), made->best_first_.end(), [&all](std::size_t a, std::size_t b) {
    const auto longer = all[a].compiled.literal_prefix().size() <=> all[b].compiled.literal_prefix().size();
    return std::is_eq(longer) ? a < b : std::is_gt(longer);
  });
  return std::shared_ptr<const catalog>(made);
}

result<void> catalog::take_claims(const std::shared_ptr<source>& from) {
  auto claims = from->what()->claims();
  if (claims.empty()) {
    return refuse("The source " + name_of(*from) +
                  " claims no URI prefix, so clients could read none of its resources. Give it one.");
  }
  std::sort(claims.begin(), claims.end());
  claims.erase(std::unique(claims.begin(), claims.end()), claims.end());
  for (auto& prefix : claims) {
    const auto canonical = canonical_uri(prefix);
    if (!canonical) {
      return refuse("The source " + name_of(*from) + " claims the prefix \"" + prefix +
                    "\", which is not a valid URI: " + canonical.error().public_text);
    }
    if (*canonical != prefix) {
      return refuse("The source " + name_of(*from) + " claims the prefix " + prefix + ", which is not canonical. Write it as " +
                    *canonical + ".");
    }
    longest_prefix_ = std::max(longest_prefix_, prefix.size());
    routes_.push_back({std::move(prefix), from});
  }
  return {};
}

result<void> catalog::check_overlaps() const {
  const auto refuse_both = [](const route& outer, const route& inner) {
    const bool is_of_scheme = outer.prefix == inner.prefix && inner.prefix.ends_with("://");
    return refuse("The sources " + name_of(*outer.to) + " and " + name_of(*inner.to) + " overlap: " + name_of(*outer.to) +
                  " claims " + outer.prefix + " and " + name_of(*inner.to) + " claims " + inner.prefix +
                  (is_of_scheme ? ". Give one of them another scheme if its type has that key, or remove one of them."
                                : ". Give one of them another name, or a prefix outside the other's, or remove one of them."));
  };
  for (std::size_t index = 0; index < routes_.size(); ++index) {
    const auto& one = routes_[index];
    if (index + 1 < routes_.size() && routes_[index + 1].prefix == one.prefix) return refuse_both(one, routes_[index + 1]);
    for (const auto* outer = route_of(one.prefix, one.prefix.size() - 1); outer != nullptr;
         outer = route_of(one.prefix, outer->prefix.size() - 1)) {
      if (outer->to != one.to) return refuse_both(*outer, one);
    }
  }
  return {};
}

result<void> catalog::take_templates(const std::shared_ptr<source>& from) {
  if (from->what()->templates_change()) return {};  // asked for when somebody wants them
  for (auto& entry : from->what()->templates()) {
    const auto place = "The source " + name_of(*from) + " offers the template " + entry.uriTemplate;
    auto compiled = uri_template::compile(entry.uriTemplate);
    if (!compiled) return refuse(place + ", which is not a valid URI template: " + compiled.error().public_text);
    if (entry.name.empty()) return refuse(place + " without a name. Give it one.");
    const auto* way = route_of(compiled->literal_prefix());
    if (way == nullptr || way->to != from) {
      return refuse(place + ", which does not start with a URI prefix of that source. Start it with one.");
    }
    const auto is_same = [&entry](const offered_template& other) { return other.entry.uriTemplate == entry.uriTemplate; };
    if (std::any_of(templates_.begin(), templates_.end(), is_same)) return refuse(place + " twice. Remove one of them.");
    mask_secrets(*from->what(), entry);
    templates_.push_back({std::move(entry), std::move(*compiled), from});
  }
  return {};
}

const catalog::route* catalog::route_of(std::string_view uri, std::size_t longest) const {
  const auto exactly = [this](std::string_view prefix) -> const route* {
    const auto place = std::lower_bound(routes_.begin(), routes_.end(), prefix, [](const route& one, std::string_view key) {
      return std::is_lt(compare_by_segment(one.prefix, key));
    });
    return place != routes_.end() && place->prefix == prefix ? &*place : nullptr;
  };
  // What covers a URI is the URI itself, or ends where a segment, the query or the fragment begins, or just after a slash.
  longest = std::min({longest, longest_prefix_, uri.size()});
  for (std::size_t size = longest; size != 0; --size) {
    const bool may_end_here =
        size == uri.size() || uri[size - 1] == '/' || uri[size] == '/' || uri[size] == '?' || uri[size] == '#';
    if (!may_end_here) continue;
    if (const auto* found = exactly(uri.substr(0, size))) return found;
  }
  return nullptr;
}

std::optional<template_match> catalog::match_of(const source& from, std::string_view uri) const {
  for (const auto index : best_first_) {
    const auto& one = templates_[index];
    if (one.to.get() != &from || !uri.starts_with(one.compiled.literal_prefix())) continue;
    if (auto values = one.compiled.match(uri)) return template_match{one.entry.uriTemplate, std::move(*values)};
  }
  return {};
}

}  // namespace hondana::catalog
