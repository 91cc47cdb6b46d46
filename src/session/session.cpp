/// Messages in, operations to the gate and the catalog, answers out.
#include "session/session.hpp"

#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "json/reader.hpp"
#include "rpc/envelope.hpp"
#include "session/exchange.hpp"
#include "session/progress_line.hpp"

namespace hondana::session {
namespace {

constexpr std::size_t max_batch = 100;
constexpr std::size_t longest_note = 1000;  // bytes of one line in the log; peers choose what is in it
constexpr int parse_error = -32700;
constexpr int invalid_request = -32600;
constexpr int internal_error = -32603;

rpc::delivery refusal(const std::optional<rpc::request_id>& id, const wire::protocol_error& why, const wire::codec& manners) {
  return {why.http_status, rpc::body(wire::wrap_error(id, why, manners))};
}

wire::protocol_error bad_message(int code, std::string text) { return {code, std::move(text), {}, 400}; }

/// One request on its way through gate and catalog: everything its answer needs, shared with the completions.
struct pending {
  rpc::reply reply;
  rpc::request_id id;
  const wire::codec& codec;
  std::shared_ptr<const context> with;
  std::string uri;  // what errors are about

  void succeed(rpc::body result) { reply.send({200, wire::wrap_result(id, std::move(result))}); }
  void fail(const failure& why) {
    if (!why.private_text.empty() && with->log) with->log(std::string(name_of(why.code)) + about() + ": " + why.private_text);
    reply.send(refusal(id, codec.encode_failure(why, uri), codec));
  }
  /// The URI for the log, which a peer must not fill with a long one.
  std::string about() const {
    constexpr std::size_t shown = 300;
    return uri.empty() ? uri : ' ' + (uri.size() <= shown ? uri : uri.substr(0, shown) + "...");
  }
  /// Encodes an answer with `encode` and sends it. What is thrown on the way, such as no memory for it, is an internal error.
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
};

std::string uri_of(const model::operation& what) {
  if (const auto* read = std::get_if<model::read_resource>(&what)) return read->asked_uri;
  return {};
}

/// Hands an operation to the catalog; operations about the conversation itself have been answered before.
struct performer {
  std::shared_ptr<pending> of;
  const call& by;

  void operator()(const model::list_resources& what) const {
    of->with->catalog->list(by, what.cursor, [of = of](auto page) { of->finish(std::move(page)); });
  }
  void operator()(const model::list_templates& what) const {
    of->with->catalog->templates(by, what.cursor, [of = of](auto page) { of->finish(std::move(page)); });
  }
  void operator()(const model::read_resource& what) const {
    of->with->catalog->read(by, what.uri, what.asked_uri, [of = of](result<catalog::read_answer> answer) {
      of->finish(std::move(answer), [&of](catalog::read_answer one) {
        return of->codec.encode(std::move(one.reading), one.home, one.cache, of->with->self);
      });
    });
  }
  void operator()(const model::complete& what) const {
    of->with->catalog->complete(by, what, [of = of](auto values) { of->finish(std::move(values)); });
  }
  void operator()(const model::initialize&) const { greet(); }
  void operator()(const model::discover&) const { greet(); }
  void operator()(const model::ping&) const { of->succeed(rpc::body(of->codec.encode_empty(of->with->self))); }
  template <class Other>
  void operator()(const Other&) const {
    of->fail({errc::internal, "Internal error", "an operation without an answer came as a request"});
  }

 private:
  void greet() const { of->succeed(rpc::body(of->codec.encode_greeting(of->with->self))); }
};

}  // namespace

struct session::incoming {
  const rpc::facts& facts;
  std::shared_ptr<exchange> answers;
  std::size_t slot;
  bool in_batch;

  void answer(rpc::delivery what) const { answers->fill(slot, std::move(what)); }
};

session::session(std::shared_ptr<const context_source> contexts)
    : contexts_(std::move(contexts)), requests_(std::make_shared<rpc::in_flight>()) {}

std::shared_ptr<session> session::open(std::shared_ptr<const context_source> contexts) {
  return std::shared_ptr<session>(new session(std::move(contexts)));
}

void session::receive(std::string_view message, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out) {
  const incoming whole{facts, std::make_shared<exchange>(out, 1, false), 0, false};
  try {
    receive_whole(message, whole);
  } catch (const std::exception& error) {
    note(std::string("a message could not be handled: ") + error.what());
    const auto& manners = wire::choose_for_unreadable(facts, conversation_);
    whole.answer(refusal({}, {internal_error, "Internal error", {}, 500}, manners));
  }
}

void session::receive_whole(std::string_view message, const incoming& whole) {
  const auto document = json::document::parse(message);
  if (!document) {
    const auto& manners = wire::choose_for_unreadable(whole.facts, conversation_);
    return whole.answer(refusal({}, bad_message(parse_error, "Parse error: " + document.error().what), manners));
  }
  if (document->root().type() == json::kind::array) {
    if (const auto messages = document->root().as_array("")) return receive_batch(*messages, whole);
  }
  receive_one(document->root(), whole);
}

void session::refuse_oversized(std::size_t limit, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out) {
  const auto& manners = wire::choose_for_unreadable(facts, conversation_);
  auto why = bad_message(invalid_request, "Invalid request: a message may have at most " + std::to_string(limit) +
                                              " bytes. Send it in smaller parts.");
  why.http_status = 413;
  out->answer(refusal({}, why, manners));
}

void session::receive_batch(const json::array& messages, const incoming& whole) {
  const auto& manners = wire::choose_for_unreadable(whole.facts, conversation_);
  if (const auto refused = wire::refuse_header(whole.facts)) return whole.answer(refusal({}, *refused, manners));
  const auto refuse = [&](std::string why) {
    whole.answer(refusal({}, bad_message(invalid_request, "Invalid request: " + std::move(why)), manners));
  };
  if (!manners.has_batches()) {
    return refuse("revision " + std::string(manners.revision()) + " has no batches; send one message at a time");
  }
  const auto elements = messages.elements();
  if (elements.empty()) return refuse("an empty batch");
  if (elements.size() > max_batch) return refuse("a batch may have at most " + std::to_string(max_batch) + " messages");
  const auto answers = std::make_shared<exchange>(whole.answers->out(), elements.size(), true);
  for (std::size_t slot = 0; slot < elements.size(); ++slot) receive_one(elements[slot], {whole.facts, answers, slot, true});
}

void session::receive_one(json::value value, const incoming& from) {
  std::optional<rpc::request_id> id;
  try {
    const auto message = rpc::read_message(value);
    if (const auto* request = std::get_if<rpc::request>(&message)) {
      id = request->id;
      accept(*request, from);
    } else if (const auto* notification = std::get_if<rpc::notification>(&message)) {
      accept(*notification, from);
    } else if (const auto* broken = std::get_if<rpc::malformed>(&message)) {
      refuse(*broken, from);
    } else if (const auto refused = wire::refuse_header(from.facts)) {
      from.answer(refusal({}, *refused, wire::choose_for_unreadable(from.facts, conversation_)));
    } else {
      from.answer(nothing_to_say());  // we ask nothing, so no response can be for us
    }
  } catch (const std::exception& error) {
    note(std::string("a message could not be handled: ") + error.what());
    const auto& manners = wire::choose_for_unreadable(from.facts, conversation_);
    from.answer(refusal(id, {internal_error, "Internal error", {}, 500}, manners));
  }
}

void session::refuse(const rpc::malformed& what, const incoming& from) {
  const auto& manners = wire::choose_for_unreadable(from.facts, conversation_);
  auto refused = refusal(what.id, bad_message(what.code, what.text), manners);
  if (what.is_notification) {
    note("ignored a notification: " + what.text);
    // Over HTTP the status says so, and may have a body; elsewhere a notification has no answer.
    if (!from.facts.http || from.in_batch) refused.content.reset();
  }
  from.answer(std::move(refused));
}

void session::accept(const rpc::notification& notification, const incoming& from) {
  const auto codec = wire::choose(notification, from.facts, conversation_);
  if (!codec) {
    return from.answer(refusal({}, codec.error(), wire::choose_for_unreadable(from.facts, conversation_)));
  }
  auto what = (*codec)->decode(notification);
  if (!what) {
    note("ignored a notification: " + what.error().message);
  } else if (const auto* cancel = std::get_if<model::cancel>(&*what)) {
    if (requests_->cancel(cancel->id) && !cancel->reason.empty()) note("cancelled by the peer: " + cancel->reason);
  }
  from.answer(nothing_to_say());
}

void session::accept(const rpc::request& request, const incoming& from) {
  const auto codec = wire::choose(request, from.facts, conversation_);
  if (!codec) {
    const auto& manners = wire::choose_for_unreadable(from.facts, conversation_);
    return from.answer(refusal(request.id, codec.error(), manners));
  }
  auto what = (*codec)->decode(request, from.facts);
  if (!what) return from.answer(refusal(request.id, what.error(), **codec));
  if (const auto undeclared = (*codec)->refuse_undeclared(what->operation, contexts_->current()->self)) {
    return from.answer(refusal(request.id, *undeclared, **codec));
  }
  if (std::holds_alternative<model::initialize>(what->operation)) {
    if (from.in_batch) {
      return from.answer(refusal(
          request.id, bad_message(invalid_request, "Invalid request: initialize must not be part of a batch"), **codec));
    }
  }
  dispatch(std::move(*what), request.id, **codec, from);
}

void session::dispatch(model::request what, const rpc::request_id& id, const wire::codec& codec, const incoming& from) {
  const auto with = contexts_->current();
  const auto answers = from.answers;
  const auto slot = from.slot;
  std::shared_ptr<progress_line> progress;
  if (what.progress_token) progress = std::make_shared<progress_line>(*what.progress_token, answers->out());
  auto reply = requests_->open(
      id, with->requests_under_way,
      [answers, slot, progress](std::optional<rpc::delivery> answer) {
        if (progress) progress->close();
        answers->fill(slot, answer ? std::move(*answer) : nothing_to_say());
      },
      refusal(id, {internal_error, "Internal error", {}, 500}, codec));
  if (!reply) {
    const bool is_full = requests_->size() >= with->requests_under_way;
    return from.answer(refusal(
        id,
        is_full ? bad_message(503, "Overloaded: " + std::to_string(with->requests_under_way) +
                                       " requests of this peer are under way already. Wait for answers before asking more.")
                : bad_message(invalid_request, "Invalid request: id: in use by a request that is still under way"),
        codec));
  }

  call by{from.facts.who, std::chrono::steady_clock::now() + with->call_deadline, reply->stop(), {}};
  if (progress) by.report = [progress](const hondana::progress& now) { progress->report(now); };
  auto of = std::make_shared<pending>(pending{std::move(*reply), id, codec, with, uri_of(what.operation)});
  if (const auto admitted = with->gate->admit(by.who, what.operation); !admitted) return of->fail(admitted.error());
  if (std::holds_alternative<model::initialize>(what.operation)) wire::settle(conversation_, codec);
  std::visit(performer{of, by}, what.operation);
}

void session::close() { requests_->cancel_all(); }

std::size_t session::under_way() const { return requests_->size(); }

void session::note(const std::string& line) const {
  const auto with = contexts_->current();
  if (with->log) with->log(std::string_view(line).substr(0, longest_note));
}

}  // namespace hondana::session
