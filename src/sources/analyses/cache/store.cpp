/// The contract of stores of analyses, with the statistics and input checks that all stores share.
#include "sources/analyses/cache/store.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "base/json/utf8.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/object_reader.hpp"

namespace hondana::analyses {
namespace {

void add_milliseconds(std::uint64_t& total, std::uint64_t addition) noexcept {
  const auto limited = std::min(total, max_milliseconds);
  total = limited + std::min(addition, max_milliseconds - limited);
}

}  // namespace

task_statistics& task_statistics::operator+=(const task_statistics& other) noexcept {
  hits += other.hits;
  stale_hits += other.stale_hits;
  misses += other.misses;
  failures += other.failures;
  computed += other.computed;
  below_thresholds += other.below_thresholds;
  cost_saved += other.cost_saved;
  cost_spent += other.cost_spent;
  add_milliseconds(milliseconds_saved, other.milliseconds_saved);
  add_milliseconds(milliseconds_spent, other.milliseconds_spent);
  return *this;
}

task_statistics statistics::total() const noexcept {
  task_statistics out;
  for (const auto& counters : by_task) out += counters;
  return out;
}

statistics& statistics::operator+=(const statistics& other) noexcept {
  for (std::size_t i = 0; i < by_task.size(); ++i) by_task[i] += other.by_task[i];
  return *this;
}

namespace {

/// The beginning of a prompt, as one line.
std::string make_title(const std::string& prompt) {
  auto out = normalize_prompt(std::string_view(prompt).substr(0, 16 * max_title_bytes));
  std::replace_if(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (out.size() <= max_title_bytes) return out;
  static constexpr std::string_view ellipsis = "…";
  out.resize(max_title_bytes - ellipsis.size());
  out.resize(out.size() - json::incomplete_tail(out));
  return out.append(ellipsis);
}

}  // namespace

std::string cache_entry::to_json() const {
  return encode(body, summary.id, summary.status, summary.created_at, summary.expires_at);
}

result<analysis> decode_analysis(const cache_entry& entry) {
  auto out = decode_stored(entry.to_json());
  if (!out) return fail(errc::internal, "the stored analysis " + entry.summary.id + " cannot be read", out.error().public_text);
  return out;
}

std::string format_ticket(const claim_ticket& ticket) {
  return ticket.id + '.' + std::to_string(ticket.token) + '.' + ticket.secret;
}

result<claim_ticket> parse_ticket(std::string_view text) {
  const auto first_dot = text.find('.'), last_dot = text.rfind('.');
  if (first_dot != last_dot && is_id(text.substr(0, first_dot)) && is_secret(text.substr(last_dot + 1))) {
    claim_ticket out{std::string(text.substr(0, first_dot)), 0, std::string(text.substr(last_dot + 1))};
    const auto* const end = text.data() + last_dot;
    const auto [stop, error] = std::from_chars(text.data() + first_dot + 1, end, out.token);
    if (error == std::errc() && stop == end) return out;
  }
  return fail(errc::invalid_argument,
              "invalid ticket; give the whole ID.NUMBER.SECRET that the claim returned, or claim again");
}

result<put_parameters> prepare_put(const analysis& analysis, analysis_status status) {
  put_parameters out;
  out.body = encode_body(analysis);
  if (out.body.size() > max_analysis_bytes)
    return fail(errc::response_too_large, "an analysis can have at most " + std::to_string(max_analysis_bytes) +
                                              " bytes of JSON (" + std::to_string(max_analysis_bytes >> 20) +
                                              " MiB); this one has " + std::to_string(out.body.size()) +
                                              "; leave out text that is stored elsewhere");
  auto& summary = out.summary;
  summary.key = make_key(analysis.question);
  summary.status = status;
  summary.task = analysis.task;
  summary.title = make_title(analysis.question.prompt);
  summary.session = analysis.session;
  summary.confidence = analysis.consensus ? analysis.consensus->confidence : 0;
  summary.agreement = agreement_of(analysis);
  const auto total = totals_of(analysis);
  summary.cost = total.cost;
  summary.duration = total.duration;
  summary.rounds = static_cast<std::uint32_t>(analysis.rounds.size());
  summary.providers = provider_count(analysis);
  summary.bytes = out.body.size();
  out.tags = analysis.tags;
  out.context = analysis.question.context;
  for (const auto& vote : analysis.votes) out.provider_names.push_back(vote.provider);
  return out;
}

namespace {

constexpr std::size_t key_digest_bytes = 32;
constexpr milliseconds max_ttl = std::chrono::hours(24 * 366 * 10);

/// Checks a text like the decoder does, since a caller may have built the claim itself.
void validate_text(const std::string& text, const std::string& path, const text_rule& rule, decode_error& error) {
  static_cast<void>(read_text(value(text), path, rule, error));
}

void validate_tags(const std::vector<std::string>& tags, decode_error& error) {
  if (tags.size() > max_tags) error.report("tags: at most " + std::to_string(max_tags) + " are allowed");
  for (std::size_t i = 0; i < tags.size() && !error.has_occurred(); ++i)
    validate_text(tags[i], "tags[" + std::to_string(i) + ']', {max_name_bytes, true}, error);
}

analysis make_initial_analysis(const claim_parameters& parameters) {
  analysis out;
  out.question = parameters.question;
  out.task = parameters.task;
  out.session = parameters.session;
  out.tags = parameters.tags;
  return out;
}

}  // namespace

result<void> validate_lease(milliseconds lease_ttl) {
  if (lease_ttl > milliseconds(0) && lease_ttl <= std::chrono::hours(24)) return {};
  return fail(errc::invalid_argument, "a lease must be above 0 and at most one day");
}

result<void> validate(const claim_parameters& parameters) {
  if (parameters.key.digest.size() != key_digest_bytes || parameters.key.prompt_digest.size() != key_digest_bytes)
    return fail(errc::invalid_argument, "a claim requires the key of its question");
  decode_error error;
  validate_text(parameters.question.prompt, "prompt", {max_prompt_bytes, false}, error);
  if (parameters.question.context.size() > max_context_resources)
    error.report("context: at most " + std::to_string(max_context_resources) + " are allowed");
  for (std::size_t i = 0; i < parameters.question.context.size() && !error.has_occurred(); ++i) {
    const auto& resource = parameters.question.context[i];
    const auto path = "context[" + std::to_string(i) + ']';
    validate_text(resource.uri, path + ".uri", {max_context_field_bytes, true}, error);
    if (!resource.version.empty()) validate_text(resource.version, path + ".version", {max_context_field_bytes, true}, error);
  }
  if (!parameters.session.empty()) validate_text(parameters.session, "session", {max_session_bytes, true}, error);
  validate_tags(parameters.tags, error);
  if (error.has_occurred()) return error.to_failure();
  if (const auto size = encode_body(make_initial_analysis(parameters)).size(); size > max_question_bytes)
    return fail(errc::invalid_argument, "the question of a claim can have at most " + std::to_string(max_question_bytes) +
                                            " bytes of JSON (" + std::to_string(max_question_bytes >> 20) +
                                            " MiB), with prompt, options, models, context, session and tags; this one has " +
                                            std::to_string(size) +
                                            "; name large parts as resources in context, or put their digests into options");
  return validate_lease(parameters.lease_ttl);
}

result<void> validate(const put_parameters& parameters) {
  if (parameters.body.size() > max_analysis_bytes)
    return fail(errc::response_too_large, "an analysis can have at most " + std::to_string(max_analysis_bytes) + " bytes");
  decode_error error;
  if (!parameters.summary.session.empty())
    validate_text(parameters.summary.session, "session", {max_session_bytes, true}, error);
  validate_tags(parameters.tags, error);
  for (const auto& name : parameters.provider_names) validate_text(name, "votes: provider", {max_name_bytes, true}, error);
  if (error.has_occurred()) return error.to_failure();
  if (parameters.summary.status == analysis_status::computing) return validate_lease(parameters.lease_ttl);
  if (parameters.fresh_ttl > milliseconds(0) && parameters.fresh_ttl <= max_ttl && parameters.stale_ttl >= milliseconds(0) &&
      parameters.stale_ttl <= max_ttl)
    return {};
  return fail(errc::invalid_argument, "the time that an analysis is fresh must be above 0 and at most 10 years");
}

result<void> validate(const erase_filter& filter) {
  const int count = (filter.id.empty() ? 0 : 1) + (filter.tag.empty() ? 0 : 1) + (filter.session.empty() ? 0 : 1) +
                    (filter.key.empty() ? 0 : 1) + (filter.uri.empty() ? 0 : 1) + (filter.everything ? 1 : 0);
  if (count == 1) return {};
  return fail(errc::invalid_argument, "give one of id, tag, session, key, resource and everything to delete");
}

tl::unexpected<failure> no_such_claim() {
  return fail(errc::access_denied,
              "this ticket is no longer valid, so nothing was written: its lease ended and another caller claimed, it was "
              "given up, or its context changed. Claim again");
}

tl::unexpected<failure> already_put() {
  return fail(errc::access_denied, "the analysis of this ticket is already stored, so nothing was written. Claim again");
}

tl::unexpected<failure> question_mismatch() {
  return fail(errc::invalid_argument,
              "the analysis answers another question than the claim: prompt, options, models and context must be the same");
}

tl::unexpected<failure> too_many_claims() {
  failure error{errc::overloaded,
                "too many analyses are being computed (at most " + std::to_string(max_claims) +
                    "); retry later, and give up unused claims",
                {}};
  error.retry_after = std::chrono::seconds(10);
  return tl::unexpected(std::move(error));
}

tl::unexpected<failure> too_many_computing_bytes() {
  failure error{
      errc::overloaded,
      "the analyses that are being computed have reached " + std::to_string(max_computing_bytes >> 20) +
          " MiB, the maximum, and this one is over 64 KiB, so nothing was written. Retry later, give up unused claims, "
          "or store the whole analysis once it is complete",
      {}};
  error.retry_after = std::chrono::seconds(10);
  return tl::unexpected(std::move(error));
}

std::string truncate_reason(std::string_view reason) {
  std::string out;
  json::append_replacing(out, reason.substr(0, max_reason_bytes));
  if (out.size() > max_reason_bytes) out.resize(max_reason_bytes);
  out.resize(out.size() - json::incomplete_tail(out));
  return out;
}

result<put_parameters> prepare_claim(const claim_parameters& parameters) {
  return prepare_put(make_initial_analysis(parameters), analysis_status::computing);
}

}  // namespace hondana::analyses
