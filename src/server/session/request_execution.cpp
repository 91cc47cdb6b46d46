/// Executes decoded operations: reads and lists of the catalog, and handler calls with questions to the client.
#include "server/session/request_execution.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>

#include "base/json/writer.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/tools_and_prompts.hpp"

namespace hondana::session {
namespace {

/// A handler with more rounds is considered to be in an endless loop.
constexpr int max_rounds = 16;
constexpr std::size_t max_requests = 64;

std::string encode_cancellation(const std::string& id) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().member("jsonrpc", "2.0").member("method", "notifications/cancelled");
  writer.key("params").begin_object().member("requestId", id).member("reason", "the request this belongs to has ended");
  writer.end_object().end_object();
  return text;
}

bool has_duplicate_keys(const input_required& requirement) {
  for (auto request = requirement.requests.begin(); request != requirement.requests.end(); ++request) {
    const auto is_same = [request](const auto& other) { return other.first == request->first; };
    if (std::any_of(requirement.requests.begin(), request, is_same)) return true;
  }
  return false;
}

}  // namespace

handler_rounds::handler_rounds(std::shared_ptr<pending_request> pending, request_context context, target request,
                               handler_environment environment)
    : pending_(std::move(pending)),
      context_(std::move(context)),
      request_(std::move(request)),
      environment_(std::move(environment)) {}

void handler_rounds::begin(std::shared_ptr<pending_request> pending, request_context context, target request,
                           handler_environment environment) {
  const std::shared_ptr<handler_rounds> rounds(
      new handler_rounds(std::move(pending), std::move(context), std::move(request), std::move(environment)));
  auto& round = std::visit([](auto& operation) -> model::input_round& { return operation.round; }, rounds->request_);
  // These parameters do not exist for legacy clients, so they are ignored.
  if (!rounds->pending_->codec.sends_input_requests()) {
    if (round.sealed_state) {
      const auto method = rounds->method();
      const auto parameters = rounds->parameters();
      auto unsealed = rounds->pending_->snapshot->sealer->unseal(
          *round.sealed_state, {rounds->context_.caller.identity, method, parameters}, seal::clock::now());
      if (!unsealed) return rounds->pending_->fail(unsealed.error());
      rounds->state_ = std::move(*unsealed);
    }
    rounds->answers_ = input_responses(std::move(round.responses));
  }
  rounds->run();
}

std::string handler_rounds::method() const {
  return std::holds_alternative<model::call_tool>(request_) ? "tools/call" : "prompts/get";
}

std::string handler_rounds::parameters() const {
  if (const auto* tool = std::get_if<model::call_tool>(&request_)) {
    return value(value::object{{"name", tool->name}, {"arguments", tool->arguments}}).to_canonical_text();
  }
  const auto& prompt = std::get<model::get_prompt>(request_);
  value::object arguments;
  for (const auto& [name, text] : prompt.arguments) arguments.emplace_back(name, text);
  return value(value::object{{"name", prompt.name}, {"arguments", std::move(arguments)}}).to_canonical_text();
}

void handler_rounds::run() {
  ++round_;
  auto call = context_;
  call.deadline = std::min(monotonic_clock::now() + environment_.round_timeout, environment_.deadline);
  const auto log = environment_.log;
  handler_call round{{std::move(call)}, environment_.client, std::move(answers_), std::exchange(state_, {}), {}, {}};
  round.close_stream_callback = [writer = environment_.writer](std::chrono::milliseconds retry) { writer->release(retry); };
  if (log) {
    round.log_callback = [log](log_level level, const value& data, std::string_view logger) { log->send(level, data, logger); };
  }
  answers_ = {};
  if (const auto* tool = std::get_if<model::call_tool>(&request_)) {
    pending_->snapshot->handlers->call({std::move(round), tool->name, tool->arguments},
                                       {pending_->codec.validation_errors_are_results(), pending_->snapshot->log},
                                       [owner = shared_from_this()](auto outcome) { owner->on_outcome(std::move(outcome)); });
  } else {
    const auto& prompt = std::get<model::get_prompt>(request_);
    pending_->snapshot->handlers->get({std::move(round), prompt.name, prompt.arguments},
                                      [owner = shared_from_this()](auto outcome) { owner->on_outcome(std::move(outcome)); });
  }
}

template <class Outcome>
void handler_rounds::on_outcome(result<Outcome> outcome) {
  if (!outcome) return pending_->fail(outcome.error());
  if (auto* requirement = std::get_if<input_required>(&*outcome)) return require_input(std::move(*requirement));
  pending_->finish(result<std::variant_alternative_t<0, Outcome>>(std::get<0>(std::move(*outcome))));
}

void handler_rounds::require_input(input_required requirement) {
  const auto defect = [this](const char* reason) {
    pending_->fail({errc::internal, "Internal error", "a handler made an invalid request for input: " + std::string(reason)});
  };
  if (requirement.requests.empty() && !requirement.state) return defect("it has neither requests nor a state");
  if (requirement.requests.size() > max_requests) return defect("it has too many requests");
  if (has_duplicate_keys(requirement)) return defect("two requests have the same key");
  auto missing = wire::missing_capabilities(requirement.requests, environment_.client);
  if (missing.empty()) {
    for (const auto& [key, request] : requirement.requests) {
      if (!pending_->codec.supports_request(request)) missing = wire::missing_capabilities({{key, request}}, {});
    }
  }
  if (!missing.empty()) return reject_lacking(std::move(missing));
  if (!pending_->codec.sends_input_requests()) return send_input_required(requirement);
  if (round_ >= max_rounds) return defect("too many rounds of requests");
  request_from_client(std::move(requirement));
}

void handler_rounds::reject_lacking(std::string missing) {
  if (pending_->codec.sends_input_requests() && std::holds_alternative<model::call_tool>(request_)) {
    return pending_->finish(result<tool_result>(
        error_result("This tool needs input that the client does not support. The client does not declare: " + missing)));
  }
  pending_->reject(pending_->codec.encode_missing_capabilities(std::move(missing)));
}

void handler_rounds::send_input_required(const input_required& requirement) {
  std::string sealed;
  if (requirement.state) {
    const auto name = method();
    const auto bound = parameters();
    auto encrypted = pending_->snapshot->sealer->seal(*requirement.state, {context_.caller.identity, name, bound},
                                                      seal::clock::now() + pending_->snapshot->input_timeout);
    if (!encrypted) return pending_->fail({errc::internal, "Internal error", encrypted.error().public_text});
    sealed = std::move(*encrypted);
  }
  pending_->succeed(rpc::body(pending_->codec.encode_input_required(requirement, sealed, pending_->snapshot->server_info)));
}

void handler_rounds::request_from_client(input_required requirement) {
  state_ = std::move(requirement.state);
  if (requirement.requests.empty()) return run();
  std::vector<std::string> messages;
  {
    const std::lock_guard lock(mutex_);
    responses_.clear();
    rejections_.clear();
    for (auto& [key, request] : requirement.requests) {
      if (auto* link = std::get_if<url_request>(&request); link != nullptr && !link->elicitation_id) {
        link->elicitation_id = random_name();
      }
      const auto id = environment_.outgoing->open(
          [owner = shared_from_this(), name = key](client_response answer) { owner->on_response(name, std::move(answer)); });
      if (!id) break;
      waiting_.emplace(key, *id);
      messages.push_back(pending_->codec.encode_request(*id, request));
    }
  }
  if (messages.size() < requirement.requests.size()) {
    withdraw();
    return pending_->fail({errc::overloaded, "Too many requests for input to this client are open. Answer them first.", {}});
  }
  {
    const std::lock_guard lock(mutex_);
    const auto deadline = std::min(monotonic_clock::now() + pending_->snapshot->input_timeout, environment_.deadline);
    timer_ = pending_->snapshot->timers->schedule(deadline, [weak_owner = weak_from_this()] {
      if (const auto owner = weak_owner.lock()) {
        owner->abandon({errc::timed_out, "The client did not answer a request for input in time.", {}});
      }
    });
  }
  // Registered before any response can arrive, because a response resets it. If the stop was already requested, the callback
  // runs at once.
  on_stop_.emplace(context_.stop, [weak_owner = weak_from_this()] {
    if (const auto owner = weak_owner.lock()) owner->withdraw();
  });
  if (context_.stop.stop_requested()) return;
  for (auto& message : messages) {
    if (const auto outcome = environment_.writer->send(std::move(message)); outcome != rpc::send_outcome::accepted)
      return abandon_sending(outcome);
  }
}

/// The client cannot receive the question, so there will be no answer.
void handler_rounds::abandon_sending(rpc::send_outcome outcome) {
  if (!withdraw()) return;
  if (outcome == rpc::send_outcome::unsupported) {
    return pending_->reject(
        wire::rejected_by_http(406,
                               "Not acceptable: the server needs input from the client, and requests it on a "
                               "stream. Send Accept: application/json, text/event-stream."));
  }
  pending_->fail(
      {errc::overloaded,
       "The client could not be asked for the input that this call needs: it disconnected, the question is longer than 1 "
       "MiB, or too many messages wait to be read. Read them, and call again.",
       {}});
}

void handler_rounds::on_response(const std::string& key, client_response response) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.erase(key) == 0) return;
    if (response.result) {
      responses_.emplace_back(key, std::move(*response.result));
    } else {
      rejections_.emplace_back(key, std::move(response.error));
    }
    if (!waiting_.empty()) return;
    if (timer_) pending_->snapshot->timers->cancel(*timer_);
    timer_.reset();
    answers_ = input_responses(std::move(responses_), std::move(rejections_));
  }
  on_stop_.reset();
  run();
}

void handler_rounds::abandon(const failure& error) {
  if (withdraw()) pending_->fail(error);
}

bool handler_rounds::withdraw() {
  std::map<std::string, std::string> withdrawn;
  {
    const std::lock_guard lock(mutex_);
    withdrawn.swap(waiting_);
    if (timer_) pending_->snapshot->timers->cancel(*timer_);
    timer_.reset();
  }
  for (const auto& [key, id] : withdrawn) {
    environment_.writer->send(encode_cancellation(id));
    environment_.outgoing->drop(id);
  }
  return !withdrawn.empty();
}

namespace {

struct operation_executor {
  std::shared_ptr<pending_request> pending;
  const request_context& context;
  const rpc::request_info& request_info;
  const handler_environment& environment;

  void operator()(const model::list_resources& params) const {
    auto filter = std::make_shared<const catalog::list_filter>(params.filter.value_or(model::resource_filter{}));
    pending->snapshot->catalog->list(context, params.cursor, std::move(filter),
                                     [request = pending](auto page) { request->finish_page(std::move(page)); });
  }
  void operator()(const model::list_templates& params) const {
    pending->snapshot->catalog->templates(context, params.cursor,
                                          [request = pending](auto page) { request->finish_page(std::move(page)); });
  }
  void operator()(const model::read_resource& params) const {
    const auto callback = [request = pending](result<catalog::read_answer> answer) {
      if (answer && answer->is_unmodified) return send_unmodified(*request, *answer);
      request->finish(std::move(answer), [&request](catalog::read_answer read) {
        return request->codec.encode(std::move(read.reading), read.executor, read.cache, request->snapshot->server_info);
      });
    };
    pending->snapshot->catalog->read(context, params.uri, params.requested_uri, {params.cached_version, false}, callback);
  }
  void operator()(const model::get_resource& params) const {
    const auto callback = [request = pending](result<catalog::read_answer> answer) {
      if (answer && answer->is_unmodified) return send_unmodified(*request, *answer);
      request->finish(std::move(answer), [&request](catalog::read_answer read) {
        // For a folder, the first content is its listing; the others are resources of their own.
        return request->codec.encode_resource(*read.entry, std::move(read.reading.contents.front()), read.executor, read.cache,
                                              request->snapshot->server_info);
      });
    };
    pending->snapshot->catalog->read(context, params.uri, params.requested_uri, {params.cached_version, true}, callback);
  }
  void operator()(const model::read_directory& params) const {
    pending->snapshot->catalog->children(context, params.uri, params.cursor,
                                         [request = pending](auto page) { request->finish(std::move(page)); });
  }
  void operator()(const model::list_skills& params) const {
    pending->snapshot->catalog->skills(context, params.cursor,
                                       [request = pending](auto page) { request->finish(std::move(page)); });
  }
  void operator()(const model::get_skill& params) const {
    pending->snapshot->catalog->find_skill(context, params.uri, params.requested_uri,
                                           [request = pending](auto skill) { request->finish(std::move(skill)); });
  }
  void operator()(const model::complete& params) const {
    if (params.prompt) {
      if (!is_available(pending->snapshot->handlers->find_prompt(*params.prompt))) {
        return pending->fail(handlers::table::unknown_prompt_to_complete(*params.prompt));
      }
      pending->snapshot->handlers->complete(context, params,
                                            [request = pending](auto values) { request->finish(std::move(values)); });
    } else {
      pending->snapshot->catalog->complete(context, params,
                                           [request = pending](auto values) { request->finish(std::move(values)); });
    }
  }
  void operator()(const model::list_tools& params) const {
    handlers::table::tool_filter is_visible;
    if (const auto filter = rule_filter()) {
      is_visible = [filter](const handlers::offered_tool& tool) { return level_of(*filter, tool) >= access_level::list; };
    }
    pending->finish(pending->snapshot->handlers->tools(params.cursor, is_visible));
  }
  void operator()(const model::list_prompts& params) const {
    handlers::table::prompt_filter is_visible;
    if (const auto filter = rule_filter()) {
      is_visible = [filter](const handlers::offered_prompt& prompt) { return level_of(*filter, prompt) >= access_level::list; };
    }
    pending->finish(pending->snapshot->handlers->prompts(params.cursor, is_visible));
  }
  void operator()(model::call_tool& params) const {
    const auto* tool = pending->snapshot->handlers->find_tool(params.name);
    if (!is_available(tool)) return pending->fail(handlers::table::unknown_tool(params.name));
    if (request_info.http) {
      const auto error = pending->codec.reject_mismatched_headers(tool->mirrored, params.arguments, *request_info.http);
      if (error) return pending->reject(*error);
    }
    handler_rounds::begin(pending, context, std::move(params), environment);
  }
  void operator()(model::get_prompt& params) const {
    if (!is_available(pending->snapshot->handlers->find_prompt(params.name))) {
      return pending->fail(handlers::table::unknown_prompt(params.name));
    }
    handler_rounds::begin(pending, context, std::move(params), environment);
  }
  void operator()(const model::set_log_level&) const { acknowledge(); }
  void operator()(const model::initialize&) const {
    rpc::body result(pending->codec.encode_handshake(pending->snapshot->server_info));
    pending->reply.send({200, wire::wrap_result(pending->id, std::move(result)), true, pending->codec.supports_polling()});
  }
  void operator()(const model::discover&) const {
    pending->succeed(rpc::body(pending->codec.encode_handshake(pending->snapshot->server_info)));
  }
  void operator()(const model::ping&) const { acknowledge(); }
  template <class Other>
  void operator()(const Other&) const {
    pending->fail({errc::internal, "Internal error", "an operation without an answer came as a request"});
  }

 private:
  /// Missing and hidden tools and prompts get the same answer, before the request is processed further.
  template <class Offered>
  [[nodiscard]] bool is_available(const Offered* offered) const {
    return may_use(*pending->snapshot->gate, context.caller, offered);
  }
  [[nodiscard]] std::shared_ptr<const access::rule_filter> rule_filter() const {
    return pending->snapshot->gate->rule_filter_of(context.caller);
  }
  static void send_unmodified(pending_request& request, const catalog::read_answer& answer) {
    request.reject(request.codec.encode_unmodified(request.uri, answer.reading.version));
  }
  void acknowledge() const { pending->succeed(rpc::body(pending->codec.encode_empty(pending->snapshot->server_info))); }
};

}  // namespace

void perform(std::shared_ptr<pending_request> pending, const request_context& context, const rpc::request_info& request_info,
             model::operation operation, const handler_environment& environment) {
  std::visit(operation_executor{std::move(pending), context, request_info, environment}, operation);
}

}  // namespace hondana::session
