/// Executes decoded operations: reads and lists of the catalog, and handler calls with questions to the client.
#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/access.hpp>
#include <hondana/input.hpp>
#include <hondana/provider.hpp>

#include "protocol/rpc/pending_requests.hpp"
#include "protocol/wire/choose_codec.hpp"
#include "server/access/access_filters.hpp"
#include "server/gate/gate.hpp"
#include "server/handlers/handler_table.hpp"
#include "server/session/answer_cache.hpp"
#include "server/session/log_messages.hpp"
#include "server/session/request_accounting.hpp"
#include "server/session/session.hpp"

namespace hondana::session {

/// An error answer to a request; without an id, to a message that is not a request.
[[nodiscard]] inline rpc::outgoing_response error_response(const std::optional<rpc::request_id>& id,
                                                           const wire::protocol_error& error, const wire::codec& codec) {
  rpc::outgoing_response out{error.http_status, rpc::body(wire::wrap_error(id, error, codec))};
  out.error_code = error.code;
  return out;
}

/// Everything that answering a request needs; its callbacks share it. `succeed`, `reject` or `fail` must be called once.
struct pending_request {
  rpc::pending_reply reply;
  rpc::request_id id;
  const wire::codec& codec;
  std::shared_ptr<const server_snapshot> snapshot;
  std::string uri;                 // as the client spelled it, for error texts; empty: none
  std::optional<page_key> page{};  // the page that it requests; nullopt: none that is cached

  /// Sends a result.
  void succeed(rpc::body result) { reply.send({200, wire::wrap_result(id, std::move(result))}); }
  /// Sends an error of the protocol.
  void reject(const wire::protocol_error& error) { reply.send(error_response(id, error, codec)); }
  /// Sends the public part of a failure as an error, and logs the private text.
  void fail(const failure& error) {
    if (!error.private_text.empty()) log(std::string(name_of(error.code)) + log_uri() + ": " + error.private_text);
    auto answer = error_response(id, codec.encode_failure(error, uri), codec);
    if (error.code == errc::insufficient_scope && error.scopes) {
      answer.http_status = 403;
      answer.required_scopes = error.scopes;
    }
    if (error.code == errc::too_many_requests || error.code == errc::overloaded) answer.retry_after = error.retry_after;
    request_metrics::global().count_rejection(error.code);
    reply.send(std::move(answer));
  }
  void log(std::string_view line) const {
    if (snapshot->log) snapshot->log(line);
  }
  /// The URI for the log, shortened because clients choose it.
  [[nodiscard]] std::string log_uri() const {
    constexpr std::size_t max_shown_bytes = 300;
    return uri.empty() ? uri : ' ' + (uri.size() <= max_shown_bytes ? uri : uri.substr(0, max_shown_bytes) + "...");
  }
  /// Sends the result that `encode` makes of the answer, or its failure. An exception becomes an internal error.
  template <class Answer, class Encode>
  void finish(result<Answer> answer, Encode&& encode) {
    if (!answer) return fail(answer.error());
    try {
      succeed(rpc::body(encode(std::move(*answer))));
    } catch (const std::exception& error) {
      fail({errc::internal, "Internal error", std::string("an answer could not be encoded: ") + error.what()});
    }
  }
  /// Sends an answer in the encoding of `codec`, or its failure.
  template <class Answer>
  void finish(result<Answer> answer) {
    finish(std::move(answer), [this](const Answer& content) { return codec.encode(content, snapshot->server_info); });
  }
  /// Sends a page, or its failure. Caches the page if it has a key and a validator.
  template <class Page>
  void finish_page(result<Page> answer) {
    finish(std::move(answer), [this](const Page& page_content) {
      auto text = codec.encode(page_content, snapshot->server_info);
      if (page && page_content.validator) snapshot->pages->store(*page, text, page_content.validator);
      return text;
    });
  }
};

/// What the rules grant for a tool.
[[nodiscard]] inline access_level level_of(const access::rule_filter& filter, const handlers::offered_tool& tool) {
  return filter.level_of_tool(tool.entry->name, tool.options.is_built_in);
}
/// What the rules grant for a prompt.
[[nodiscard]] inline access_level level_of(const access::rule_filter& filter, const handlers::offered_prompt& prompt) {
  return filter.level_of_prompt(prompt.entry->name);
}

/// Whether the caller may call a tool or get a prompt. `offered`: null if it does not exist.
template <class Offered>
[[nodiscard]] bool may_use(const gate::gate& gate, const caller_info& caller, const Offered* offered) {
  if (offered == nullptr) return false;
  const auto filter = gate.rule_filter_of(caller);
  return !filter || level_of(*filter, *offered) >= access_level::read;
}

/// What a handler call needs from its session.
struct handler_environment {
  client_capabilities client;                      ///< What the client has declared.
  std::shared_ptr<request_log> log;                ///< Null if the client wants no messages.
  std::shared_ptr<rpc::response_writer> writer;    ///< For messages to the client before the answer.
  std::shared_ptr<outgoing_requests> outgoing;     ///< For questions to a legacy client. Null for others.
  std::chrono::milliseconds round_timeout;         ///< For each round.
  std::chrono::steady_clock::time_point deadline;  ///< Deadline of all rounds, including the client's time to answer.
};

/// Calls a handler, possibly in several rounds. If it returns `input_required`, a stateless client gets that as the answer. A
/// legacy client gets requests of the server; after its responses, the handler is called again. No thread waits meanwhile.
///
/// The pending operation owns this object: the completion of the handler, or entries in `outgoing_requests`.
class handler_rounds : public std::enable_shared_from_this<handler_rounds> {
 public:
  using target = std::variant<model::call_tool, model::get_prompt>;

  /// Starts the first round. Answers through `pending`, exactly once.
  static void begin(std::shared_ptr<pending_request> pending, request_context context, target request,
                    handler_environment environment);

 private:
  handler_rounds(std::shared_ptr<pending_request> pending, request_context context, target request,
                 handler_environment environment);

  void run();
  /// Answers with the outcome of the handler, or starts to get the input that it requires.
  template <class Outcome>
  void on_outcome(result<Outcome> outcome);
  void require_input(input_required requirement);
  /// Answers a stateless client with the required input.
  void send_input_required(const input_required& requirement);
  /// Sends the requests for input to a legacy client.
  void request_from_client(input_required requirement);
  /// Stores a response; after the last one, starts the next round. `key`: of the request in `input_required`.
  void on_response(const std::string& key, client_response response);
  /// Withdraws open questions, and answers with `error` if there were any.
  void abandon(const failure& error);
  /// Answers with an error, because a question could not be sent.
  void abandon_sending(rpc::send_outcome outcome);
  /// Withdraws open questions, and notifies the client. Returns false if there were none.
  bool withdraw();
  /// Answers with an error, because the client lacks capabilities. `missing`: their names.
  void reject_lacking(std::string missing);
  [[nodiscard]] std::string method() const;
  /// The parameters of the request in canonical form, to which the state is bound.
  [[nodiscard]] std::string parameters() const;

  std::shared_ptr<pending_request> pending_;
  request_context context_;
  target request_;
  handler_environment environment_;
  std::optional<value> state_;
  input_responses answers_;
  int round_ = 0;

  std::mutex mutex_;  // guards the following members: responses, the timer and cancellations arrive on other threads
  std::map<std::string, std::string> waiting_;  // ids of open questions, by key
  value::object responses_;
  std::vector<std::pair<std::string, std::string>> rejections_;
  std::optional<executor::timers::id> timer_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

/// Executes `operation` and answers through `pending`, exactly once, now or later.
void perform(std::shared_ptr<pending_request> pending, const request_context& context, const rpc::request_info& request_info,
             model::operation operation, const handler_environment& environment);

}  // namespace hondana::session
