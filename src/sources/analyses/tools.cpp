/// What the tools do.
#include "sources/analyses/tools.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include "protocol/model/times.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/contexts.hpp"
#include "sources/analyses/describe.hpp"
#include "sources/analyses/documents.hpp"
#include "sources/analyses/forgetting.hpp"
#include "sources/analyses/lookup.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::analyses_source {
namespace {

using analyses::answer;

/// What the handlers stand on.
struct desk {
  std::shared_ptr<ground> on;
  std::shared_ptr<follower> with;
};

std::string text_at(const value& arguments, std::string_view name) {
  const auto* found = arguments.find(name);
  const auto* text = found == nullptr ? nullptr : found->as_string();
  return text == nullptr ? std::string() : *text;
}

analyses::milliseconds time_at(const value& arguments, std::string_view name) {
  const auto* found = arguments.find(name);
  return analyses::milliseconds(found == nullptr ? 0 : found->as_integer().value_or(0));
}

analyses::task_type task_in(const value& arguments) {
  return analyses::task_named(text_at(arguments, "task")).value_or(analyses::task_type::basic);
}

/// What is asked, with the present versions of its context. Errors: as `decode_question` and `resolve`.
result<analyses::question> question_in(const desk& at, const tool_call& call) {
  value::object asked;
  for (const auto* name : {"prompt", "options", "models", "context"})
    if (const auto* found = call.arguments.find(name)) asked.emplace_back(name, *found);
  auto question = analyses::decode_question(value(std::move(asked)), {});
  if (!question) return question;
  HONDANA_TRY(resolve(*at.on, *at.with, call, *question, "context"));
  return question;
}

/// An analysis as a caller is shown it.
result<value> shown(const desk& at, const analyses::entry& from) { return parsed(at.on->shown(from)); }

value value_of_context(const std::vector<analyses::basis>& all) {
  value::array out;
  for (const auto& one : all) out.emplace_back(value::object{{"uri", one.uri}, {"version", one.version}});
  return out;
}

void name_analysis(value::object& in, const std::string& id) {
  in.emplace_back("id", id);
  in.emplace_back("uri", analysis_uri(id));
}

tool_outcome structured(value::object what) {
  tool_result out;
  out.structuredContent = value(std::move(what));
  return out;
}

std::string outcome_of(const answer& what) {
  switch (what.what) {
    case answer::kind::fresh:
      return "fresh";
    case answer::kind::stale:
      return "stale";
    case answer::kind::failed:
      return "failed";
    case answer::kind::computing:
      return "computing";
    case answer::kind::missing:
      break;
  }
  return "missing";
}

bool may_read(const desk& at, const caller& who, const analyses::summary& of) {
  return at.on->may_read(who, entry_of(of, about_now())).has_value();
}

/// Until when, and when it is worth while to ask again.
result<void> add_times(value::object& to, analyses::instant until, const analyses::cache& in) {
  constexpr analyses::milliseconds usual{1'000};
  HONDANA_TRY(const auto now, in.in().now());
  to.emplace_back("until", model::iso_8601(until));
  to.emplace_back("retryAfterMs", std::clamp(until - now, analyses::milliseconds(0), usual).count());
  return {};
}

/// What there is for a question, but for what the caller may not read.
result<void> add_answer(value::object& to, const desk& at, const tool_call& call, const answer& there,
                        const analyses::cache& in) {
  if (there.found && may_read(at, call.who, there.found->about)) {
    name_analysis(to, there.found->about.id);
    HONDANA_TRY(auto whole, shown(at, *there.found));
    to.emplace_back("analysis", std::move(whole));
  } else if (there.what == answer::kind::computing && there.claim) {
    const auto about = in.in().about(there.claim->id);
    if (about && *about && may_read(at, call.who, **about)) name_analysis(to, there.claim->id);
    HONDANA_TRY(add_times(to, there.claim->until, in));
  }
  if (there.what != answer::kind::failed) return {};
  to.emplace_back("why", at.on->how.redact ? secrets::redact_text(there.why) : there.why);
  return add_times(to, there.until, in);
}

std::string named_caller(const caller& who) {
  constexpr std::size_t longest = 128;
  auto end = std::min(who.identity.size(), longest);
  while (end > 0 && end < who.identity.size() && (static_cast<unsigned char>(who.identity[end]) & 0xC0U) == 0x80U) --end;
  return who.identity.substr(0, end);
}

result<tool_outcome> claim(const desk& at, const tool_call& call) {
  HONDANA_TRY(auto kept, at.on->kept());
  HONDANA_TRY(auto asked, question_in(at, call));
  analyses::claim_request wanted;
  wanted.asked = std::move(asked);
  wanted.task = task_in(call.arguments);
  wanted.session = text_at(call.arguments, "session");
  if (const auto* tags = call.arguments.find("tags"))
    for (const auto& one : *tags->as_array()) wanted.tags.push_back(*one.as_string());
  wanted.who = named_caller(call.who);
  wanted.lease = time_at(call.arguments, "leaseMs");
  const auto* force = call.arguments.find("force");
  wanted.is_forced = force != nullptr && force->as_boolean().value_or(false);
  wanted.stop = call.stop;
  // What it may not read is not there for this caller, who computes its own.
  wanted.is_hidden = [&](const analyses::summary& of) { return !may_read(at, call.who, of); };
  HONDANA_TRY(auto got, kept->claim(wanted));
  value::object out{{"outcome", got.by ? "claimed" : outcome_of(got.there)}};
  if (got.by) {
    out.emplace_back("ticket", analyses::spelled(*got.by));
    out.emplace_back("until", model::iso_8601(got.until));
    auto there = got.there;
    if (there.found && may_read(at, call.who, there.found->about)) {
      HONDANA_TRY(auto old, shown(at, *there.found));
      out.emplace_back("analysis", std::move(old));
    }
    name_analysis(out, got.by->id);
  } else if (auto done = add_answer(out, at, call, got.there, *kept); !done) {
    return tl::unexpected(std::move(done.error()));
  }
  out.emplace_back("byPrompt", by_prompt_uri(analyses::key_of(wanted.asked).prompt));
  if (!wanted.asked.context.empty()) out.emplace_back("context", value_of_context(wanted.asked.context));
  return structured(std::move(out));
}

value::object put_answer(std::string_view step, const analyses::summary& about) {
  value::object out{{"step", step}};
  name_analysis(out, about.id);
  out.emplace_back("status", analyses::name_of(about.how));
  return out;
}

result<tool_outcome> put_analysis(const desk& at, const tool_call& call, analyses::cache& in, std::string_view step,
                                  const std::optional<analyses::ticket>& by) {
  const auto* given = call.arguments.find("analysis");
  if (given == nullptr)
    return fail(errc::invalid_argument,
                "analysis: missing. Give the analysis to store; only the steps renew, fail and give_up work without one.");
  HONDANA_TRY(auto whole, analyses::decode(*given, "analysis"));
  HONDANA_TRY(resolve(*at.on, *at.with, call, whole.asked, "analysis.context"));
  if (step == "part") {
    HONDANA_TRY(const auto about, in.put_part(*by, whole));
    auto out = put_answer(step, about);
    out.emplace_back("until", model::iso_8601(about.expires));
    return structured(std::move(out));
  }
  HONDANA_TRY(const auto stored, by ? in.put(*by, whole) : in.put(whole));
  auto out = put_answer(step, stored.about);
  if (!stored.why_not.empty()) out.emplace_back("whyNot", stored.why_not);
  out.emplace_back("expires", model::iso_8601(stored.about.expires));
  if (stored.about.how == analyses::status::complete) out.emplace_back("byPrompt", by_prompt_uri(stored.about.of.prompt));
  return structured(std::move(out));
}

result<tool_outcome> put(const desk& at, const tool_call& call) {
  HONDANA_TRY(auto kept, at.on->kept());
  const auto given_step = text_at(call.arguments, "step");
  const std::string step = given_step.empty() ? "whole" : given_step;
  std::optional<analyses::ticket> by;
  if (const auto text = text_at(call.arguments, "ticket"); !text.empty()) {
    HONDANA_TRY(auto read, analyses::ticket_spelled(text));
    by = std::move(read);
  }
  if (!by && step != "whole")
    return fail(errc::invalid_argument,
                "ticket: missing. Give the ticket that analysis_claim returned; only the step whole works without one.");
  if (step == "whole" || step == "part") return put_analysis(at, call, *kept, step, by);
  value::object out{{"step", step}};
  name_analysis(out, by->id);
  if (step == "renew") {
    const auto until = kept->renew(*by, time_at(call.arguments, "leaseMs"));
    if (!until) return tl::unexpected(until.error());
    out.emplace_back("until", model::iso_8601(*until));
    return structured(std::move(out));
  }
  const auto why = text_at(call.arguments, "why");
  if (step == "fail" && why.empty())
    return fail(errc::invalid_argument,
                "why: missing. Give the reason of the failure; other callers with this question receive it.");
  HONDANA_TRY(step == "fail" ? kept->fail(*by, why) : kept->give_up(*by));
  return structured(std::move(out));
}

/// One that is named. Errors: resource_not_found.
result<tool_outcome> get_one(const desk& at, const tool_call& call, const std::string& id, const analyses::cache& in) {
  HONDANA_TRY(const auto found, in.get(id));
  if (!found) return tl::unexpected(no_analysis());
  const auto& entry = *found;
  if (auto may = at.on->may_read(call.who, entry_of(entry.about, about_now())); !may) {
    if (may.error().code == errc::scope_missing) return tl::unexpected(std::move(may.error()));
    return tl::unexpected(no_analysis());
  }
  HONDANA_TRY(const auto founded, is_founded(*at.on, *at.with, call, entry));
  if (!founded) return tl::unexpected(no_analysis());
  const auto outcome = entry.about.how == analyses::status::computing ? "computing"
                       : entry.about.how == analyses::status::below   ? "below"
                       : entry.is_stale                               ? "stale"
                                                                      : "fresh";
  HONDANA_TRY(auto whole, shown(at, entry));
  value::object out{{"outcome", outcome}};
  name_analysis(out, id);
  out.emplace_back("byPrompt", by_prompt_uri(entry.about.of.prompt));
  out.emplace_back("analysis", std::move(whole));
  return structured(std::move(out));
}

result<tool_outcome> get_by_digest(const desk& at, const tool_call& call, const std::string& prompt,
                                   const analyses::cache& in) {
  const auto found = find_by_prompt(*at.on, *at.with, call, prompt, in);
  if (found) return get_one(at, call, found->about.id, in);
  if (found.error().code != errc::resource_not_found) return tl::unexpected(found.error());
  return structured({{"outcome", "missing"}, {"byPrompt", by_prompt_uri(prompt)}});
}

result<tool_outcome> get(const desk& at, const tool_call& call) {
  HONDANA_TRY(auto kept, at.on->kept());
  const auto uri = text_at(call.arguments, "uri");
  const auto digest = text_at(call.arguments, "digest");
  const bool has_question = call.arguments.find("prompt") != nullptr;
  if ((uri.empty() ? 0 : 1) + (digest.empty() ? 0 : 1) + (has_question ? 1 : 0) != 1)
    return fail(errc::invalid_argument, "Give one of prompt (with options, models and context), uri and digest.");
  if (!uri.empty()) {
    const auto named = canonical_uri(uri).and_then([](const std::string& one) { return parse_address(one); });
    if (named && named->of == place::by_prompt) return get_by_digest(at, call, named->prompt, *kept);
    if (!named || named->of != place::analysis)
      return fail(errc::invalid_argument, "uri: expected wallbounce://analyses/ID or wallbounce://by-prompt/DIGEST");
    return get_one(at, call, named->id, *kept);
  }
  if (!digest.empty()) return get_by_digest(at, call, analyses::digest_spelled(digest).value_or(std::string()), *kept);
  HONDANA_TRY(auto asked, question_in(at, call));
  auto there =
      kept->look(asked, task_in(call.arguments), [&](const analyses::summary& of) { return !may_read(at, call.who, of); });
  if (!there) return tl::unexpected(std::move(there.error()));
  value::object out{{"outcome", outcome_of(*there)}};
  HONDANA_TRY(add_answer(out, at, call, *there, *kept));
  out.emplace_back("byPrompt", by_prompt_uri(analyses::key_of(asked).prompt));
  if (!asked.context.empty()) out.emplace_back("context", value_of_context(asked.context));
  return structured(std::move(out));
}

result<tool_outcome> invalidate(const desk& at, const tool_call& call) {
  HONDANA_TRY(auto kept, at.on->kept());
  HONDANA_TRY(const auto which, named_in(call.arguments));
  HONDANA_TRY(const auto count, forget(*at.on, call, which, *kept));
  return structured({{"forgotten", count}});
}

/// The resources that arguments name: an analysis, and a context. A ticket is no resource.
std::vector<std::string> uris_in(const value& arguments) {
  std::vector<std::string> out;
  const auto add = [&out](const std::string& text) {
    auto canonical = canonical_uri(text);
    if (canonical) out.push_back(std::move(*canonical));
  };
  const auto add_context = [&](const value* context) {
    if (context == nullptr) return;
    if (const auto* text = context->as_string()) add(*text);
    const auto* all = context->as_array();
    if (all == nullptr) return;
    // Nothing of it has been checked yet; with more than may be it is refused.
    for (std::size_t i = 0; i < std::min(all->size(), analyses::most_bases); ++i) add(text_at((*all)[i], "uri"));
  };
  add(text_at(arguments, "uri"));
  if (const auto digest = analyses::digest_spelled(text_at(arguments, "digest"))) out.push_back(by_prompt_uri(*digest));
  add_context(arguments.find("context"));
  if (const auto* analysis = arguments.find("analysis")) add_context(analysis->find("context"));
  return out;
}

source_tool offer(tool entry, const desk& at, result<tool_outcome> (*does)(const desk&, const tool_call&)) {
  source_tool out;
  out.entry = std::move(entry);
  out.handler = [at, does](const tool_call& call) { return does(at, call); };
  out.uris_of = uris_in;
  return out;
}

}  // namespace

std::vector<source_tool> make_tools(const std::shared_ptr<ground>& on, const std::shared_ptr<follower>& with) {
  const desk at{on, with};
  return {offer(claim_entry(), at, &claim), offer(put_entry(), at, &put), offer(get_entry(), at, &get),
          offer(invalidate_entry(), at, &invalidate)};
}

}  // namespace hondana::analyses_source
