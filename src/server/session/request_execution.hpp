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

#include "protocol/rpc/in_flight.hpp"
#include "protocol/wire/choose.hpp"
#include "server/access/access_views.hpp"
#include "server/gate/gate.hpp"
#include "server/handlers/handler_table.hpp"
#include "server/session/answer_cache.hpp"
#include "server/session/log_messages.hpp"
#include "server/session/request_accounting.hpp"
#include "server/session/session.hpp"

namespace hondana::session {

/// An error answer to a request; without an id, to a message that is not a request.
[[nodiscard]] inline rpc::delivery refusal(const std::optional<rpc::request_id>& id, const wire::protocol_error& why,
                                           const wire::codec& manners) {
  rpc::delivery out{why.http_status, rpc::body(wire::wrap_error(id, why, manners))};
  out.error = why.code;
  return out;
}

/// Everything that answering a request needs, shared with its callbacks.
struct pending {
  rpc::reply reply;
  rpc::request_id id;
  const wire::codec& codec;
  std::shared_ptr<const context> with;
  std::string uri;                 // for error texts
  std::optional<page_key> page{};  // the page that it requests, if that is cached

  void succeed(rpc::body result) { reply.send({200, wire::wrap_result(id, std::move(result))}); }
  void refuse(const wire::protocol_error& why) { reply.send(refusal(id, why, codec)); }
  void fail(const failure& why) {
    if (!why.private_text.empty()) note(std::string(name_of(why.code)) + about() + ": " + why.private_text);
    auto answer = refusal(id, codec.encode_failure(why, uri), codec);
    if (why.code == errc::scope_missing && why.scopes) {
      answer.http_status = 403;
      answer.scopes = why.scopes;
    }
    if (why.code == errc::too_many_requests || why.code == errc::overloaded) answer.retry = why.retry;
    request_figures::here().refused(why.code);
    reply.send(std::move(answer));
  }
  void note(std::string_view line) const {
    if (with->log) with->log(line);
  }
  /// The URI for the log, shortened because clients choose it.
  [[nodiscard]] std::string about() const {
    constexpr std::size_t shown = 300;
    return uri.empty() ? uri : ' ' + (uri.size() <= shown ? uri : uri.substr(0, shown) + "...");
  }
  /// Encodes an answer with `encode` and sends it. An exception becomes an internal error.
  template <class Answer, class Encode>
  void finish(result<Answer> answer, Encode&& encode) {
    if (!answer) return fail(answer.error());
    try {
      succeed(rpc::body(encode(std::move(*answer))));
    } catch (const std::exception& error) {
      fail({errc::internal, "Internal error", std::string("an answer could not be encoded: ") + error.what()});
    }
  }
  template <class Answer>
  void finish(result<Answer> answer) {
    finish(std::move(answer), [this](const Answer& one) { return codec.encode(one, with->self); });
  }
  /// The same for a page, which is then cached.
  template <class Page>
  void finish_page(result<Page> answer) {
    finish(std::move(answer), [this](const Page& one) {
      auto text = codec.encode(one, with->self);
      if (page && one.valid) with->pages->keep(*page, text, one.valid);
      return text;
    });
  }
};

[[nodiscard]] inline grant granted_of(const access::decisions& by, const handlers::offered_tool& one) {
  return by.of_tool(one.entry->name, one.manners.is_built_in);
}
[[nodiscard]] inline grant granted_of(const access::decisions& by, const handlers::offered_prompt& one) {
  return by.of_prompt(one.entry->name);
}

/// Whether a tool or prompt exists for this caller. `one`: null if it does not exist at all.
template <class Offered>
[[nodiscard]] bool may_use(const gate::gate& rules, const caller& who, const Offered* one) {
  if (one == nullptr) return false;
  const auto granted = rules.decisions_of(who);
  return !granted || granted_of(*granted, *one) >= grant::read;
}

/// What a handler call needs from its session.
struct surroundings {
  client_abilities client;
  std::shared_ptr<log_line> log;  ///< Null if the client wants no messages.
  std::shared_ptr<rpc::outlet> out;
  std::shared_ptr<asked> requests_of_ours;
  std::chrono::milliseconds time;              ///< For each round.
  std::chrono::steady_clock::time_point last;  ///< Deadline of all rounds, including the client's time to answer.
};

/// Calls a handler, possibly in several rounds. If it returns `input_required`, a modern client gets that as the answer. A
/// legacy client gets requests of the server; after its responses, the handler is called again. No thread waits meanwhile. Its
/// owner is the pending operation: the handler's completion, or entries of the table of requests to the client.
class rounds : public std::enable_shared_from_this<rounds> {
 public:
  using target = std::variant<model::call_tool, model::get_prompt>;

  /// Starts the first round. Answers through `of`, exactly once.
  static void begin(std::shared_ptr<pending> of, call by, target what, surroundings around);

 private:
  rounds(std::shared_ptr<pending> of, call by, target what, surroundings around);

  void run();
  template <class Outcome>
  void take(result<Outcome> outcome);
  void require(input_required what);
  void answer_with_requirement(const input_required& what);
  void ask_peer(input_required what);
  void take_answer(const std::string& key, peer_answer what);
  void give_up(const failure& why);
  void give_up_asking(rpc::sending how);
  /// Withdraws open questions, and notifies the client. Returns false if there were none.
  bool withdraw();
  void refuse_lacking(std::string lacking);
  [[nodiscard]] std::string method() const;
  [[nodiscard]] std::string parameters() const;

  std::shared_ptr<pending> of_;
  call by_;
  target what_;
  surroundings around_;
  std::optional<value> state_;
  input_answers answers_;
  int round_ = 0;

  std::mutex mutex_;  // guards the following members: responses, the timer and cancellations arrive on other threads
  std::map<std::string, std::string> waiting_for_;  // our request id, by key
  value::object arrived_;
  std::vector<std::pair<std::string, std::string>> refused_;
  std::optional<executor::timers::id> timer_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

/// Executes `what` and answers through `of`, exactly once, now or later.
void perform(std::shared_ptr<pending> of, const call& by, const rpc::facts& facts, model::operation what,
             const surroundings& around);

}  // namespace hondana::session
