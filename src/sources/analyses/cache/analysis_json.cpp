/// Decodes analyses from JSON, and encodes them.
#include "sources/analyses/cache/analysis_json.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <hondana/uri.hpp>

#include "base/json/writer.hpp"
#include "protocol/model/iso_8601.hpp"
#include "sources/analyses/cache/object_reader.hpp"

namespace hondana::analyses {
namespace {

constexpr text_rule a_text{most_text, false};
constexpr text_rule a_name{longest_provider, true};
constexpr std::int64_t most_counted = std::int64_t{1} << 53;  // every JSON reader represents it exactly
constexpr std::int64_t highest_round = 1'000'000;
constexpr std::size_t most_values = 1'000'000;
constexpr double beyond_integers = 9'223'372'036'854'775'808.0;  // 2^63

milliseconds took(members& from) { return milliseconds(from.count("milliseconds", 0, most_counted, 0)); }

void read_basis(question& into, const value& from, std::string path, fault& to) {
  members all(from, std::move(path), to, {"uri", "version"});
  basis one;
  one.uri = all.text("uri", {longest_basis, true}, true);
  one.version = all.text("version", {longest_basis, true});
  if (to.is_there()) return;
  auto canonical = canonical_uri(one.uri);
  if (!canonical) return all.refuse("uri", canonical.error().public_text);
  one.uri = std::move(*canonical);
  if (!to.may_be_alike() &&
      std::any_of(into.context.begin(), into.context.end(), [&](const basis& other) { return other.uri == one.uri; }))
    return all.refuse("uri", "it is in the context twice");
  into.context.push_back(std::move(one));
}

/// The path of a number in the options that JSON readers would round, so that different questions could become equal. Empty:
/// none.
std::string rounded_in(const value& what, const std::string& path) {
  if (const auto number = what.as_number(); number && !what.as_integer())
    return *number >= beyond_integers || *number < -beyond_integers ? path : std::string();
  if (const auto* elements = what.as_array()) {
    for (std::size_t i = 0; i < elements->size(); ++i)
      if (auto found = rounded_in((*elements)[i], path + '[' + std::to_string(i) + ']'); !found.empty()) return found;
  }
  if (const auto* named = what.as_object()) {
    for (const auto& [name, one] : *named)
      if (auto found = rounded_in(one, path + '.' + name); !found.empty()) return found;
  }
  return {};
}

/// Rejects questions whose key could equal that of another question.
result<void> expect_exact(const question& what, std::string_view path) {
  const auto at = rounded_in(what.options, std::string(path) + (path.empty() ? "" : ".") + "options");
  if (at.empty()) return {};
  return fail(errc::invalid_argument,
              at.substr(0, 256) + ": outside the range of signed 64-bit integers; write it as a string");
}

void read_question(question& into, members& all, fault& to) {
  into.prompt = all.text("prompt", {most_prompt, false}, true);
  if (!to.is_there() && into.prompt.find_first_not_of(" \t\r\n") == std::string::npos) all.refuse("prompt", "it is empty");
  if (const auto* const options = all.object("options")) into.options = *options;
  if (const auto* const models = all.array("models", most_models))
    for (std::size_t i = 0; i < models->size(); ++i)
      into.models.push_back(text_of((*models)[i], all.path_of("models", i), a_name, to));
  if (const auto* const context = all.array("context", most_bases))
    for (std::size_t i = 0; i < context->size() && !to.is_there(); ++i)
      read_basis(into, (*context)[i], all.path_of("context", i), to);
}

thresholds read_thresholds(const value& from, std::string path, fault& to) {
  members all(from, std::move(path), to, {"confidence", "consensus", "providers"});
  thresholds out;
  out.confidence = all.share("confidence");
  out.consensus = all.share("consensus");
  out.providers = static_cast<std::uint32_t>(all.count("providers", 1, static_cast<std::int64_t>(most_votes), 1));
  return out;
}

agreed read_agreed(const value& from, std::string path, fault& to) {
  members all(from, std::move(path), to, {"content", "confidence", "reasoning"});
  agreed out;
  out.content = all.text("content", a_text, true);
  out.confidence = all.share("confidence", true);
  out.reasoning = all.text("reasoning", a_text);
  return out;
}

vote read_vote(const value& from, std::string path, fault& to) {
  members all(from, std::move(path), to,
              {"provider", "model", "content", "confidence", "reasoning", "cost", "tokens", "agreement"});
  vote out;
  out.provider = all.text("provider", a_name, true);
  out.model = all.text("model", a_name);
  out.content = all.text("content", a_text, true);
  out.confidence = all.share("confidence", true);
  out.reasoning = all.text("reasoning", a_text);
  out.cost = all.amount("cost");
  out.tokens = static_cast<std::uint64_t>(all.count("tokens", 0, most_counted, 0));
  out.agreement = all.share("agreement");
  return out;
}

std::vector<vote> read_votes(members& from, fault& to) {
  std::vector<vote> out;
  const auto* const votes = from.array("votes", most_votes);
  if (votes == nullptr) return out;
  std::set<std::string> providers;
  for (std::size_t i = 0; i < votes->size() && !to.is_there(); ++i) {
    const auto path = from.path_of("votes", i);
    out.push_back(read_vote((*votes)[i], path, to));
    if (!to.may_be_alike() && !to.is_there() && !providers.insert(out.back().provider).second)
      to.say(path + ".provider: this provider already has a vote; put earlier votes into rounds");
  }
  return out;
}

bounce read_bounce(const value& from, std::string path, fault& to) {
  members all(from, std::move(path), to, {"number", "votes", "consensus", "at", "milliseconds"});
  bounce out;
  out.number = static_cast<std::uint32_t>(all.count("number", 1, highest_round, 0));
  if (!to.is_there() && out.number == 0) all.refuse("number", "missing");
  out.votes = read_votes(all, to);
  if (const auto* const consensus = all.object("consensus"))
    out.consensus = read_agreed(*consensus, all.path_of("consensus"), to);
  out.at = all.time("at");
  out.took = took(all);
  return out;
}

flow_step read_step(const value& from, std::string path, fault& to) {
  members all(from, std::move(path), to, {"round", "provider", "action", "at", "milliseconds", "note"});
  flow_step out;
  out.round = static_cast<std::uint32_t>(all.count("round", 0, highest_round, 0));
  out.provider = all.text("provider", a_name);
  out.action = all.text("action", a_name, true);
  out.at = all.time("at");
  out.took = took(all);
  out.note = all.text("note", a_text);
  return out;
}

provider_error read_error(const value& from, std::string path, fault& to) {
  members all(from, std::move(path), to, {"provider", "round", "message", "at"});
  provider_error out;
  out.provider = all.text("provider", a_name, true);
  out.round = static_cast<std::uint32_t>(all.count("round", 0, highest_round, 0));
  out.message = all.text("message", a_text, true);
  out.at = all.time("at");
  return out;
}

totals read_totals(const value& from, std::string path, fault& to) {
  members all(from, std::move(path), to, {"cost", "tokens", "milliseconds"});
  totals out;
  out.cost = all.amount("cost");
  out.tokens = static_cast<std::uint64_t>(all.count("tokens", 0, most_counted, 0));
  out.took = took(all);
  return out;
}

void read_given(analysis& into, members& all, fault& to) {
  into.id = all.text("id", a_name);
  if (const auto how = all.text("status", a_name); !how.empty()) {
    into.how = status_named(how);
    if (!into.how) all.refuse("status", "expected computing, complete or below");
  }
  into.created = all.time("created");
  into.expires = all.time("expires");
  if (to.is_there() || into.id.empty()) return;
  const bool is_id = into.id.size() == 32 && std::all_of(into.id.begin(), into.id.end(), [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                     });
  if (!is_id) all.refuse("id", "expected 32 hexadecimal digits in lower case; leave it out for a new analysis");
}

void read_way(analysis& into, members& all, fault& to) {
  if (const auto* const rounds = all.array("rounds", most_rounds))
    for (std::size_t i = 0; i < rounds->size() && !to.is_there(); ++i) {
      into.rounds.push_back(read_bounce((*rounds)[i], all.path_of("rounds", i), to));
      if (!to.is_there() && i > 0 && into.rounds[i].number <= into.rounds[i - 1].number)
        to.say(all.path_of("rounds", i) + ".number: round numbers must increase");
    }
  if (const auto* const flow = all.array("flow", most_steps))
    for (std::size_t i = 0; i < flow->size() && !to.is_there(); ++i)
      into.flow.push_back(read_step((*flow)[i], all.path_of("flow", i), to));
  if (const auto* const errors = all.array("errors", most_steps))
    for (std::size_t i = 0; i < errors->size() && !to.is_there(); ++i)
      into.errors.push_back(read_error((*errors)[i], all.path_of("errors", i), to));
}

result<analysis> analysis_in(const value& from, std::string_view path, bool is_kept = false) {
  fault wrong(is_kept);
  members all(from, std::string(path), wrong,
              {"prompt", "options", "models", "context", "task", "thresholds", "consensus", "votes", "rounds", "flow", "errors",
               "totals", "session", "tags", "id", "status", "created", "expires"});
  analysis out;
  read_given(out, all, wrong);
  read_question(out.asked, all, wrong);
  if (const auto task = all.text("task", a_name); !task.empty()) {
    const auto known = task_named(task);
    if (!known) all.refuse("task", "expected basic, premium or critical");
    out.task = known.value_or(task_type::basic);
  }
  if (const auto* const wanted = all.object("thresholds"))
    out.wanted = read_thresholds(*wanted, all.path_of("thresholds"), wrong);
  if (const auto* const consensus = all.object("consensus"))
    out.consensus = read_agreed(*consensus, all.path_of("consensus"), wrong);
  out.votes = read_votes(all, wrong);
  read_way(out, all, wrong);
  if (const auto* const total = all.object("totals")) out.total = read_totals(*total, all.path_of("totals"), wrong);
  out.session = all.text("session", {longest_session, true});
  if (const auto* const tags = all.array("tags", most_tags))
    for (std::size_t i = 0; i < tags->size(); ++i)
      out.tags.push_back(text_of((*tags)[i], all.path_of("tags", i), a_name, wrong));
  if (wrong.is_there()) return wrong.error();
  std::sort(out.tags.begin(), out.tags.end());
  out.tags.erase(std::unique(out.tags.begin(), out.tags.end()), out.tags.end());
  return out;
}

}  // namespace

result<analysis> decode(const value& from, std::string_view path) {
  auto out = analysis_in(from, path);
  if (!out) return out;
  HONDANA_TRY(expect_exact(out->asked, path));
  return out;
}

result<analysis> decode(std::string_view json) {
  if (json.size() > most_bytes)
    return fail(errc::response_too_large, "an analysis can have at most " + std::to_string(most_bytes) + " bytes of JSON (" +
                                              std::to_string(most_bytes >> 20) + " MiB); this one has " +
                                              std::to_string(json.size()) + "; leave out text that is stored elsewhere");
  HONDANA_TRY(const auto parsed, value::parse(json, {most_bytes, most_values}));
  return decode(parsed, {});
}

result<analysis> decode_kept(std::string_view json) {
  // Room for the few members that `encode` adds.
  HONDANA_TRY(const auto parsed, value::parse(json, {most_bytes + 4096, most_values + 100}));
  return analysis_in(parsed, {}, true);
}

result<question> decode_question(const value& from, std::string_view path) {
  fault wrong;
  members all(from, std::string(path), wrong, {"prompt", "options", "models", "context"});
  question out;
  read_question(out, all, wrong);
  if (wrong.is_there()) return wrong.error();
  HONDANA_TRY(expect_exact(out, path));
  return out;
}

namespace {

void write_time(json::writer& to, std::string_view name, const std::optional<instant>& when) {
  if (when) to.member(name, model::iso_8601(*when));
}

void write_count(json::writer& to, std::string_view name, std::uint64_t count) {
  if (count != 0) to.key(name).unsigned_integer(count);
}

void write_share(json::writer& to, std::string_view name, double share) {
  if (share != 0) to.key(name).number(share);
}

void write_took(json::writer& to, milliseconds took) {
  write_count(to, "milliseconds", static_cast<std::uint64_t>(took.count()));
}

void write_agreed(json::writer& to, const agreed& what) {
  to.begin_object();
  to.member("content", what.content);
  to.key("confidence").number(what.confidence);
  to.member_if("reasoning", what.reasoning);
  to.end_object();
}

void write_vote(json::writer& to, const vote& what) {
  to.begin_object();
  to.member("provider", what.provider);
  to.member_if("model", what.model);
  to.member("content", what.content);
  to.key("confidence").number(what.confidence);
  to.member_if("reasoning", what.reasoning);
  write_share(to, "cost", what.cost);
  write_count(to, "tokens", what.tokens);
  write_share(to, "agreement", what.agreement);
  to.end_object();
}

void write_votes(json::writer& to, const std::vector<vote>& all) {
  if (all.empty()) return;
  to.key("votes").begin_array();
  for (const auto& one : all) write_vote(to, one);
  to.end_array();
}

void write_question(json::writer& to, const question& what) {
  to.member("prompt", what.prompt);
  if (const auto* const options = what.options.as_object(); options != nullptr && !options->empty())
    to.key("options").raw(what.options.to_text());
  if (!what.models.empty()) {
    to.key("models").begin_array();
    for (const auto& one : what.models) to.string(one);
    to.end_array();
  }
  if (what.context.empty()) return;
  to.key("context").begin_array();
  for (const auto& one : what.context) {
    to.begin_object().member("uri", one.uri).member_if("version", one.version);
    to.end_object();
  }
  to.end_array();
}

void write_rounds(json::writer& to, const std::vector<bounce>& all) {
  if (all.empty()) return;
  to.key("rounds").begin_array();
  for (const auto& one : all) {
    to.begin_object().key("number").unsigned_integer(one.number);
    write_votes(to, one.votes);
    if (one.consensus) write_agreed(to.key("consensus"), *one.consensus);
    write_time(to, "at", one.at);
    write_took(to, one.took);
    to.end_object();
  }
  to.end_array();
}

void write_flow(json::writer& to, const std::vector<flow_step>& all) {
  if (all.empty()) return;
  to.key("flow").begin_array();
  for (const auto& one : all) {
    to.begin_object();
    write_count(to, "round", one.round);
    to.member_if("provider", one.provider).member("action", one.action);
    write_time(to, "at", one.at);
    write_took(to, one.took);
    to.member_if("note", one.note).end_object();
  }
  to.end_array();
}

void write_errors(json::writer& to, const std::vector<provider_error>& all) {
  if (all.empty()) return;
  to.key("errors").begin_array();
  for (const auto& one : all) {
    to.begin_object().member("provider", one.provider);
    write_count(to, "round", one.round);
    to.member("message", one.message);
    write_time(to, "at", one.at);
    to.end_object();
  }
  to.end_array();
}

void write_wanted(json::writer& to, const thresholds& what) {
  if (what == thresholds()) return;
  to.key("thresholds").begin_object();
  write_share(to, "confidence", what.confidence);
  write_share(to, "consensus", what.consensus);
  write_count(to, "providers", what.providers);
  to.end_object();
}

void write_body(json::writer& to, const analysis& what) {
  write_question(to, what.asked);
  to.member("task", name_of(what.task));
  write_wanted(to, what.wanted);
  if (what.consensus) write_agreed(to.key("consensus"), *what.consensus);
  write_votes(to, what.votes);
  write_rounds(to, what.rounds);
  write_flow(to, what.flow);
  write_errors(to, what.errors);
  if (what.total != totals()) {
    to.key("totals").begin_object();
    write_share(to, "cost", what.total.cost);
    write_count(to, "tokens", what.total.tokens);
    write_took(to, what.total.took);
    to.end_object();
  }
  to.member_if("session", what.session);
  if (what.tags.empty()) return;
  to.key("tags").begin_array();
  for (const auto& one : what.tags) to.string(one);
  to.end_array();
}

}  // namespace

std::string encode(const analysis& what) {
  std::string out;
  json::writer to(out);
  to.begin_object();
  to.member_if("id", what.id);
  if (what.how) to.member("status", name_of(*what.how));
  write_time(to, "created", what.created);
  write_time(to, "expires", what.expires);
  write_body(to, what);
  to.end_object();
  return out;
}

std::string encode_body(const analysis& what) {
  std::string out;
  json::writer to(out);
  to.begin_object();
  write_body(to, what);
  to.end_object();
  return out;
}

std::string encode(std::string_view body, std::string_view id, status how, instant created, instant expires) {
  std::string out;
  out.reserve(body.size() + 160);
  json::writer to(out);
  to.begin_object().member("id", id).member("status", name_of(how));
  to.member("created", model::iso_8601(created)).member("expires", model::iso_8601(expires));
  // A body is an object with at least a prompt.
  if (body.size() > 2) out.append(1, ',').append(body.substr(1));
  return out;
}

}  // namespace hondana::analyses
