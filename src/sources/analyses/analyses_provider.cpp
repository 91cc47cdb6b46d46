/// The provider of analyses: resources, completion and change notifications.
#include "sources/analyses/analyses_provider.hpp"

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/completion.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/uri.hpp>

#include "os/disk/private_file.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/analyses/analysis_lookup.hpp"
#include "sources/analyses/analysis_rendering.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/analysis_tools.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/context_watcher.hpp"
#include "sources/analyses/provider_state.hpp"
#include "sources/analyses/settings.hpp"
#include "sources/config/section.hpp"

namespace hondana::analyses_source {

/// Completion values: ids of analyses that the caller may see; providers, sessions, tags and digests of analyses that it may
/// read.
[[nodiscard]] result<complete_result> completed(const complete_request& request, const ground& on, analyses::cache& in);

namespace {

constexpr std::size_t most_of_a_page = 1000;

}  // namespace

analyses_provider::analyses_provider(provider_options from)
    : on_(std::make_shared<ground>(std::move(from))), follower_(std::make_shared<follower>(on_)) {}

analyses_provider::~analyses_provider() { follower_->end(); }

std::vector<std::string> analyses_provider::claims() const {
  return {std::string(index_uri), std::string(by_prompt_claim), std::string(statistics_uri)};
}

scheme_documentation analyses_provider::documentation() const { return analyses_source::describe(); }

std::vector<resource_template> analyses_provider::templates() const { return analyses_source::templates(); }

result<list_result> analyses_provider::list(const list_request& request) {
  auto page = page_of(request);
  // An unavailable store must not break the lists of other sources. Health, the log, `hondana check` and reads report the
  // reason. When the store is back, clients are notified that the list changed.
  const bool is_out_of_reach = !page && (page.error().code == errc::source_unavailable || page.error().code == errc::timed_out);
  if (!is_out_of_reach || model::is_index(request.who)) return page;
  on_->left_out(page.error());
  return list_result{};
}

result<void> analyses_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  list_request asked;
  static_cast<call&>(asked) = request;
  for (;;) {
    const auto page = page_of(asked);
    if (!page) return tl::unexpected(page.error());
    for (const auto& one : page->entries) each({one.name, one.uri, true, {}});
    if (!page->resume) return {};
    asked.after = *page->resume;
  }
}

result<list_result> analyses_provider::page_of(const list_request& request) const {
  if (auto why = on_->watched_problem()) return tl::unexpected(std::move(*why));
  list_result out;
  const auto is_after = [&](std::string_view uri) {
    return request.after.empty() || std::is_gt(compare_by_segment(uri, request.after));
  };
  if (request.limit == 0) return out;
  HONDANA_TRY(auto kept, on_->kept());
  if (is_after(index_uri)) out.entries.push_back(index_entry());
  auto behind = request.after.empty() ? std::optional(std::string()) : id_behind(request.after);
  if (behind) {
    const auto now = about_now();
    for (bool is_last = false; !is_last;) {
      if (out.entries.size() >= request.limit) {
        out.resume = out.entries.back().uri;
        return out;
      }
      if (request.stop.stop_requested()) return fail(errc::cancelled, "The request was cancelled.");
      auto page = kept->in().list({}, *behind, std::min(request.limit - out.entries.size(), most_of_a_page));
      if (!page) return tl::unexpected(std::move(page.error()));
      is_last = page->is_last;
      behind = page->next;
      for (const auto& one : page->all) {
        if (is_after(analysis_uri(one.id))) out.entries.push_back(entry_of(on_->shown(one), now));
      }
    }
  }
  if (is_after(statistics_uri)) {
    if (out.entries.size() >= request.limit) {
      out.resume = out.entries.back().uri;
      return out;
    }
    out.entries.push_back(statistics_entry());
  }
  return out;
}

result<resource> analyses_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto at, parse_address(request.uri));
  if (at.of == place::index || at.of == place::statistics) {
    auto entry = at.of == place::index ? index_entry() : statistics_entry();
    entry.uri = request.uri;
    if (at.as == format::json) entry.mimeType = mime_of(format::json);
    return entry;
  }
  HONDANA_TRY(auto kept, on_->kept());
  const auto with_uri = [&](resource entry) {
    entry.uri = request.uri;
    return entry;
  };
  if (at.of == place::by_prompt) {
    HONDANA_TRY(const auto found, find_by_prompt(*on_, *follower_, request, at.prompt, *kept));
    return with_uri(entry_of(at, on_->shown(found.about), about_now()));
  }
  HONDANA_TRY(auto about, kept->in().about(at.id));
  if (!about) return no_analysis();
  if (at.of == place::vote) {
    HONDANA_TRY(auto whole, kept->get(at.id));
    if (!whole) return no_analysis();
    const auto has_it = analyses::analysis_of(*whole).map([&](const analyses::analysis& one) {
      return std::any_of(one.votes.begin(), one.votes.end(), [&](const auto& vote) { return vote.provider == at.provider; });
    });
    if (!has_it) return tl::unexpected(has_it.error());
    if (!*has_it) return fail(errc::resource_not_found, "Vote not found: this analysis has no vote of that provider.");
  }
  return with_uri(entry_of(at, on_->shown(*about), about_now()));
}

void analyses_provider::watch(std::shared_ptr<change_listener> to) { follower_->tell_to(std::move(to)); }
void analyses_provider::attach(const std::string& uri) { follower_->attach(uri); }
void analyses_provider::detach(const std::string& uri) { follower_->detach(uri); }

hondana::needs analyses_provider::needs() const { return on_->how.needs; }

hondana::masking analyses_provider::masking() const noexcept { return on_->how.redact ? masking::by_server : masking::none; }

hondana::health analyses_provider::health() const {
  const auto problem = on_->problem();
  return problem ? hondana::health{false, problem->public_text} : hondana::health{};
}

std::vector<source_tool> analyses_provider::tools() { return make_tools(on_, follower_); }

void analyses_provider::settle(std::shared_ptr<neighbourhood> in) { follower_->settle(std::move(in)); }

void analyses_provider::resource_changed(std::string_view uri) { follower_->heard_of(uri); }

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
  // Returns the error that names the existing providers.
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
  // With scopes, the target of the prompt depends on the caller, so the reading must not be cached for others.
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
  // Entries that the caller may not see are skipped. The number of entries checked is limited.
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

namespace {

using naming = analyses::store::naming;

constexpr std::size_t most_named = 100;
/// The newest analyses that are checked, if access must be checked for each.
constexpr std::size_t most_seen = 2'000;
/// The same limit if contents must be read, too.
constexpr std::size_t most_opened = 50;

using predicate = std::function<bool(const analyses::summary&)>;

/// Calls `each` for the newest analyses that are `shown` to the caller, until it returns false.
result<void> each_shown(const complete_request& request, const analyses::cache& in, const predicate& shown,
                        const predicate& each) {
  constexpr std::size_t at_once = 500;
  std::string behind;
  for (std::size_t looked = 0; looked < most_seen;) {
    const auto page = in.in().list({}, behind, at_once);
    if (!page) return tl::unexpected(page.error());
    for (const auto& one : page->all) {
      if (shown(one) && !each(one)) return {};
    }
    looked += at_once;
    behind = page->next;
    if (page->is_last || request.stop.stop_requested()) break;
  }
  return {};
}

result<std::vector<std::string>> texts_of(const complete_request& request, const analyses::cache& in, const predicate& shown,
                                          const std::function<std::string(const analyses::summary&)>& text) {
  std::vector<std::string> out;
  std::set<std::string, std::less<>> known;
  auto done = each_shown(request, in, shown, [&](const analyses::summary& one) {
    auto made = text(one);
    if (!made.empty() && known.insert(made).second) out.push_back(std::move(made));
    return true;
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<void> add_providers(const analyses::cache& in, const std::string& id, std::set<std::string, std::less<>>& into) {
  HONDANA_TRY(const auto found, in.get(id));
  if (!found) return {};
  const auto whole = analyses::analysis_of(*found);
  if (!whole) return tl::unexpected(whole.error());
  for (const auto& one : whole->votes) into.insert(one.provider);
  return {};
}

result<std::vector<std::string>> providers_for(const complete_request& request, const analyses::cache& in,
                                               const predicate& is_readable) {
  std::set<std::string, std::less<>> names;
  const auto id = request.chosen("id");
  result<void> done;
  if (is_id(id)) {
    HONDANA_TRY(const auto about, in.in().about(id));
    if (about && is_readable(*about)) done = add_providers(in, id, names);
  } else {
    std::size_t opened = 0;
    result<void> read;
    done = each_shown(request, in, is_readable, [&](const analyses::summary& one) {
      read = add_providers(in, one.id, names);
      return read && ++opened < most_opened;
    });
    if (done) done = std::move(read);
  }
  if (!done) return tl::unexpected(std::move(done.error()));
  return std::vector<std::string>(names.begin(), names.end());
}

result<std::vector<std::string>> values_for(const complete_request& request, const ground& on, const analyses::cache& in) {
  const auto& name = request.argument;
  const bool sees_all = request.who.view == nullptr;
  const auto now = about_now();
  const predicate is_seen = [&](const analyses::summary& one) { return ground::may_see(request.who, entry_of(one, now)); };
  // Except for ids, the values come from the contents of analyses, so the caller must be able to read them.
  const predicate is_readable = [&](const analyses::summary& one) {
    return on.may_read(request.who, entry_of(one, now)).has_value();
  };
  if (name == "id" || name == "after") {
    if (sees_all) return in.in().names(naming::id, request.value, most_named);
    return texts_of(request, in, is_seen, [](const analyses::summary& one) { return one.id; });
  }
  if (name == "session") {
    if (sees_all) return in.in().names(naming::session, request.value, most_named);
    return texts_of(request, in, is_readable, [](const analyses::summary& one) { return one.session; });
  }
  if (name == "provider") {
    if (sees_all && !is_id(request.chosen("id"))) return in.in().names(naming::provider, request.value, most_named);
    return providers_for(request, in, is_readable);
  }
  // A summary does not contain the tags. So a caller that may not see all analyses gets no tags.
  if (name == "tag") {
    if (sees_all) return in.in().names(naming::tag, request.value, most_named);
    return std::vector<std::string>();
  }
  if (name == "digest")
    return texts_of(request, in, is_readable, [](const analyses::summary& one) { return analyses::spelled(one.of.prompt); });
  return std::vector<std::string>();
}

}  // namespace

result<complete_result> completed(const complete_request& request, const ground& on, analyses::cache& in) {
  HONDANA_TRY(auto values, values_for(request, on, in));
  return complete_from(request.value, values);
}

result<complete_result> analyses_provider::complete(const complete_request& request) {
  static const std::vector<std::string> formats{"markdown", "json"};
  static const std::vector<std::string> tasks{"basic", "premium", "critical"};
  static const std::vector<std::string> limits{"10", "50", "100", "500"};
  if (request.argument == "format") return complete_from(request.value, formats);
  if (request.argument == "task") return complete_from(request.value, tasks);
  if (request.argument == "limit") return complete_from(request.value, limits);
  HONDANA_TRY(auto kept, on_->kept());
  return completed(request, *on_, *kept);
}

}  // namespace hondana::analyses_source

// This folder's name, as the table of providers spells it.
namespace hondana::analyses {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  auto how = analyses_source::read_settings(from);
  if (!how) return tl::unexpected(std::move(how.error()));
  auto needs = analyses_source::needs_of(*how);
  if (!needs) return tl::unexpected(from.wrong(how->redis ? "redis" : "store", needs.error().public_text));
  // Create the folder now: the sandbox gives write access only to folders that exist when it starts.
  if (!how->redis && !how->path.empty()) {
    const auto folder = std::filesystem::path(how->path).parent_path().string();
    if (auto made = disk::make_private_folder(folder); !made)
      return tl::unexpected(from.wrong("store", made.error().public_text));
  }
  analyses_source::provider_options options;
  options.needs = std::move(*needs);
  options.redact = how->redact;
  options.watch = how->watch;
  options.check_every = how->check_every;
  options.log = log;
  options.open = [how = std::move(*how), log] { return analyses_source::open_cache(how, log); };
  return std::make_shared<analyses_source::analyses_provider>(std::move(options));
}

scheme_documentation describe() { return analyses_source::describe(); }

}  // namespace hondana::analyses
