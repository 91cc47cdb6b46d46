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
  std::shared_ptr<analyses::cache> cache;
  std::shared_ptr<provider> source;
};

namespace {

analyses::task_policy make_policy(const analysis_task_options& options) {
  return {options.fresh_ttl, options.stale_ttl, {options.min_confidence, options.min_consensus, options.min_providers}};
}

/// Validates the question as the tools do. Errors: invalid_argument.
result<analyses::model_question> to_question(const analysis_question& question) {
  value::array models, context;
  for (const auto& model : question.models) models.emplace_back(model);
  for (const auto& resource : question.context)
    context.emplace_back(value::object{{"uri", resource.uri}, {"version", resource.version.value_or(std::string())}});
  return analyses::decode_question(value::object{{"prompt", question.prompt},
                                                 {"options", question.options},
                                                 {"models", std::move(models)},
                                                 {"context", std::move(context)}},
                                   {});
}

result<analyses::task_type> parse_task(std::string_view name) {
  const auto task = analyses::parse_task_type(name);
  if (!task) return fail(errc::invalid_argument, "task: expected basic, premium or critical");
  return *task;
}

analysis_answer::cache_status to_public_status(analyses::cached_answer::cache_status status) {
  using internal = analyses::cached_answer::cache_status;
  using external = analysis_answer::cache_status;
  switch (status) {
    case internal::fresh:
      return external::fresh;
    case internal::stale:
      return external::stale;
    case internal::failed:
      return external::failed;
    case internal::computing:
      return external::computing;
    case internal::missing:
      break;
  }
  return external::missing;
}

result<analysis_answer> to_public_answer(const analyses::cached_answer& answer) {
  analysis_answer out;
  out.status = to_public_status(answer.status);
  if (answer.status == analyses::cached_answer::cache_status::failed) {
    out.reason = answer.failure_reason;
    out.expires_at = answer.failure_expires_at;
  }
  if (answer.entry) {
    out.id = answer.entry->summary.id;
    HONDANA_TRY(auto analysis, analyses_source::parse_stored(answer.entry->to_json()));
    out.analysis = std::move(analysis);
  } else if (answer.claim) {
    out.id = answer.claim->id;
    out.expires_at = answer.claim->lease_expires_at;
  }
  return out;
}

stored_analysis to_stored_analysis(const analyses::cache::put_result& result) {
  return {result.summary.id, analyses_source::analysis_uri(result.summary.id),
          result.summary.status == analyses::analysis_status::complete, result.not_final_reason};
}

}  // namespace

analysis_cache::analysis_cache(std::unique_ptr<state> initial_state) noexcept : state_(std::move(initial_state)) {}
analysis_cache::~analysis_cache() = default;

result<std::shared_ptr<analysis_cache>> analysis_cache::open(const analysis_cache_options& cache_options) {
  analyses_source::settings settings;
  if (cache_options.path && cache_options.redis_url)
    return hondana::fail(errc::invalid_argument, "redis_url: analyses are stored in a file or in Redis, not in both");
  if (cache_options.path && !std::filesystem::path(*cache_options.path).is_absolute())
    return hondana::fail(errc::invalid_argument, "path: expected an absolute path");
  settings.path = cache_options.path.value_or(std::string());
  settings.policy.by_task = {make_policy(cache_options.basic), make_policy(cache_options.premium),
                             make_policy(cache_options.critical)};
  settings.policy.failure_ttl = cache_options.failure_ttl;
  settings.policy.lease_ttl = cache_options.lease_ttl;
  settings.policy.limits.max_bytes = cache_options.max_bytes;
  settings.policy.limits.max_entries = cache_options.max_entries;
  HONDANA_TRY(analyses::validate(settings.policy));
  if (cache_options.redis_url) {
    auto& redis = settings.redis.emplace();
    redis.options.url = *cache_options.redis_url;
    redis.options.password = cache_options.redis_password.value_or(std::string());
    redis.options.ca_file = cache_options.redis_ca_file.value_or(std::string());
    redis.options.certificate_file = cache_options.redis_certificate_file.value_or(std::string());
    redis.options.key_file = cache_options.redis_key_file.value_or(std::string());
    redis.options.prefix = cache_options.redis_prefix;
    HONDANA_TRY(analyses::validate(redis.options));
  }
  HONDANA_TRY(auto requirements, analyses_source::requirements_of(settings));
  auto new_state = std::make_unique<state>();
  auto opened = analyses_source::open_cache(settings, cache_options.log);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  new_state->cache = std::move(*opened);
  analyses_source::provider_options options;
  options.open_cache = [cache = new_state->cache] { return result<std::shared_ptr<analyses::cache>>(cache); };
  options.requirements = std::move(requirements);
  options.redact = cache_options.redact;
  options.log = cache_options.log;
  new_state->source = std::make_shared<analyses_source::analyses_provider>(std::move(options));
  return std::make_shared<analysis_cache>(std::move(new_state));
}

result<analysis_claim> analysis_cache::claim(const analysis_claim_request& request) {
  HONDANA_TRY(const auto task, parse_task(request.task));
  HONDANA_TRY(auto question, to_question(request.question));
  analyses::claim_request cache_request;
  cache_request.question = std::move(question);
  cache_request.task = task;
  cache_request.session = request.session;
  cache_request.tags = request.tags;
  cache_request.claimant = request.program;
  if (request.lease_ttl) cache_request.lease_ttl = *request.lease_ttl;
  cache_request.wait_timeout = request.wait_timeout;
  cache_request.is_forced = request.is_forced;
  cache_request.stop = request.stop;
  HONDANA_TRY(const auto result, state_->cache->claim(cache_request));
  HONDANA_TRY(auto answer, to_public_answer(result.answer));
  analysis_claim out;
  if (result.ticket) {
    out.ticket = analyses::format_ticket(*result.ticket);
    out.lease_expires_at = result.lease_expires_at;
  }
  out.answer = std::move(answer);
  return out;
}

result<stored_analysis> analysis_cache::put(const std::string& ticket, const value& analysis) {
  HONDANA_TRY(const auto parsed_ticket, analyses::parse_ticket(ticket));
  return analyses::decode(analysis, {}).and_then([&](const analyses::analysis& decoded) {
    return state_->cache->put(parsed_ticket, decoded).map([](const auto& result) { return to_stored_analysis(result); });
  });
}

result<stored_analysis> analysis_cache::put(const value& analysis) {
  return analyses::decode(analysis, {}).and_then([&](const analyses::analysis& decoded) {
    return state_->cache->put(decoded).map([](const auto& result) { return to_stored_analysis(result); });
  });
}

result<void> analysis_cache::put_partial(const std::string& ticket, const value& analysis) {
  HONDANA_TRY(const auto parsed_ticket, analyses::parse_ticket(ticket));
  HONDANA_TRY(const auto decoded, analyses::decode(analysis, {}));
  HONDANA_TRY(state_->cache->put_partial(parsed_ticket, decoded));
  return {};
}

result<void> analysis_cache::fail(const std::string& ticket, std::string_view reason) {
  HONDANA_TRY(const auto parsed_ticket, analyses::parse_ticket(ticket));
  return state_->cache->fail(parsed_ticket, reason);
}

result<void> analysis_cache::release_claim(const std::string& ticket) {
  HONDANA_TRY(const auto parsed_ticket, analyses::parse_ticket(ticket));
  return state_->cache->release_claim(parsed_ticket);
}

result<analysis_answer> analysis_cache::get(const analysis_question& question, std::string_view task) {
  HONDANA_TRY(const auto type, parse_task(task));
  return to_question(question)
      .and_then([&](const analyses::model_question& decoded) { return state_->cache->look_up(decoded, type); })
      .and_then(to_public_answer);
}

result<value> analysis_cache::get(const std::string& id) {
  if (!analyses_source::is_id(id))
    return hondana::fail(errc::invalid_argument, "id: expected 32 lower-case hexadecimal digits");
  HONDANA_TRY(const auto stored, state_->cache->get(id));
  if (!stored) return tl::unexpected(analyses_source::analysis_not_found());
  return analyses_source::parse_stored(stored->to_json());
}

result<std::uint64_t> analysis_cache::invalidate(const analysis_selection& selection) {
  int count = selection.everything ? 1 : 0;
  for (const auto* member : {&selection.id, &selection.session, &selection.tag, &selection.context}) {
    if (!*member) continue;
    if ((*member)->empty()) return hondana::fail(errc::invalid_argument, "id, session, tag and context must not be empty.");
    ++count;
  }
  if (count != 1) return hondana::fail(errc::invalid_argument, "Give one of id, session, tag, context and everything.");
  analyses::erase_filter filter;
  filter.id = selection.id.value_or(std::string());
  filter.session = selection.session.value_or(std::string());
  filter.tag = selection.tag.value_or(std::string());
  filter.uri = selection.context.value_or(std::string());
  filter.everything = selection.everything;
  return state_->cache->erase(filter);
}

std::shared_ptr<provider> analysis_cache::source() const { return state_->source; }

}  // namespace hondana::inline v0
