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
    HONDANA_TRY(auto whole, parsed(json));
    if (at.of == place::flow) return flow_in(whole).to_text();
    return vote_in(whole, at.provider).map([](const value& vote) { return vote.to_text(); });
  }
  HONDANA_TRY(auto whole, decoded(json));
  const auto about = on.shown(from.about);
  if (is_whole) return markdown_of(about, whole, from.is_stale);
  if (at.of == place::flow) return markdown_of_flow(about, whole, from.is_stale);
  const auto vote =
      std::find_if(whole.votes.begin(), whole.votes.end(), [&](const auto& one) { return one.provider == at.provider; });
  if (vote != whole.votes.end()) return markdown_of_vote(about, *vote);
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
  HONDANA_TRY(auto at, parse_address(request.uri));
  HONDANA_TRY(auto kept, on_->kept());
  if (at.of == place::index) return read_index(request, at, *kept);
  if (at.of == place::statistics) return read_statistics(at, *kept);
  const vouching::moment then{kept->generation(), follower_->news()->load()};
  if (at.of != place::by_prompt) return read_analysis(request, at, at.id, true, then, kept);
  HONDANA_TRY(const auto found, find_by_prompt(*on_, *follower_, request, at.prompt, *kept));
  // Which one it leads to depends on scopes, too.
  return read_analysis(request, at, found.about.id, found.is_watched && !request.who.proof, then, kept);
}

result<reading> analyses_provider::read_analysis(const read_request& request, const address& at, const std::string& id,
                                                 bool is_vouched, vouching::moment then, const cache_there& in) const {
  const auto version = [&](const analyses::summary& of, bool is_stale) {
    return (at.of == place::by_prompt ? of.id + '-' : std::string()) + version_of(of, is_stale);
  };
  if (request.if_version) {
    HONDANA_TRY(const auto about, in->in().about(id));
    if (!about) return no_analysis();
    const auto now = in->in().now();
    if (now && version(*about, is_stale_at(*about, *now)) == *request.if_version) {
      reading same;
      same.version = *request.if_version;
      if (is_vouched) same.valid = vouch(in, then, *about, is_stale_at(*about, *now));
      return same;
    }
  }
  HONDANA_TRY(auto found, in->get(id));
  if (!found) return no_analysis();
  const auto& entry = *found;
  HONDANA_TRY(auto text, text_of(at, *on_, entry));
  auto made = reading_of(at, std::move(text));
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
  HONDANA_TRY(const auto counted, in.counted());
  HONDANA_TRY(const auto facts, in.in().facts());
  return reading_of(at, at.as == format::json ? value_of(counted, facts).to_text() : markdown_of(counted, facts));
}

}  // namespace hondana::analyses_source
