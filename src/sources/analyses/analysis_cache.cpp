/// The public class analysis_cache, for applications that embed the library.

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include <hondana/analyses.hpp>

#include "sources/analyses/analyses_provider.hpp"
#include "sources/analyses/analysis_lookup.hpp"
#include "sources/analyses/analysis_rendering.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/settings.hpp"

namespace hondana::inline v0 {

struct analysis_cache::state {
  std::shared_ptr<analyses::cache> kept;
  std::shared_ptr<provider> source;
};

namespace {

analyses::task_policy policy_of(const analysis_task_options& from) {
  return {from.fresh, from.stale, {from.confidence, from.consensus, from.providers}};
}

/// Validates the question as the tools do. Errors: invalid_argument.
result<analyses::question> question_of(const analysis_question& from) {
  value::array models, context;
  for (const auto& one : from.models) models.emplace_back(one);
  for (const auto& one : from.context) context.emplace_back(value::object{{"uri", one.uri}, {"version", one.version}});
  return analyses::decode_question(
      value::object{
          {"prompt", from.prompt}, {"options", from.options}, {"models", std::move(models)}, {"context", std::move(context)}},
      {});
}

result<analyses::task_type> task_of(std::string_view name) {
  const auto found = analyses::task_named(name);
  if (!found) return fail(errc::invalid_argument, "task: expected basic, premium or critical");
  return *found;
}

analysis_answer::kind kind_of(analyses::answer::kind what) {
  using from = analyses::answer::kind;
  using to = analysis_answer::kind;
  switch (what) {
    case from::fresh:
      return to::fresh;
    case from::stale:
      return to::stale;
    case from::failed:
      return to::failed;
    case from::computing:
      return to::computing;
    case from::missing:
      break;
  }
  return to::missing;
}

result<analysis_answer> answer_of(const analyses::answer& from) {
  analysis_answer out;
  out.what = kind_of(from.what);
  if (from.what == analyses::answer::kind::failed) {
    out.why = from.why;
    out.until = from.until;
  }
  if (from.found) {
    out.id = from.found->about.id;
    HONDANA_TRY(auto whole, analyses_source::parsed(from.found->to_json()));
    out.analysis = std::move(whole);
  } else if (from.claim) {
    out.id = from.claim->id;
    out.until = from.claim->until;
  }
  return out;
}

analysis_kept kept_of(const analyses::cache::kept& from) {
  return {from.about.id, analyses_source::analysis_uri(from.about.id), from.about.how == analyses::status::complete,
          from.why_not};
}

}  // namespace

analysis_cache::analysis_cache(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
analysis_cache::~analysis_cache() = default;

result<std::shared_ptr<analysis_cache>> analysis_cache::open(const analysis_cache_options& from) {
  analyses_source::settings how;
  if (!from.path.empty() && !from.redis.empty())
    return hondana::fail(errc::invalid_argument, "redis: analyses are stored in a file or in Redis, not in both");
  if (!from.path.empty() && !std::filesystem::path(from.path).is_absolute())
    return hondana::fail(errc::invalid_argument, "path: expected an absolute path");
  how.path = from.path;
  how.by.by_task = {policy_of(from.basic), policy_of(from.premium), policy_of(from.critical)};
  how.by.failures = from.failures;
  how.by.lease = from.lease;
  how.by.kept.bytes = from.most_bytes;
  how.by.kept.entries = from.most_entries;
  HONDANA_TRY(analyses::check(how.by));
  if (!from.redis.empty()) {
    auto& redis = how.redis.emplace();
    redis.at.url = from.redis;
    redis.at.password = from.redis_password;
    redis.at.authorities = from.redis_authorities;
    redis.at.certificate = from.redis_certificate;
    redis.at.key = from.redis_key;
    redis.at.prefix = from.redis_prefix;
    HONDANA_TRY(analyses::check(redis.at));
  }
  HONDANA_TRY(auto needs, analyses_source::needs_of(how));
  auto made = std::make_unique<state>();
  auto kept = analyses_source::open_cache(how, from.log);
  if (!kept) return tl::unexpected(std::move(kept.error()));
  made->kept = std::move(*kept);
  analyses_source::provider_options options;
  options.open = [kept = made->kept] { return result<std::shared_ptr<analyses::cache>>(kept); };
  options.needs = std::move(needs);
  options.redact = from.redact;
  options.log = from.log;
  made->source = std::make_shared<analyses_source::analyses_provider>(std::move(options));
  return std::make_shared<analysis_cache>(std::move(made));
}

result<analysis_claim> analysis_cache::claim(const analysis_claim_request& what) {
  HONDANA_TRY(const auto task, task_of(what.task));
  HONDANA_TRY(auto asked, question_of(what.asked));
  analyses::claim_request wanted;
  wanted.asked = std::move(asked);
  wanted.task = task;
  wanted.session = what.session;
  wanted.tags = what.tags;
  wanted.who = what.who;
  wanted.lease = what.lease;
  wanted.wait = what.wait;
  wanted.is_forced = what.is_forced;
  wanted.stop = what.stop;
  HONDANA_TRY(const auto got, state_->kept->claim(wanted));
  HONDANA_TRY(auto there, answer_of(got.there));
  analysis_claim out;
  if (got.by) out.ticket = analyses::spelled(*got.by);
  out.until = got.until;
  out.there = std::move(there);
  return out;
}

result<analysis_kept> analysis_cache::put(const std::string& ticket, const value& analysis) {
  HONDANA_TRY(const auto by, analyses::ticket_spelled(ticket));
  return analyses::decode(analysis, {}).and_then([&](const analyses::analysis& one) {
    return state_->kept->put(by, one).map([](const auto& kept) { return kept_of(kept); });
  });
}

result<analysis_kept> analysis_cache::put(const value& analysis) {
  return analyses::decode(analysis, {}).and_then([&](const analyses::analysis& one) {
    return state_->kept->put(one).map([](const auto& kept) { return kept_of(kept); });
  });
}

result<void> analysis_cache::put_part(const std::string& ticket, const value& so_far) {
  HONDANA_TRY(const auto by, analyses::ticket_spelled(ticket));
  HONDANA_TRY(const auto part, analyses::decode(so_far, {}));
  HONDANA_TRY(state_->kept->put_part(by, part));
  return {};
}

result<void> analysis_cache::fail(const std::string& ticket, std::string_view why) {
  HONDANA_TRY(const auto by, analyses::ticket_spelled(ticket));
  return state_->kept->fail(by, why);
}

result<void> analysis_cache::give_up(const std::string& ticket) {
  HONDANA_TRY(const auto by, analyses::ticket_spelled(ticket));
  return state_->kept->give_up(by);
}

result<analysis_answer> analysis_cache::get(const analysis_question& asked, std::string_view task) {
  HONDANA_TRY(const auto type, task_of(task));
  return question_of(asked)
      .and_then([&](const analyses::question& one) { return state_->kept->look(one, type); })
      .and_then(answer_of);
}

result<value> analysis_cache::get(const std::string& id) {
  if (!analyses_source::is_id(id))
    return hondana::fail(errc::invalid_argument, "id: expected 32 lower-case hexadecimal digits");
  HONDANA_TRY(const auto found, state_->kept->get(id));
  if (!found) return tl::unexpected(analyses_source::no_analysis());
  return analyses_source::parsed(found->to_json());
}

result<std::uint64_t> analysis_cache::invalidate(const analysis_selection& which) {
  const auto count = (which.id.empty() ? 0 : 1) + (which.session.empty() ? 0 : 1) + (which.tag.empty() ? 0 : 1) +
                     (which.context.empty() ? 0 : 1) + (which.everything ? 1 : 0);
  if (count != 1) return hondana::fail(errc::invalid_argument, "Give one of id, session, tag, context and everything.");
  analyses::forgetting all;
  all.id = which.id;
  all.session = which.session;
  all.tag = which.tag;
  all.uri = which.context;
  all.everything = which.everything;
  return state_->kept->forget(all);
}

std::shared_ptr<provider> analysis_cache::source() const { return state_->source; }

}  // namespace hondana::inline v0
