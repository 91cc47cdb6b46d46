/// Messages in, operations to the gate and the catalog, answers out.
#include "session/session.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <variant>

#include "gate/request_names.hpp"
#include "json/reader.hpp"
#include "rpc/envelope.hpp"
#include "session/announcements.hpp"
#include "session/at_hand.hpp"
#include "session/auditing.hpp"
#include "session/exchange.hpp"
#include "session/incoming.hpp"
#include "session/performer.hpp"
#include "session/progress_line.hpp"
#include "session/streams.hpp"
#include "value/take.hpp"
#include "wire/refusals.hpp"

namespace hondana::session {
namespace {

constexpr std::size_t max_batch = 100;
constexpr std::size_t longest_note = 1000;  // bytes of one line in the log; peers choose what is in it

std::string uri_of(const model::operation& what) {
  if (const auto* read = std::get_if<model::read_resource>(&what)) return read->asked_uri;
  if (const auto* get = std::get_if<model::get_resource>(&what)) return get->asked_uri;
  if (const auto* subscription = std::get_if<model::subscribe>(&what)) return subscription->asked_uri;
  if (const auto* folder = std::get_if<model::read_directory>(&what)) return folder->asked_uri;
  if (const auto* skill = std::get_if<model::get_skill>(&what)) return skill->asked_uri;
  return {};
}

/// Until it is answered with an error.
std::chrono::milliseconds time_for(const model::operation& what, const context& with) {
  auto out = with.call_deadline;
  if (!with.deadlines.empty()) {
    const auto methods = gate::subject_of(what).methods;
    const auto own = methods.empty() ? with.deadlines.end() : with.deadlines.find(methods.front());
    if (own != with.deadlines.end()) out = own->second;
  }
  return std::min(out, with.longest_call);
}

}  // namespace

session::session(std::shared_ptr<const context_source> contexts)
    : contexts_(std::move(contexts)), requests_(std::make_shared<rpc::in_flight>()), streams_(std::make_shared<streams>()) {}

session::~session() {
  if (standing_) standing_->close();
}

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
    whole.answer(refusal({}, wire::internal_error(), manners));
  }
}

void session::receive_whole(std::string_view message, const incoming& whole) {
  const auto document = json::document::parse(message);
  if (!document) {
    const auto& manners = wire::choose_for_unreadable(whole.facts, conversation_);
    return turn_down(whole, {}, wire::not_json(document.error().what), manners);
  }
  if (document->root().type() == json::kind::array) {
    if (const auto messages = document->root().as_array("")) return receive_batch(*messages, whole);
  }
  receive_one(document->root(), whole);
}

void session::refuse_oversized(std::size_t limit, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out) {
  const auto& manners = wire::choose_for_unreadable(facts, conversation_);
  const auto why = "a message may have at most " + std::to_string(limit) + " bytes. Send it in smaller parts.";
  record_refusal(contexts_->current()->audit.get(), facts.who, {}, "oversized");
  out->answer(refusal({}, wire::invalid_request(why, 413), manners));
}

void session::receive_batch(const json::array& messages, const incoming& whole) {
  const auto& manners = wire::choose_for_unreadable(whole.facts, conversation_);
  if (whole.facts.http) {
    if (const auto refused = wire::refuse_version(*whole.facts.http)) return turn_down(whole, {}, *refused, manners);
  }
  const auto refuse = [&](const std::string& why) { turn_down(whole, {}, wire::invalid_request(why), manners); };
  if (!manners.has_batches()) {
    return refuse("revision " + std::string(manners.revision()) + " has no batches; send one message at a time");
  }
  const auto elements = messages.elements();
  if (elements.empty()) return refuse("an empty batch");
  if (elements.size() > max_batch) return refuse("a batch may have at most " + std::to_string(max_batch) + " messages");
  // Without a session none of them can be taken, and each is told why.
  const bool is_refused = whole.facts.http && conversation_.settled == nullptr;
  const auto answers = std::make_shared<exchange>(whole.answers->out(), elements.size(), true, is_refused ? 400 : 200,
                                                  contexts_->current()->batch_bytes);
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
    } else if (const auto refused = wire::refuse_header(from.facts, conversation_)) {
      turn_down(from, {}, *refused, wire::choose_for_unreadable(from.facts, conversation_));
    } else {
      take(std::get<rpc::response>(message));
      from.answer(nothing_to_say());
    }
  } catch (const std::exception& error) {
    note(std::string("a message could not be handled: ") + error.what());
    const auto& manners = wire::choose_for_unreadable(from.facts, conversation_);
    from.answer(refusal(id, wire::internal_error(), manners));
  }
}

void session::take(const rpc::response& response) {
  peer_answer what;
  if (response.result) {
    auto taken = take_value(*response.result);
    if (taken) {
      what.result = std::move(*taken);
    } else {
      what.error = "the answer cannot be read: " + taken.error().public_text;
    }
  } else {
    what.error = response.error;
  }
  if (!asked_ || !response.id || !asked_->answer(*response.id, std::move(what)))
    note("ignored a response to nothing that was asked");
}

void session::refuse(const rpc::malformed& what, const incoming& from) {
  const auto& manners = wire::choose_for_unreadable(from.facts, conversation_);
  if (!what.is_notification) return turn_down(from, what.id, wire::of_malformed(what), manners);
  auto refused = refusal(what.id, wire::of_malformed(what), manners);
  note("ignored a notification: " + what.text);
  // Over HTTP the status says so, and may have a body; elsewhere a notification has no answer.
  if (!from.facts.http || from.in_batch) refused.content.reset();
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
  } else if (std::holds_alternative<model::initialized>(*what) && conversation_.settled != nullptr) {
    const auto with = contexts_->current();
    const auto notes = own_notes();
    notes->want_lists(with->self.announces_resources, with->self.announces_tools, with->self.announces_prompts);
    if (with->self.has_logging) notes->want_messages(level_);
    notes->begin(*conversation_.settled);
    notes->stay_at(from.answers->out()->place());
    with->feed->join(notes, with->self.announces_resources);
    let_see(*notes, announcements::side::asks, from.facts.who);
  }
  from.answer(nothing_to_say());
}

void session::accept(const rpc::request& request, const incoming& from) {
  const auto codec = wire::choose(request, from.facts, conversation_);
  if (!codec) {
    const auto& manners = wire::choose_for_unreadable(from.facts, conversation_);
    return turn_down(from, request.id, codec.error(), manners, request.method);
  }
  auto what = (*codec)->decode(request, from.facts);
  if (!what) return turn_down(from, request.id, what.error(), **codec, request.method);
  const auto& manners = what->is_versioned ? (*codec)->versioned() : **codec;
  // Whoever asks in the dialect once knows it; in the stateless era each request stands for itself.
  if (what->is_versioned && conversation_.settled == *codec) wire::settle(conversation_, manners);
  if (const auto undeclared = manners.refuse_undeclared(what->operation, contexts_->current()->self)) {
    return turn_down(from, request.id, *undeclared, manners, request.method);
  }
  if (std::holds_alternative<model::initialize>(what->operation)) {
    if (from.in_batch) {
      return turn_down(from, request.id, wire::invalid_request("initialize must not be part of a batch"), manners,
                       request.method);
    }
  }
  dispatch(std::move(*what), request, manners, from);
}

void session::turn_down(const incoming& from, const std::optional<rpc::request_id>& id, const wire::protocol_error& why,
                        const wire::codec& manners, std::string_view method) const {
  record_refusal(contexts_->current()->audit.get(), from.facts.who, method, "malformed");
  from.answer(refusal(id, why, manners));
}

void session::dispatch(model::request what, const rpc::request& request, const wire::codec& codec, const incoming& from) {
  const auto with = contexts_->current();
  const auto& id = request.id;
  const auto answers = from.answers;
  const auto slot = from.slot;
  const auto end = with->ended || with->audit ? std::make_shared<ending>() : nullptr;
  if (with->ended) end->listen([with, who = from.facts.who](const completion& how) { with->ended(who, how); });
  auto who = from.facts.who;
  who.view = with->gate->view_of(from.facts.who);
  result<void> admitted;
  // Where addresses count, the message has been counted before it was known who asks: that is its first.
  if (with->meter)
    admitted = with->meter->admit(from.facts.who, std::holds_alternative<model::complete>(what.operation), slot == 0);
  if (!admitted) with->note_refusal(429, from.facts.who.address, from.facts.who.identity, admitted.error().public_text);
  if (admitted) admitted = with->gate->admit(from.facts.who, what.operation);
  if (with->audit) {
    // Before anything is done for it, and before somebody can take it back.
    auto decided = with->audit->decide(decision_about(*with, who, request.method, what, admitted));
    if (decided) {
      end->listen([by = with->audit, number = *decided, trace = std::move(what.trace)](const completion& how) {
        by->complete(number, completion_of(how, trace));
      });
    } else if (admitted) {
      admitted = tl::unexpected(std::move(decided.error()));
    }
  }
  // An id that is in use, and too many requests, are refused below.
  if (admitted && requests_->has_room_for(id, with->requests_under_way)) {
    if (auto said = answer_at_hand(*with, who, what.operation, id, codec)) {
      if (conversation_.settled != nullptr) is_asked_by(from.facts.who);
      if (!answers->admit(*said)) *said = refusal(id, wire::too_much_for_a_batch(exchange::most_bytes), codec);
      if (end) end->follow(*said);
      return from.answer(std::move(*said));
    }
  }
  std::optional<page_key> page;
  if (admitted && !with->pages->is_off()) page = page_asked_for(what.operation, codec, who);
  if (page && answer_with_page(*page, *with, id, codec, end, from)) return;
  std::shared_ptr<progress_line> progress;
  if (what.progress_token) progress = std::make_shared<progress_line>(*what.progress_token, answers->out());
  // A legacy peer says once what it wants and can; a modern one with each request.
  const bool is_legacy = codec.asks_by_requests();
  const auto level = is_legacy ? std::optional(level_) : what.log_level;
  const auto log = level ? std::make_shared<log_line>(*level, answers->out()) : nullptr;
  // One pointer, since a stream of changes keeps this for as long as it is open.
  const auto lines =
      progress || log ? std::make_shared<const std::pair<decltype(progress), decltype(log)>>(progress, log) : nullptr;
  auto reply = requests_->open(
      id, with->requests_under_way,
      // The table owns this, and calls it: it outlives the call.
      [answers, slot, lines, id, &codec, end, open = std::weak_ptr(streams_),
       table = requests_.get()](std::optional<rpc::delivery> answer) {
        if (lines && lines->first) lines->first->close();
        if (lines && lines->second) lines->second->close();
        if (const auto there = open.lock()) there->close(id);
        const bool is_answered = answer.has_value();
        auto said = answer ? std::move(*answer) : nothing_to_say();
        if (!answers->admit(said)) said = refusal(id, wire::too_much_for_a_batch(exchange::most_bytes), codec);
        if (end && is_answered) end->follow(said);
        if (end && !is_answered) end->give_up(table->has_left() ? audit_outcome::gone : audit_outcome::cancelled);
        answers->fill(slot, std::move(said));
      },
      refusal(id, wire::internal_error(), codec));
  if (!reply) {
    const bool is_full = reply.error() == rpc::in_flight::refusal::full;
    auto refused = refusal(id,
                           is_full ? wire::too_many_under_way(with->requests_under_way)
                                   : wire::invalid_request("id: in use by a request that is still under way"),
                           codec);
    if (end) end->follow(refused);
    return from.answer(std::move(refused));
  }

  const auto began = std::chrono::steady_clock::now();
  const auto time = time_for(what.operation, *with);
  call by{std::move(who), began + time, reply->stop(), {}};
  if (conversation_.settled != nullptr) is_asked_by(from.facts.who);
  if (progress) by.report = [progress](const hondana::progress& now) { progress->report(now); };
  by.mounts = std::move(what.mounts);
  auto of = std::make_shared<pending>(pending{std::move(*reply), id, codec, with, uri_of(what.operation), std::move(page)});
  if (!admitted) return of->fail(admitted.error());
  if (const auto* opening = std::get_if<model::initialize>(&what.operation)) {
    wire::settle(conversation_, codec);
    client_ = opening->client;
  }
  if (const auto* least = std::get_if<model::set_log_level>(&what.operation)) {
    level_ = least->least;
    own_notes()->want_messages(level_);
  }
  if (const auto* wish = std::get_if<model::subscribe>(&what.operation)) {
    const auto subscribed = subscribe(*wish, from.facts.who, *with);
    let_see(*own_notes(), announcements::side::asks, from.facts.who);  // as after every beginning to listen
    return subscribed ? of->succeed(rpc::body(codec.encode_empty(with->self))) : of->fail(subscribed.error());
  }
  if (const auto* wish = std::get_if<model::subscribe_entries>(&what.operation)) {
    const auto subscribed = subscribe(*wish, from.facts.who, *with);
    let_see(*own_notes(), announcements::side::asks, from.facts.who);
    return subscribed ? of->succeed(rpc::body(codec.encode_empty(with->self))) : of->fail(subscribed.error());
  }
  if (const auto* wish = std::get_if<model::unsubscribe>(&what.operation)) {
    unsubscribe(wish->uri, *with);
    return of->succeed(rpc::body(codec.encode_empty(with->self)));
  }
  if (const auto* wish = std::get_if<model::unsubscribe_entries>(&what.operation)) {
    for (const auto& uri : wish->uris) unsubscribe(uri, *with);
    return of->succeed(rpc::body(codec.encode_empty(with->self)));
  }
  if (const auto* wish = std::get_if<model::listen>(&what.operation)) return listen(*wish, of, from);
  if (is_legacy && !asked_) asked_ = std::make_shared<asked>();
  const surroundings around{is_legacy ? client_ : what.client, log, answers->out(), asked_, time, began + with->longest_call};
  perform(std::move(of), by, from.facts, std::move(what.operation), around);
}

void session::finish() { streams_->finish(); }

void session::close() {
  std::shared_ptr<announcements> notes;
  {
    const std::lock_guard lock(making_);
    notes = standing_;
  }
  if (notes) notes->close();
  requests_->cancel_all();
}

std::size_t session::under_way() const { return requests_->size(); }

void session::note(const std::string& line) const {
  const auto with = contexts_->current();
  if (with->log) with->log(std::string_view(line).substr(0, longest_note));
}

}  // namespace hondana::session
