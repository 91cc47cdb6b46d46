/// Analyses as JSON.
#include <optional>
#include <string>

#include "base/json/writer.hpp"
#include "protocol/model/times.hpp"
#include "sources/analyses/cache/analysis_json.hpp"

namespace hondana::analyses {
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
  // A body is an object with a prompt at least.
  if (body.size() > 2) out.append(1, ',').append(body.substr(1));
  return out;
}

}  // namespace hondana::analyses
