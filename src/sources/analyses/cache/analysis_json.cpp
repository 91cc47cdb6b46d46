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

constexpr text_rule content_rule{max_text_bytes, false};
constexpr text_rule name_rule{max_name_bytes, true};
constexpr std::int64_t max_exact_integer = std::int64_t{1} << 53;  // every JSON reader represents it exactly
constexpr std::int64_t max_round_number = 1'000'000;
constexpr std::size_t max_json_values = 1'000'000;
constexpr double integer_limit = 9'223'372'036'854'775'808.0;  // 2^63

milliseconds read_duration(object_reader& reader) {
  return milliseconds(reader.count("milliseconds", 0, max_exact_integer, 0));
}

void read_resource_version(model_question& question, const value& input, std::string path, decode_error& error) {
  object_reader reader(input, std::move(path), error, {"uri", "version"});
  resource_version resource;
  resource.uri = reader.text("uri", {max_context_field_bytes, true}, true);
  resource.version = reader.text("version", {max_context_field_bytes, true});
  if (error.has_occurred()) return;
  auto canonical = canonical_uri(resource.uri);
  if (!canonical) return reader.reject("uri", canonical.error().public_text);
  resource.uri = std::move(*canonical);
  if (!error.allows_duplicates() && std::any_of(question.context.begin(), question.context.end(),
                                                [&](const resource_version& other) { return other.uri == resource.uri; }))
    return reader.reject("uri", "it is in the context twice");
  question.context.push_back(std::move(resource));
}

/// The path of a number in the options that JSON readers would round, so that different questions could become equal. Empty:
/// none.
std::string find_inexact_number(const value& input, const std::string& path) {
  if (const auto number = input.as_number(); number && !input.as_integer())
    return *number >= integer_limit || *number < -integer_limit ? path : std::string();
  if (const auto* elements = input.as_array()) {
    for (std::size_t i = 0; i < elements->size(); ++i)
      if (auto inexact_path = find_inexact_number((*elements)[i], path + '[' + std::to_string(i) + ']'); !inexact_path.empty())
        return inexact_path;
  }
  if (const auto* object = input.as_object()) {
    for (const auto& [name, member_value] : *object)
      if (auto inexact_path = find_inexact_number(member_value, path + '.' + name); !inexact_path.empty()) return inexact_path;
  }
  return {};
}

/// Rejects questions whose key could equal that of another question.
result<void> reject_inexact_numbers(const model_question& question, std::string_view path) {
  const auto inexact_path = find_inexact_number(question.options, std::string(path) + (path.empty() ? "" : ".") + "options");
  if (inexact_path.empty()) return {};
  return fail(errc::invalid_argument,
              inexact_path.substr(0, 256) + ": outside the range of signed 64-bit integers; write it as a string");
}

void read_question(model_question& question, object_reader& reader, decode_error& error) {
  question.prompt = reader.text("prompt", {max_prompt_bytes, false}, true);
  if (!error.has_occurred() && question.prompt.find_first_not_of(" \t\r\n") == std::string::npos)
    reader.reject("prompt", "it is empty");
  if (const auto* const options = reader.object("options")) question.options = *options;
  if (const auto* const models = reader.array("models", max_models))
    for (std::size_t i = 0; i < models->size(); ++i)
      question.models.push_back(read_text((*models)[i], reader.path_of("models", i), name_rule, error));
  if (const auto* const context = reader.array("context", max_context_resources))
    for (std::size_t i = 0; i < context->size() && !error.has_occurred(); ++i)
      read_resource_version(question, (*context)[i], reader.path_of("context", i), error);
}

thresholds read_thresholds(const value& input, std::string path, decode_error& error) {
  object_reader reader(input, std::move(path), error, {"confidence", "consensus", "providers"});
  thresholds out;
  out.confidence = reader.fraction("confidence");
  out.consensus = reader.fraction("consensus");
  out.providers = static_cast<std::uint32_t>(reader.count("providers", 1, static_cast<std::int64_t>(max_votes), 1));
  return out;
}

consensus_answer read_consensus(const value& input, std::string path, decode_error& error) {
  object_reader reader(input, std::move(path), error, {"content", "confidence", "reasoning"});
  consensus_answer out;
  out.content = reader.text("content", content_rule, true);
  out.confidence = reader.fraction("confidence", true);
  out.reasoning = reader.text("reasoning", content_rule);
  return out;
}

vote read_vote(const value& input, std::string path, decode_error& error) {
  object_reader reader(input, std::move(path), error,
                       {"provider", "model", "content", "confidence", "reasoning", "cost", "tokens", "agreement"});
  vote out;
  out.provider = reader.text("provider", name_rule, true);
  out.model = reader.text("model", name_rule);
  out.content = reader.text("content", content_rule, true);
  out.confidence = reader.fraction("confidence", true);
  out.reasoning = reader.text("reasoning", content_rule);
  out.cost = reader.amount("cost");
  out.tokens = static_cast<std::uint64_t>(reader.count("tokens", 0, max_exact_integer, 0));
  out.agreement = reader.fraction("agreement");
  return out;
}

std::vector<vote> read_votes(object_reader& reader, decode_error& error) {
  std::vector<vote> out;
  const auto* const votes = reader.array("votes", max_votes);
  if (votes == nullptr) return out;
  std::set<std::string> providers;
  for (std::size_t i = 0; i < votes->size() && !error.has_occurred(); ++i) {
    const auto path = reader.path_of("votes", i);
    out.push_back(read_vote((*votes)[i], path, error));
    if (!error.allows_duplicates() && !error.has_occurred() && !providers.insert(out.back().provider).second)
      error.report(path + ".provider: this provider already has a vote; put earlier votes into rounds");
  }
  return out;
}

voting_round read_round(const value& input, std::string path, decode_error& error) {
  object_reader reader(input, std::move(path), error, {"number", "votes", "consensus", "at", "milliseconds"});
  voting_round out;
  out.number = static_cast<std::uint32_t>(reader.count("number", 1, max_round_number, 0));
  if (!error.has_occurred() && out.number == 0) reader.reject("number", "missing");
  out.votes = read_votes(reader, error);
  if (const auto* const consensus = reader.object("consensus"))
    out.consensus = read_consensus(*consensus, reader.path_of("consensus"), error);
  out.started_at = reader.time("at");
  out.duration = read_duration(reader);
  return out;
}

flow_step read_step(const value& input, std::string path, decode_error& error) {
  object_reader reader(input, std::move(path), error, {"round", "provider", "action", "at", "milliseconds", "note"});
  flow_step out;
  out.round = static_cast<std::uint32_t>(reader.count("round", 0, max_round_number, 0));
  out.provider = reader.text("provider", name_rule);
  out.action = reader.text("action", name_rule, true);
  out.time = reader.time("at");
  out.duration = read_duration(reader);
  out.note = reader.text("note", content_rule);
  return out;
}

provider_error read_error(const value& input, std::string path, decode_error& error) {
  object_reader reader(input, std::move(path), error, {"provider", "round", "message", "at"});
  provider_error out;
  out.provider = reader.text("provider", name_rule, true);
  out.round = static_cast<std::uint32_t>(reader.count("round", 0, max_round_number, 0));
  out.message = reader.text("message", content_rule, true);
  out.time = reader.time("at");
  return out;
}

totals read_totals(const value& input, std::string path, decode_error& error) {
  object_reader reader(input, std::move(path), error, {"cost", "tokens", "milliseconds"});
  totals out;
  out.cost = reader.amount("cost");
  out.tokens = static_cast<std::uint64_t>(reader.count("tokens", 0, max_exact_integer, 0));
  out.duration = read_duration(reader);
  return out;
}

void read_store_members(analysis& analysis, object_reader& reader, decode_error& error) {
  analysis.id = reader.text("id", name_rule);
  if (const auto status_name = reader.text("status", name_rule); !status_name.empty()) {
    analysis.status = parse_status(status_name);
    if (!analysis.status) reader.reject("status", "expected computing, complete or below");
  }
  analysis.created_at = reader.time("created");
  analysis.expires_at = reader.time("expires");
  if (error.has_occurred() || analysis.id.empty()) return;
  const bool is_id = analysis.id.size() == 32 && std::all_of(analysis.id.begin(), analysis.id.end(), [](char c) {
                       return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
                     });
  if (!is_id) reader.reject("id", "expected 32 hexadecimal digits in lower case; leave it out for a new analysis");
}

void read_history(analysis& analysis, object_reader& reader, decode_error& error) {
  if (const auto* const rounds = reader.array("rounds", max_rounds))
    for (std::size_t i = 0; i < rounds->size() && !error.has_occurred(); ++i) {
      analysis.rounds.push_back(read_round((*rounds)[i], reader.path_of("rounds", i), error));
      if (!error.has_occurred() && i > 0 && analysis.rounds[i].number <= analysis.rounds[i - 1].number)
        error.report(reader.path_of("rounds", i) + ".number: round numbers must increase");
    }
  if (const auto* const flow = reader.array("flow", max_flow_steps))
    for (std::size_t i = 0; i < flow->size() && !error.has_occurred(); ++i)
      analysis.flow.push_back(read_step((*flow)[i], reader.path_of("flow", i), error));
  if (const auto* const errors = reader.array("errors", max_flow_steps))
    for (std::size_t i = 0; i < errors->size() && !error.has_occurred(); ++i)
      analysis.errors.push_back(read_error((*errors)[i], reader.path_of("errors", i), error));
}

result<analysis> read_analysis(const value& input, std::string_view path, bool is_stored = false) {
  decode_error error(is_stored);
  object_reader reader(input, std::string(path), error,
                       {"prompt", "options", "models", "context", "task", "thresholds", "consensus", "votes", "rounds", "flow",
                        "errors", "totals", "session", "tags", "id", "status", "created", "expires"});
  analysis out;
  read_store_members(out, reader, error);
  read_question(out.question, reader, error);
  if (const auto task = reader.text("task", name_rule); !task.empty()) {
    const auto parsed_task = parse_task_type(task);
    if (!parsed_task) reader.reject("task", "expected basic, premium or critical");
    out.task = parsed_task.value_or(task_type::basic);
  }
  if (const auto* const required = reader.object("thresholds"))
    out.required = read_thresholds(*required, reader.path_of("thresholds"), error);
  if (const auto* const consensus = reader.object("consensus"))
    out.consensus = read_consensus(*consensus, reader.path_of("consensus"), error);
  out.votes = read_votes(reader, error);
  read_history(out, reader, error);
  if (const auto* const total = reader.object("totals")) out.total = read_totals(*total, reader.path_of("totals"), error);
  out.session = reader.text("session", {max_session_bytes, true});
  if (const auto* const tags = reader.array("tags", max_tags))
    for (std::size_t i = 0; i < tags->size(); ++i)
      out.tags.push_back(read_text((*tags)[i], reader.path_of("tags", i), name_rule, error));
  if (error.has_occurred()) return error.to_failure();
  std::sort(out.tags.begin(), out.tags.end());
  out.tags.erase(std::unique(out.tags.begin(), out.tags.end()), out.tags.end());
  return out;
}

}  // namespace

result<analysis> decode(const value& input, std::string_view path) {
  auto out = read_analysis(input, path);
  if (!out) return out;
  HONDANA_TRY(reject_inexact_numbers(out->question, path));
  return out;
}

result<analysis> decode(std::string_view json) {
  if (json.size() > max_analysis_bytes)
    return fail(errc::response_too_large, "an analysis can have at most " + std::to_string(max_analysis_bytes) +
                                              " bytes of JSON (" + std::to_string(max_analysis_bytes >> 20) +
                                              " MiB); this one has " + std::to_string(json.size()) +
                                              "; leave out text that is stored elsewhere");
  HONDANA_TRY(const auto parsed, value::parse(json, {max_analysis_bytes, max_json_values}));
  return decode(parsed, {});
}

result<analysis> decode_stored(std::string_view json) {
  // Room for the few members that `encode` adds.
  HONDANA_TRY(const auto parsed, value::parse(json, {max_analysis_bytes + 4096, max_json_values + 100}));
  return read_analysis(parsed, {}, true);
}

result<model_question> decode_question(const value& input, std::string_view path) {
  decode_error error;
  object_reader reader(input, std::string(path), error, {"prompt", "options", "models", "context"});
  model_question out;
  read_question(out, reader, error);
  if (error.has_occurred()) return error.to_failure();
  HONDANA_TRY(reject_inexact_numbers(out, path));
  return out;
}

namespace {

void write_time(json::writer& writer, std::string_view name, const std::optional<instant>& time) {
  if (time) writer.member(name, model::format_iso_8601(*time));
}

void write_count(json::writer& writer, std::string_view name, std::uint64_t count) {
  if (count != 0) writer.key(name).unsigned_integer(count);
}

void write_nonzero(json::writer& writer, std::string_view name, double number) {
  if (number != 0) writer.key(name).number(number);
}

void write_duration(json::writer& writer, milliseconds duration) {
  write_count(writer, "milliseconds", static_cast<std::uint64_t>(duration.count()));
}

void write_consensus(json::writer& writer, const consensus_answer& consensus) {
  writer.begin_object();
  writer.member("content", consensus.content);
  writer.key("confidence").number(consensus.confidence);
  writer.member_if("reasoning", consensus.reasoning);
  writer.end_object();
}

void write_vote(json::writer& writer, const vote& vote) {
  writer.begin_object();
  writer.member("provider", vote.provider);
  writer.member_if("model", vote.model);
  writer.member("content", vote.content);
  writer.key("confidence").number(vote.confidence);
  writer.member_if("reasoning", vote.reasoning);
  write_nonzero(writer, "cost", vote.cost);
  write_count(writer, "tokens", vote.tokens);
  write_nonzero(writer, "agreement", vote.agreement);
  writer.end_object();
}

void write_votes(json::writer& writer, const std::vector<vote>& votes) {
  if (votes.empty()) return;
  writer.key("votes").begin_array();
  for (const auto& vote : votes) write_vote(writer, vote);
  writer.end_array();
}

void write_question(json::writer& writer, const model_question& question) {
  writer.member("prompt", question.prompt);
  if (const auto* const options = question.options.as_object(); options != nullptr && !options->empty())
    writer.key("options").raw(question.options.to_text());
  if (!question.models.empty()) {
    writer.key("models").begin_array();
    for (const auto& model : question.models) writer.string(model);
    writer.end_array();
  }
  if (question.context.empty()) return;
  writer.key("context").begin_array();
  for (const auto& resource : question.context) {
    writer.begin_object().member("uri", resource.uri).member_if("version", resource.version);
    writer.end_object();
  }
  writer.end_array();
}

void write_rounds(json::writer& writer, const std::vector<voting_round>& rounds) {
  if (rounds.empty()) return;
  writer.key("rounds").begin_array();
  for (const auto& round : rounds) {
    writer.begin_object().key("number").unsigned_integer(round.number);
    write_votes(writer, round.votes);
    if (round.consensus) write_consensus(writer.key("consensus"), *round.consensus);
    write_time(writer, "at", round.started_at);
    write_duration(writer, round.duration);
    writer.end_object();
  }
  writer.end_array();
}

void write_flow(json::writer& writer, const std::vector<flow_step>& steps) {
  if (steps.empty()) return;
  writer.key("flow").begin_array();
  for (const auto& step : steps) {
    writer.begin_object();
    write_count(writer, "round", step.round);
    writer.member_if("provider", step.provider).member("action", step.action);
    write_time(writer, "at", step.time);
    write_duration(writer, step.duration);
    writer.member_if("note", step.note).end_object();
  }
  writer.end_array();
}

void write_errors(json::writer& writer, const std::vector<provider_error>& errors) {
  if (errors.empty()) return;
  writer.key("errors").begin_array();
  for (const auto& error : errors) {
    writer.begin_object().member("provider", error.provider);
    write_count(writer, "round", error.round);
    writer.member("message", error.message);
    write_time(writer, "at", error.time);
    writer.end_object();
  }
  writer.end_array();
}

void write_thresholds(json::writer& writer, const thresholds& required) {
  if (required == thresholds()) return;
  writer.key("thresholds").begin_object();
  write_nonzero(writer, "confidence", required.confidence);
  write_nonzero(writer, "consensus", required.consensus);
  write_count(writer, "providers", required.providers);
  writer.end_object();
}

void write_body(json::writer& writer, const analysis& analysis) {
  write_question(writer, analysis.question);
  writer.member("task", name_of(analysis.task));
  write_thresholds(writer, analysis.required);
  if (analysis.consensus) write_consensus(writer.key("consensus"), *analysis.consensus);
  write_votes(writer, analysis.votes);
  write_rounds(writer, analysis.rounds);
  write_flow(writer, analysis.flow);
  write_errors(writer, analysis.errors);
  if (analysis.total != totals()) {
    writer.key("totals").begin_object();
    write_nonzero(writer, "cost", analysis.total.cost);
    write_count(writer, "tokens", analysis.total.tokens);
    write_duration(writer, analysis.total.duration);
    writer.end_object();
  }
  writer.member_if("session", analysis.session);
  if (analysis.tags.empty()) return;
  writer.key("tags").begin_array();
  for (const auto& tag : analysis.tags) writer.string(tag);
  writer.end_array();
}

}  // namespace

std::string encode(const analysis& analysis) {
  std::string out;
  json::writer writer(out);
  writer.begin_object();
  writer.member_if("id", analysis.id);
  if (analysis.status) writer.member("status", name_of(*analysis.status));
  write_time(writer, "created", analysis.created_at);
  write_time(writer, "expires", analysis.expires_at);
  write_body(writer, analysis);
  writer.end_object();
  return out;
}

std::string encode_body(const analysis& analysis) {
  std::string out;
  json::writer writer(out);
  writer.begin_object();
  write_body(writer, analysis);
  writer.end_object();
  return out;
}

std::string encode(std::string_view body, std::string_view id, analysis_status status, instant created_at, instant expires_at) {
  std::string out;
  out.reserve(body.size() + 160);
  json::writer writer(out);
  writer.begin_object().member("id", id).member("status", name_of(status));
  writer.member("created", model::format_iso_8601(created_at)).member("expires", model::format_iso_8601(expires_at));
  // A body is an object with at least a prompt.
  if (body.size() > 2) out.append(1, ',').append(body.substr(1));
  return out;
}

}  // namespace hondana::analyses
