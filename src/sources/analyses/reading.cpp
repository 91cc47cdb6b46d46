/// What reads give.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>

#include "sources/analyses/analyses_provider.hpp"
#include "sources/analyses/describe.hpp"
#include "sources/analyses/documents.hpp"
#include "sources/analyses/lookup.hpp"
#include "sources/analyses/rendering.hpp"
#include "sources/analyses/vouching.hpp"

namespace hondana::analyses_source {
namespace {

using steady = monotonic_clock;

constexpr std::size_t looked_at_at_once = 500;
constexpr std::size_t most_looked_at = 20'000;
constexpr std::chrono::seconds vouched_for{1};

result<std::string> text_of(const address& at, const ground& on, const analyses::entry& from) {
  auto json = on.shown(from);
  const bool is_whole = at.of == place::analysis || at.of == place::by_prompt;
  if (at.as == format::json) {
    if (is_whole) return json;
    auto whole = parsed(json);
    if (!whole) return tl::unexpected(std::move(whole.error()));
    if (at.of == place::flow) return flow_in(*whole).to_text();
    return vote_in(*whole, at.provider).map([](const value& vote) { return vote.to_text(); });
  }
  auto whole = decoded(json);
  if (!whole) return tl::unexpected(std::move(whole.error()));
  const auto about = on.shown(from.about);
  if (is_whole) return markdown_of(about, *whole, from.is_stale);
  if (at.of == place::flow) return markdown_of_flow(about, *whole, from.is_stale);
  const auto vote =
      std::find_if(whole->votes.begin(), whole->votes.end(), [&](const auto& one) { return one.provider == at.provider; });
  if (vote != whole->votes.end()) return markdown_of_vote(about, *vote);
  // Says which there are.
  return parsed(json).and_then([&](const value& all) { return vote_in(all, at.provider); }).map([](const value& one) {
    return one.to_text();
  });
}

reading reading_of(const address& at, std::string text) {
  auto made = text_reading(std::move(text), std::string(mime_of(at.as)));
  made.contents.front().form = content_form::text;
  return made;
}

}  // namespace

std::shared_ptr<const validity> analyses_provider::vouch(const cache_there& in, vouching::moment then,
                                                         const analyses::summary& of, bool is_stale) const {
  const auto now = in->in().now();
  if (!now || !on_->how.watch) return nullptr;
  const auto left = (of.how == analyses::status::complete && !is_stale ? of.expires : of.gone) - *now;
  return std::make_shared<vouching>(in, follower_->news(), then, steady::now() + std::min<steady::duration>(left, vouched_for));
}

result<reading> analyses_provider::read(const read_request& request) {
  auto at = parse_address(request.uri);
  if (!at) return tl::unexpected(std::move(at.error()));
  auto kept = on_->kept();
  if (!kept) return tl::unexpected(std::move(kept.error()));
  if (at->of == place::index) return read_index(request, *at, **kept);
  if (at->of == place::statistics) return read_statistics(*at, **kept);
  const vouching::moment then{(*kept)->generation(), follower_->news()->load()};
  if (at->of != place::by_prompt) return read_analysis(request, *at, at->id, true, then, *kept);
  const auto found = find_by_prompt(*on_, *follower_, request, at->prompt, **kept);
  if (!found) return tl::unexpected(found.error());
  // Which one it leads to depends on scopes, too.
  return read_analysis(request, *at, found->about.id, found->is_watched && !request.who.proof, then, *kept);
}

result<reading> analyses_provider::read_analysis(const read_request& request, const address& at, const std::string& id,
                                                 bool is_vouched, vouching::moment then, const cache_there& in) const {
  const auto version = [&](const analyses::summary& of, bool is_stale) {
    return (at.of == place::by_prompt ? of.id + '-' : std::string()) + version_of(of, is_stale);
  };
  if (request.if_version) {
    const auto about = in->in().about(id);
    if (!about) return tl::unexpected(about.error());
    if (!*about) return no_analysis();
    const auto now = in->in().now();
    if (now && version(**about, is_stale_at(**about, *now)) == *request.if_version) {
      reading same;
      same.version = *request.if_version;
      if (is_vouched) same.valid = vouch(in, then, **about, is_stale_at(**about, *now));
      return same;
    }
  }
  auto found = in->get(id);
  if (!found) return tl::unexpected(std::move(found.error()));
  if (!*found) return no_analysis();
  const auto& entry = **found;
  auto text = text_of(at, *on_, entry);
  if (!text) return tl::unexpected(std::move(text.error()));
  auto made = reading_of(at, std::move(*text));
  made.version = version(entry.about, entry.is_stale);
  if (is_vouched) made.valid = vouch(in, then, entry.about, entry.is_stale);
  if (at.of == place::by_prompt) made.contents.front().metadata.emplace_back("dev.hondana/analysis", analysis_uri(id));
  return made;
}

result<reading> analyses_provider::read_index(const read_request& request, const address& at, analyses::cache& in) const {
  analyses::selection which;
  which.session = at.session;
  which.tag = at.tag;
  which.task = at.task;
  const auto now = about_now();
  std::vector<analyses::summary> all;
  auto behind = at.after;
  bool are_more = true;
  // What the caller may not know of is left out; that costs time, which has its end.
  for (std::size_t looked = 0; are_more && all.size() <= at.limit && looked < most_looked_at;) {
    if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
    auto page = in.in().list(which, behind, looked_at_at_once);
    if (!page) return tl::unexpected(std::move(page.error()));
    looked += looked_at_at_once;
    are_more = !page->is_last;
    behind = page->next;
    for (auto& one : page->all) {
      if (on_->may_read(request.who, entry_of(one, now))) all.push_back(on_->shown(std::move(one)));
      if (all.size() > at.limit) break;
    }
  }
  are_more = are_more || all.size() > at.limit;
  if (all.size() > at.limit) {
    all.resize(at.limit);
    behind = all.back().id;
  }
  auto next = at;
  next.after = behind;
  const auto next_uri = are_more ? uri_of_index(next) : std::string();
  return reading_of(
      at, at.as == format::json ? value_of_index(all, now, next_uri).to_text() : markdown_of_index(all, now, next_uri));
}

result<reading> analyses_provider::read_statistics(const address& at, const analyses::cache& in) const {
  const auto counted = in.counted();
  if (!counted) return tl::unexpected(counted.error());
  const auto facts = in.in().facts();
  if (!facts) return tl::unexpected(facts.error());
  return reading_of(at, at.as == format::json ? value_of(*counted, *facts).to_text() : markdown_of(*counted, *facts));
}

}  // namespace hondana::analyses_source
