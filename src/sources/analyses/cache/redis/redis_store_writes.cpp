/// The Redis store of analyses: claims, puts, removal and statistics.

#include <algorithm>
#include <charconv>
#include <utility>

#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/redis/redis_store_impl.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {
namespace {

/// Small numbers: Redis runs one script at a time, and other clients must not wait long.
constexpr std::string_view erase_batch = "1000";
constexpr std::string_view sweep_batch = "500";

std::string join(const std::vector<std::string>& texts) {
  std::string out;
  for (const auto& text : texts) out.append(out.empty() ? "" : "\n").append(text);
  return out;
}

std::string join(const std::vector<resource_version>& resources) {
  std::string out;
  for (const auto& resource : resources)
    out.append(out.empty() ? "" : "\n").append(resource.uri).append("\x1f").append(resource.version);
  return out;
}

std::string format_double(double number) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  return std::string(digits.data(), end);
}

/// Without an exponent: HINCRBYFLOAT does not accept large ones.
std::string format_fixed(double number) {
  std::array<char, 400> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed).ptr;
  return std::string(digits.data(), end);
}

struct statistics_field {
  std::string_view name;
  std::uint64_t task_statistics::* integer_member = nullptr;
  double task_statistics::* double_member = nullptr;
};
constexpr std::array statistics_fields{
    statistics_field{"hits", &task_statistics::hits},
    statistics_field{"stale_hits", &task_statistics::stale_hits},
    statistics_field{"misses", &task_statistics::misses},
    statistics_field{"failures", &task_statistics::failures},
    statistics_field{"computed", &task_statistics::computed},
    statistics_field{"below", &task_statistics::below_thresholds},
    statistics_field{"milliseconds_saved", &task_statistics::milliseconds_saved},
    statistics_field{"milliseconds_spent", &task_statistics::milliseconds_spent},
    statistics_field{"cost_saved", nullptr, &task_statistics::cost_saved},
    statistics_field{"cost_spent", nullptr, &task_statistics::cost_spent},
};

std::string field_name(std::size_t task, std::string_view name) {
  return std::string(name_of(static_cast<task_type>(task))) + '.' + std::string(name);
}

}  // namespace

tl::unexpected<failure> redis_store::ticket_failure(const redis_reply& reply) {
  const auto& reason = reply.at(0).text;
  if (reason == "put") return already_put();
  if (reason == "other") return question_mismatch();
  if (reason == "bytes") return too_many_computing_bytes();
  return no_such_claim();
}

result<claim_result> redis_store::claim(const claim_parameters& parameters) {
  HONDANA_TRY(analyses::validate(parameters));
  const auto random = make_random_digits();
  if (!random) return tl::unexpected(random.error());
  HONDANA_TRY(const auto secret, make_secret());
  HONDANA_TRY(const auto initial, prepare_claim(parameters));
  const auto task = std::to_string(static_cast<int>(parameters.task)), lease = std::to_string(parameters.lease_ttl.count());
  const auto tags = join(parameters.tags), context = join(parameters.question.context);
  const auto claimant = std::string_view(parameters.claimant).substr(0, max_claimant_bytes);
  const auto claim_limit = std::to_string(max_claims), ignores_fresh = std::string(parameters.ignores_fresh_answer ? "1" : "0"),
             small_bytes = std::to_string(small_body_bytes), byte_limit = std::to_string(max_computing_bytes);
  // A retry sends the same random digits, by which the script recognizes the same claim.
  const auto reply = run_script(script::claim,
                                {parameters.key.digest, parameters.key.prompt_digest, task, initial.summary.title,
                                 parameters.session, tags, context, claimant, lease, parameters.is_forced ? "1" : "0", *random,
                                 initial.body, claim_limit, ignores_fresh, secret, small_bytes, byte_limit},
                                retry_mode::safe);
  if (!reply) return tl::unexpected(reply.error());
  claim_result out;
  const auto& answer_reply = reply->at(0);
  out.answer = decode_answer(answer_reply);
  if (reply->at(1).type == redis_reply::kind::bulk_string)
    return reply->at(1).text == "bytes" ? too_many_computing_bytes() : too_many_claims();
  if (const auto& ticket_reply = reply->at(1); !ticket_reply.is_null()) {
    out.ticket = claim_ticket{ticket_reply.at(0).text, static_cast<std::uint64_t>(ticket_reply.at(1).as_integer()), secret};
    out.lease_expires_at = instant(milliseconds(ticket_reply.at(2).as_integer()));
    // After a retry, the reply contains this claim itself.
    if (out.answer.claim && out.answer.claim->id == out.ticket->id) {
      out.answer.claim.reset();
      if (out.answer.status == cached_answer::cache_status::computing) out.answer.status = cached_answer::cache_status::missing;
    }
  } else if (const auto& claim = answer_reply.at(2);
             (parameters.is_forced || parameters.ignores_fresh_answer) && !claim.is_null()) {
    out.answer.claim =
        cached_answer::claim_holder{claim.at(0).text, claim.at(1).text, instant(milliseconds(claim.at(2).as_integer()))};
  }
  return out;
}

result<instant> redis_store::renew(const claim_ticket& ticket, milliseconds lease_ttl) {
  HONDANA_TRY(validate_lease(lease_ttl));
  if (!is_id(ticket.id)) return no_such_claim();
  const auto token = std::to_string(ticket.token), milliseconds_text = std::to_string(lease_ttl.count());
  HONDANA_TRY(const auto reply,
              run_script(script::renew, {ticket.id, token, ticket.secret, milliseconds_text}, retry_mode::safe));
  if (reply.at(0).text != "ok") return ticket_failure(reply);
  return instant(milliseconds(reply.at(1).as_integer()));
}

result<analysis_summary> redis_store::put(const claim_ticket& ticket, const put_parameters& parameters) {
  HONDANA_TRY(analyses::validate(parameters));
  if (!is_id(ticket.id)) return no_such_claim();
  const auto random = make_random_digits();
  if (!random) return tl::unexpected(random.error());
  const auto& summary = parameters.summary;
  const bool is_part = summary.status == analysis_status::computing;
  const auto token = std::to_string(ticket.token), status = std::to_string(static_cast<int>(summary.status)),
             task = std::to_string(static_cast<int>(summary.task)), confidence = format_double(summary.confidence),
             agreement = format_double(summary.agreement), cost = format_double(summary.cost),
             duration = std::to_string(summary.duration.count()), rounds = std::to_string(summary.rounds),
             providers = std::to_string(summary.providers), tags = join(parameters.tags),
             names = join(parameters.provider_names),
             fresh = std::to_string((is_part ? parameters.lease_ttl : parameters.fresh_ttl).count()),
             stale = std::to_string(parameters.stale_ttl.count());
  const auto name_limit = std::to_string(max_provider_names), small_bytes = std::to_string(small_body_bytes),
             byte_limit = std::to_string(max_computing_bytes);
  // A retry sends the same random digits, by which the script recognizes the same put.
  HONDANA_TRY(const auto reply, run_script(script::put,
                                           {ticket.id,
                                            token,
                                            summary.key.digest,
                                            summary.key.prompt_digest,
                                            status,
                                            task,
                                            summary.title,
                                            summary.session,
                                            confidence,
                                            agreement,
                                            cost,
                                            duration,
                                            rounds,
                                            providers,
                                            tags,
                                            names,
                                            fresh,
                                            stale,
                                            *random,
                                            parameters.body,
                                            name_limit,
                                            ticket.secret,
                                            small_bytes,
                                            byte_limit},
                                           retry_mode::safe));
  if (reply.at(0).text != "ok") return ticket_failure(reply);
  return decode_summary(reply.at(1).at(0), reply.at(1).at(1));
}

result<void> redis_store::fail(const claim_ticket& ticket, std::string_view reason, milliseconds failure_ttl) {
  if (!is_id(ticket.id)) return no_such_claim();
  const auto token = std::to_string(ticket.token), stored_reason = truncate_reason(reason),
             milliseconds_text = std::to_string(std::max(milliseconds(0), failure_ttl).count());
  HONDANA_TRY(const auto reply, run_script(script::fail, {ticket.id, token, ticket.secret, stored_reason, milliseconds_text},
                                           retry_mode::unsafe));
  if (reply.at(0).text != "ok") return ticket_failure(reply);
  return {};
}

result<analysis_store::erase_result> redis_store::erase(const erase_filter& filter) {
  HONDANA_TRY(analyses::validate(filter));
  std::string_view selector = "all", name;
  const auto set_selector = [&](std::string_view prefix, const std::string& value) {
    if (value.empty()) return;
    selector = prefix;
    name = value;
  };
  set_selector("t:", filter.tag);
  set_selector("s:", filter.session);
  set_selector("k:", filter.key);
  set_selector("u:", filter.uri);
  set_selector("id", filter.id);
  if (selector == "id" && !is_id(name)) return erase_result{};
  const auto versions = join(filter.versions);
  const bool keeps_unknown = std::find(filter.versions.begin(), filter.versions.end(), std::string()) != filter.versions.end();
  HONDANA_TRY(const auto reply,
              run_script(script::erase, {selector, name, versions, erase_batch, keeps_unknown ? "1" : "0"}, retry_mode::safe));
  return erase_result{static_cast<std::uint64_t>(reply.at(0).as_integer()), reply.at(1).as_integer() == 1};
}

result<analysis_store::erase_result> redis_store::sweep(const store_limits& limits) {
  const auto bytes = std::to_string(limits.max_bytes), entries = std::to_string(limits.max_entries),
             age = std::to_string(limits.max_age.count()), computing_limit = std::to_string(max_claims);
  HONDANA_TRY(const auto reply,
              run_script(script::sweep, {bytes, entries, age, sweep_batch, computing_limit}, retry_mode::safe));
  return erase_result{static_cast<std::uint64_t>(reply.at(0).as_integer()), reply.at(1).as_integer() == 1};
}

result<void> redis_store::add_statistics(const statistics& additions) {
  std::vector<std::string> arguments;
  for (std::size_t task = 0; task < task_type_count; ++task) {
    const auto& task_counters = additions.by_task[task];
    for (const auto& field : statistics_fields) {
      if (field.integer_member != nullptr ? task_counters.*field.integer_member == 0 : task_counters.*field.double_member == 0)
        continue;
      arguments.push_back(field_name(task, field.name));
      arguments.push_back(field.integer_member != nullptr ? std::to_string(task_counters.*field.integer_member)
                                                          : format_fixed(task_counters.*field.double_member));
    }
  }
  if (arguments.empty()) return {};
  HONDANA_TRY(run_script(script::add_statistics, argument_list(arguments.begin(), arguments.end()), retry_mode::unsafe));
  return {};
}

result<statistics> redis_store::read_statistics() const {
  const auto counts = key_root_ + "counts";
  HONDANA_TRY(const auto reply, execute({"HGETALL", counts}, retry_mode::safe));
  if (reply.is_error()) return server_failure(address_.display_name, reply);
  statistics out;
  for (std::size_t i = 0; i + 1 < reply.elements.size(); i += 2) {
    for (std::size_t task = 0; task < task_type_count; ++task) {
      for (const auto& field : statistics_fields) {
        if (reply.at(i).text != field_name(task, field.name)) continue;
        auto& task_counters = out.by_task[task];
        if (field.integer_member != nullptr)
          task_counters.*field.integer_member = static_cast<std::uint64_t>(reply.at(i + 1).as_integer());
        else
          task_counters.*field.double_member = reply.at(i + 1).as_double();
      }
    }
  }
  return out;
}

}  // namespace hondana::analyses
