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

void add_time(std::uint64_t& to, std::uint64_t more) noexcept {
  const auto known = std::min(to, most_milliseconds);
  to = known + std::min(more, most_milliseconds - known);
}

}  // namespace

task_statistics& task_statistics::operator+=(const task_statistics& more) noexcept {
  hits += more.hits;
  stale_hits += more.stale_hits;
  misses += more.misses;
  failures += more.failures;
  computed += more.computed;
  below += more.below;
  cost_saved += more.cost_saved;
  cost_spent += more.cost_spent;
  add_time(milliseconds_saved, more.milliseconds_saved);
  add_time(milliseconds_spent, more.milliseconds_spent);
  return *this;
}

task_statistics statistics::all() const noexcept {
  task_statistics out;
  for (const auto& one : by_task) out += one;
  return out;
}

statistics& statistics::operator+=(const statistics& more) noexcept {
  for (std::size_t i = 0; i < by_task.size(); ++i) by_task[i] += more.by_task[i];
  return *this;
}

namespace {

/// The beginning of a prompt, as one line.
std::string title_of(const std::string& prompt) {
  auto out = normalised(std::string_view(prompt).substr(0, 16 * longest_title));
  std::replace_if(out.begin(), out.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  if (out.size() <= longest_title) return out;
  static constexpr std::string_view more = "…";
  out.resize(longest_title - more.size());
  out.resize(out.size() - json::incomplete_tail(out));
  return out.append(more);
}

}  // namespace

std::string entry::to_json() const { return encode(body, about.id, about.how, about.created, about.expires); }

result<analysis> analysis_of(const entry& what) {
  auto out = decode_kept(what.to_json());
  if (!out) return fail(errc::internal, "the stored analysis " + what.about.id + " cannot be read", out.error().public_text);
  return out;
}

std::string spelled(const ticket& what) { return what.id + '.' + std::to_string(what.token) + '.' + what.secret; }

result<ticket> ticket_spelled(std::string_view text) {
  const auto first = text.find('.'), last = text.rfind('.');
  if (first != last && is_id(text.substr(0, first)) && is_secret(text.substr(last + 1))) {
    ticket out{std::string(text.substr(0, first)), 0, std::string(text.substr(last + 1))};
    const auto* const end = text.data() + last;
    const auto [stop, error] = std::from_chars(text.data() + first + 1, end, out.token);
    if (error == std::errc() && stop == end) return out;
  }
  return fail(errc::invalid_argument,
              "invalid ticket; give the whole ID.NUMBER.SECRET that the claim returned, or claim again");
}

result<putting> prepare(const analysis& what, status how) {
  putting out;
  out.body = encode_body(what);
  if (out.body.size() > most_bytes)
    return fail(errc::response_too_large, "an analysis can have at most " + std::to_string(most_bytes) + " bytes of JSON (" +
                                              std::to_string(most_bytes >> 20) + " MiB); this one has " +
                                              std::to_string(out.body.size()) + "; leave out text that is stored elsewhere");
  auto& about = out.about;
  about.of = key_of(what.asked);
  about.how = how;
  about.task = what.task;
  about.title = title_of(what.asked.prompt);
  about.session = what.session;
  about.confidence = what.consensus ? what.consensus->confidence : 0;
  about.agreement = agreement_of(what);
  const auto total = totals_of(what);
  about.cost = total.cost;
  about.took = total.took;
  about.rounds = static_cast<std::uint32_t>(what.rounds.size());
  about.providers = providers_of(what);
  about.bytes = out.body.size();
  out.tags = what.tags;
  out.context = what.asked.context;
  for (const auto& one : what.votes) out.names.push_back(one.provider);
  return out;
}

namespace {

constexpr std::size_t bytes_of_digest = 32;
constexpr milliseconds longest_time = std::chrono::hours(24 * 366 * 10);

/// Checks a text like the decoder does, since a caller may have built the claim itself.
void check_text(const std::string& what, const std::string& path, const text_rule& by, fault& to) {
  static_cast<void>(text_of(value(what), path, by, to));
}

void check_tags(const std::vector<std::string>& all, fault& to) {
  if (all.size() > most_tags) to.say("tags: at most " + std::to_string(most_tags) + " are allowed");
  for (std::size_t i = 0; i < all.size() && !to.is_there(); ++i)
    check_text(all[i], "tags[" + std::to_string(i) + ']', {longest_provider, true}, to);
}

analysis begun_for(const wish& what) {
  analysis out;
  out.asked = what.asked;
  out.task = what.task;
  out.session = what.session;
  out.tags = what.tags;
  return out;
}

}  // namespace

result<void> check_lease(milliseconds lease) {
  if (lease > milliseconds(0) && lease <= std::chrono::hours(24)) return {};
  return fail(errc::invalid_argument, "a lease must be above 0 and at most one day");
}

result<void> check(const wish& what) {
  if (what.of.all.size() != bytes_of_digest || what.of.prompt.size() != bytes_of_digest)
    return fail(errc::invalid_argument, "a claim requires the key of its question");
  fault wrong;
  check_text(what.asked.prompt, "prompt", {most_prompt, false}, wrong);
  if (what.asked.context.size() > most_bases) wrong.say("context: at most " + std::to_string(most_bases) + " are allowed");
  for (std::size_t i = 0; i < what.asked.context.size() && !wrong.is_there(); ++i) {
    const auto& one = what.asked.context[i];
    const auto place = "context[" + std::to_string(i) + ']';
    check_text(one.uri, place + ".uri", {longest_basis, true}, wrong);
    if (!one.version.empty()) check_text(one.version, place + ".version", {longest_basis, true}, wrong);
  }
  if (!what.session.empty()) check_text(what.session, "session", {longest_session, true}, wrong);
  check_tags(what.tags, wrong);
  if (wrong.is_there()) return wrong.error();
  if (const auto size = encode_body(begun_for(what)).size(); size > most_question)
    return fail(errc::invalid_argument, "the question of a claim can have at most " + std::to_string(most_question) +
                                            " bytes of JSON (" + std::to_string(most_question >> 20) +
                                            " MiB), with prompt, options, models, context, session and tags; this one has " +
                                            std::to_string(size) +
                                            "; name large parts as resources in context, or put their digests into options");
  return check_lease(what.lease);
}

result<void> check(const putting& what) {
  if (what.body.size() > most_bytes)
    return fail(errc::response_too_large, "an analysis can have at most " + std::to_string(most_bytes) + " bytes");
  fault wrong;
  if (!what.about.session.empty()) check_text(what.about.session, "session", {longest_session, true}, wrong);
  check_tags(what.tags, wrong);
  for (const auto& one : what.names) check_text(one, "votes: provider", {longest_provider, true}, wrong);
  if (wrong.is_there()) return wrong.error();
  if (what.about.how == status::computing) return check_lease(what.lease);
  if (what.fresh > milliseconds(0) && what.fresh <= longest_time && what.stale >= milliseconds(0) && what.stale <= longest_time)
    return {};
  return fail(errc::invalid_argument, "the time that an analysis is fresh must be above 0 and at most 10 years");
}

result<void> check(const forgetting& what) {
  const int count = (what.id.empty() ? 0 : 1) + (what.tag.empty() ? 0 : 1) + (what.session.empty() ? 0 : 1) +
                    (what.of.empty() ? 0 : 1) + (what.uri.empty() ? 0 : 1) + (what.everything ? 1 : 0);
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

tl::unexpected<failure> another_question() {
  return fail(errc::invalid_argument,
              "the analysis answers another question than the claim: prompt, options, models and context must be the same");
}

tl::unexpected<failure> too_many_claims() {
  failure full{errc::overloaded,
               "too many analyses are being computed (at most " + std::to_string(most_claims) +
                   "); retry later, and give up unused claims",
               {}};
  full.retry = std::chrono::seconds(10);
  return tl::unexpected(std::move(full));
}

tl::unexpected<failure> too_much_computed() {
  failure full{
      errc::overloaded,
      "the analyses that are being computed have reached " + std::to_string(most_computing >> 20) +
          " MiB, the maximum, and this one is over 64 KiB, so nothing was written. Retry later, give up unused claims, "
          "or store the whole analysis once it is complete",
      {}};
  full.retry = std::chrono::seconds(10);
  return tl::unexpected(std::move(full));
}

std::string kept_reason(std::string_view why) {
  std::string out;
  json::append_replacing(out, why.substr(0, longest_reason));
  if (out.size() > longest_reason) out.resize(longest_reason);
  out.resize(out.size() - json::incomplete_tail(out));
  return out;
}

result<putting> prepared_for(const wish& what) { return prepare(begun_for(what), status::computing); }

}  // namespace hondana::analyses
