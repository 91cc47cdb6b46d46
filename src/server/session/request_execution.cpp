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
constexpr int most_rounds = 16;
constexpr std::size_t most_requests = 64;

std::string cancellation_of(const std::string& id) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("jsonrpc", "2.0").member("method", "notifications/cancelled");
  to.key("params").begin_object().member("requestId", id).member("reason", "the request this belongs to has ended");
  to.end_object().end_object();
  return text;
}

bool has_twins(const input_required& what) {
  for (auto one = what.requests.begin(); one != what.requests.end(); ++one) {
    const auto is_same = [one](const auto& other) { return other.first == one->first; };
    if (std::any_of(what.requests.begin(), one, is_same)) return true;
  }
  return false;
}

}  // namespace

rounds::rounds(std::shared_ptr<pending> of, call by, target what, surroundings around)
    : of_(std::move(of)), by_(std::move(by)), what_(std::move(what)), around_(std::move(around)) {}

void rounds::begin(std::shared_ptr<pending> of, call by, target what, surroundings around) {
  const std::shared_ptr<rounds> self(new rounds(std::move(of), std::move(by), std::move(what), std::move(around)));
  auto& round = std::visit([](auto& one) -> model::input_round& { return one.round; }, self->what_);
  // These parameters do not exist for legacy clients, so they are ignored.
  if (!self->of_->codec.asks_by_requests()) {
    if (round.sealed_state) {
      const auto method = self->method();
      const auto parameters = self->parameters();
      auto opened =
          self->of_->with->sealer->open(*round.sealed_state, {self->by_.who.identity, method, parameters}, seal::clock::now());
      if (!opened) return self->of_->fail(opened.error());
      self->state_ = std::move(*opened);
    }
    self->answers_ = input_answers(std::move(round.answers));
  }
  self->run();
}

std::string rounds::method() const { return std::holds_alternative<model::call_tool>(what_) ? "tools/call" : "prompts/get"; }

std::string rounds::parameters() const {
  if (const auto* tool = std::get_if<model::call_tool>(&what_)) {
    return value(value::object{{"name", tool->name}, {"arguments", tool->arguments}}).to_canonical_text();
  }
  const auto& prompt = std::get<model::get_prompt>(what_);
  value::object arguments;
  for (const auto& [name, given] : prompt.arguments) arguments.emplace_back(name, given);
  return value(value::object{{"name", prompt.name}, {"arguments", std::move(arguments)}}).to_canonical_text();
}

void rounds::run() {
  ++round_;
  auto call = by_;
  call.deadline = std::min(monotonic_clock::now() + around_.time, around_.last);
  const auto log = around_.log;
  handler_call round{{std::move(call)}, around_.client, std::move(answers_), std::exchange(state_, {}), {}, {}};
  round.let_go = [out = around_.out](std::chrono::milliseconds retry) { out->release(retry); };
  if (log) {
    round.send_log = [log](log_level level, const value& data, std::string_view logger) { log->send(level, data, logger); };
  }
  answers_ = {};
  if (const auto* tool = std::get_if<model::call_tool>(&what_)) {
    of_->with->handlers->call({std::move(round), tool->name, tool->arguments},
                              {of_->codec.misfits_are_results(), of_->with->log},
                              [self = shared_from_this()](auto outcome) { self->take(std::move(outcome)); });
  } else {
    const auto& prompt = std::get<model::get_prompt>(what_);
    of_->with->handlers->get({std::move(round), prompt.name, prompt.arguments},
                             [self = shared_from_this()](auto outcome) { self->take(std::move(outcome)); });
  }
}

template <class Outcome>
void rounds::take(result<Outcome> outcome) {
  if (!outcome) return of_->fail(outcome.error());
  if (auto* needed = std::get_if<input_required>(&*outcome)) return require(std::move(*needed));
  of_->finish(result<std::variant_alternative_t<0, Outcome>>(std::get<0>(std::move(*outcome))));
}

void rounds::require(input_required what) {
  const auto defect = [this](const char* why) {
    of_->fail({errc::internal, "Internal error", "a handler made an invalid request for input: " + std::string(why)});
  };
  if (what.requests.empty() && !what.state) return defect("it has neither requests nor a state");
  if (what.requests.size() > most_requests) return defect("it has too many requests");
  if (has_twins(what)) return defect("two requests have the same key");
  auto lacking = wire::lacking(what.requests, around_.client);
  if (lacking.empty()) {
    for (const auto& [key, one] : what.requests) {
      if (!of_->codec.has_request(one)) lacking = wire::lacking({{key, one}}, {});
    }
  }
  if (!lacking.empty()) return refuse_lacking(std::move(lacking));
  if (!of_->codec.asks_by_requests()) return answer_with_requirement(what);
  if (round_ >= most_rounds) return defect("too many rounds of requests");
  ask_peer(std::move(what));
}

void rounds::refuse_lacking(std::string lacking) {
  if (of_->codec.asks_by_requests() && std::holds_alternative<model::call_tool>(what_)) {
    return of_->finish(result<tool_result>(
        error_result("This tool needs input that the client does not support. The client does not declare: " + lacking)));
  }
  of_->refuse(of_->codec.encode_lacking(std::move(lacking)));
}

void rounds::answer_with_requirement(const input_required& what) {
  std::string sealed;
  if (what.state) {
    const auto name = method();
    const auto bound = parameters();
    auto closed =
        of_->with->sealer->close(*what.state, {by_.who.identity, name, bound}, seal::clock::now() + of_->with->input_deadline);
    if (!closed) return of_->fail({errc::internal, "Internal error", closed.error().public_text});
    sealed = std::move(*closed);
  }
  of_->succeed(rpc::body(of_->codec.encode_required(what, sealed, of_->with->self)));
}

void rounds::ask_peer(input_required what) {
  state_ = std::move(what.state);
  if (what.requests.empty()) return run();
  std::vector<std::string> messages;
  {
    const std::lock_guard lock(mutex_);
    arrived_.clear();
    refused_.clear();
    for (auto& [key, one] : what.requests) {
      if (auto* link = std::get_if<link_request>(&one); link != nullptr && link->elicitationId.empty()) {
        link->elicitationId = random_name();
      }
      const auto id = around_.requests_of_ours->open(
          [self = shared_from_this(), name = key](peer_answer answer) { self->take_answer(name, std::move(answer)); });
      if (!id) break;
      waiting_for_.emplace(key, *id);
      messages.push_back(of_->codec.encode_request(*id, one));
    }
  }
  if (messages.size() < what.requests.size()) {
    withdraw();
    return of_->fail({errc::overloaded, "Too many requests for input to this client are open. Answer them first.", {}});
  }
  {
    const std::lock_guard lock(mutex_);
    const auto until = std::min(monotonic_clock::now() + of_->with->input_deadline, around_.last);
    timer_ = of_->with->timers->at(until, [late = weak_from_this()] {
      if (const auto self = late.lock()) {
        self->give_up({errc::timed_out, "The client did not answer a request for input in time.", {}});
      }
    });
  }
  // Registered before any response can arrive, because a response resets it. If the stop was already requested, the callback
  // runs at once.
  on_stop_.emplace(by_.stop, [gone = weak_from_this()] {
    if (const auto self = gone.lock()) self->withdraw();
  });
  if (by_.stop.stop_requested()) return;
  for (auto& one : messages) {
    if (const auto how = around_.out->send(std::move(one)); how != rpc::sending::taken) return give_up_asking(how);
  }
}

/// The client cannot receive the question, so there will be no answer.
void rounds::give_up_asking(rpc::sending how) {
  if (!withdraw()) return;
  if (how == rpc::sending::no_way) {
    return of_->refuse(wire::refused_by_http(406,
                                             "Not acceptable: the server needs input from the client, and requests it on a "
                                             "stream. Send Accept: application/json, text/event-stream."));
  }
  of_->fail({errc::overloaded,
             "The client could not be asked for the input that this call needs: it disconnected, the question is longer than 1 "
             "MiB, or too many messages wait to be read. Read them, and call again.",
             {}});
}

void rounds::take_answer(const std::string& key, peer_answer what) {
  {
    const std::lock_guard lock(mutex_);
    if (waiting_for_.erase(key) == 0) return;
    if (what.result) {
      arrived_.emplace_back(key, std::move(*what.result));
    } else {
      refused_.emplace_back(key, std::move(what.error));
    }
    if (!waiting_for_.empty()) return;
    if (timer_) of_->with->timers->cancel(*timer_);
    timer_.reset();
    answers_ = input_answers(std::move(arrived_), std::move(refused_));
  }
  on_stop_.reset();
  run();
}

void rounds::give_up(const failure& why) {
  if (withdraw()) of_->fail(why);
}

bool rounds::withdraw() {
  std::map<std::string, std::string> gone;
  {
    const std::lock_guard lock(mutex_);
    gone.swap(waiting_for_);
    if (timer_) of_->with->timers->cancel(*timer_);
    timer_.reset();
  }
  for (const auto& [key, id] : gone) {
    around_.out->send(cancellation_of(id));
    around_.requests_of_ours->drop(id);
  }
  return !gone.empty();
}

namespace {

struct performer {
  std::shared_ptr<pending> of;
  const call& by;
  const rpc::facts& facts;
  const surroundings& around;

  void operator()(const model::list_resources& what) const {
    auto which = std::make_shared<const catalog::filter>(what.filter.value_or(model::resource_filter{}));
    of->with->catalog->list(by, what.cursor, std::move(which), [of = of](auto page) { of->finish_page(std::move(page)); });
  }
  void operator()(const model::list_templates& what) const {
    of->with->catalog->templates(by, what.cursor, [of = of](auto page) { of->finish_page(std::move(page)); });
  }
  void operator()(const model::read_resource& what) const {
    const auto done = [of = of](result<catalog::read_answer> answer) {
      if (answer && answer->is_unmodified) return unmodified(*of, *answer);
      of->finish(std::move(answer), [&of](catalog::read_answer one) {
        return of->codec.encode(std::move(one.reading), one.home, one.cache, of->with->self);
      });
    };
    of->with->catalog->read(by, what.uri, what.asked_uri, {what.if_version, false}, done);
  }
  void operator()(const model::get_resource& what) const {
    const auto done = [of = of](result<catalog::read_answer> answer) {
      if (answer && answer->is_unmodified) return unmodified(*of, *answer);
      of->finish(std::move(answer), [&of](catalog::read_answer one) {
        // For a folder, the first content is its listing; the others are resources of their own.
        return of->codec.encode_got(*one.entry, std::move(one.reading.contents.front()), one.home, one.cache, of->with->self);
      });
    };
    of->with->catalog->read(by, what.uri, what.asked_uri, {what.if_version, true}, done);
  }
  void operator()(const model::read_directory& what) const {
    of->with->catalog->children(by, what.uri, what.cursor, [of = of](auto page) { of->finish(std::move(page)); });
  }
  void operator()(const model::list_skills& what) const {
    of->with->catalog->skills(by, what.cursor, [of = of](auto page) { of->finish(std::move(page)); });
  }
  void operator()(const model::get_skill& what) const {
    of->with->catalog->find_skill(by, what.uri, what.asked_uri, [of = of](auto one) { of->finish(std::move(one)); });
  }
  void operator()(const model::complete& what) const {
    if (what.prompt) {
      if (!is_there(of->with->handlers->find_prompt(*what.prompt))) {
        return of->fail(handlers::table::unknown_prompt_to_complete(*what.prompt));
      }
      of->with->handlers->complete(by, what, [of = of](auto values) { of->finish(std::move(values)); });
    } else {
      of->with->catalog->complete(by, what, [of = of](auto values) { of->finish(std::move(values)); });
    }
  }
  void operator()(const model::list_tools& what) const {
    handlers::table::tool_sight is_shown;
    if (const auto granted = by_rules()) {
      is_shown = [granted](const handlers::offered_tool& one) { return granted_of(*granted, one) >= grant::list; };
    }
    of->finish(of->with->handlers->tools(what.cursor, is_shown));
  }
  void operator()(const model::list_prompts& what) const {
    handlers::table::prompt_sight is_shown;
    if (const auto granted = by_rules()) {
      is_shown = [granted](const handlers::offered_prompt& one) { return granted_of(*granted, one) >= grant::list; };
    }
    of->finish(of->with->handlers->prompts(what.cursor, is_shown));
  }
  void operator()(model::call_tool& what) const {
    const auto* called = of->with->handlers->find_tool(what.name);
    if (!is_there(called)) return of->fail(handlers::table::unknown_tool(what.name));
    if (facts.http) {
      const auto refused = of->codec.refuse_mirrored(called->mirrored, what.arguments, *facts.http);
      if (refused) return of->refuse(*refused);
    }
    rounds::begin(of, by, std::move(what), around);
  }
  void operator()(model::get_prompt& what) const {
    if (!is_there(of->with->handlers->find_prompt(what.name))) {
      return of->fail(handlers::table::unknown_prompt(what.name));
    }
    rounds::begin(of, by, std::move(what), around);
  }
  void operator()(const model::set_log_level&) const { acknowledge(); }
  void operator()(const model::initialize&) const {
    rpc::body result(of->codec.encode_greeting(of->with->self));
    of->reply.send({200, wire::wrap_result(of->id, std::move(result)), true, of->codec.may_poll()});
  }
  void operator()(const model::discover&) const { of->succeed(rpc::body(of->codec.encode_greeting(of->with->self))); }
  void operator()(const model::ping&) const { acknowledge(); }
  template <class Other>
  void operator()(const Other&) const {
    of->fail({errc::internal, "Internal error", "an operation without an answer came as a request"});
  }

 private:
  /// Missing and hidden tools and prompts get the same answer, before the request is processed further.
  template <class Offered>
  [[nodiscard]] bool is_there(const Offered* one) const {
    return may_use(*of->with->gate, by.who, one);
  }
  [[nodiscard]] std::shared_ptr<const access::decisions> by_rules() const { return of->with->gate->decisions_of(by.who); }
  static void unmodified(pending& of, const catalog::read_answer& answer) {
    of.refuse(of.codec.encode_unmodified(of.uri, answer.reading.version));
  }
  void acknowledge() const { of->succeed(rpc::body(of->codec.encode_empty(of->with->self))); }
};

}  // namespace

void perform(std::shared_ptr<pending> of, const call& by, const rpc::facts& facts, model::operation what,
             const surroundings& around) {
  std::visit(performer{std::move(of), by, facts, around}, what);
}

}  // namespace hondana::session
