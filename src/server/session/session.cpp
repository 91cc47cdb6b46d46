/// A session: one client's revision, requests in progress and answers. It does no I/O.
#include "server/session/session.hpp"

#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>
#include <variant>

#include "base/bytes/random_token.hpp"
#include "base/json/reader.hpp"
#include "base/value/value.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/wire/codec.hpp"
#include "server/session/change_stream.hpp"
#include "server/session/exchange.hpp"
#include "server/session/request_accounting.hpp"
#include "server/session/request_execution.hpp"

namespace hondana::session {
namespace {

constexpr std::size_t most_waiting = 256;

}  // namespace

std::string random_name() {
  const auto raw = bytes::random_bytes(16);
  if (!raw) throw std::runtime_error(raw.error().public_text);
  return bytes::to_hex(*raw);
}

asked::asked() : prefix_(random_name()) {}

std::optional<std::string> asked::open(taker take) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= most_waiting) return {};
  auto id = prefix_ + '-' + std::to_string(next_++);
  waiting_.emplace(id, std::move(take));
  return id;
}

bool asked::answer(const rpc::request_id& id, peer_answer what) {
  const auto* text = std::get_if<std::string>(&id);
  taker take;
  {
    const std::lock_guard lock(mutex_);
    const auto place = text != nullptr ? waiting_.find(*text) : waiting_.end();
    if (place == waiting_.end()) return false;
    take = std::move(place->second);
    waiting_.erase(place);
  }
  take(std::move(what));
  return true;
}

void asked::drop(const std::string& id) {
  taker dropped;  // destroyed without the lock: it may own the last reference to an object that calls `drop`
  const std::lock_guard lock(mutex_);
  const auto place = waiting_.find(id);
  if (place == waiting_.end()) return;
  dropped = std::move(place->second);
  waiting_.erase(place);
}

std::size_t asked::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

namespace {

constexpr std::size_t max_batch = 100;
constexpr std::size_t longest_note = 1000;  // bytes of a log line, whose text clients may choose

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
  receive(message, facts, out, begin(*contexts_, message, facts, conversation_, requests_.get()));
}

void session::receive(std::string_view message, const rpc::facts& facts, const std::shared_ptr<rpc::outlet>& out,
                      beginning begun) {
  if (go_on(std::move(begun), facts, out)) return;
  const incoming whole{facts, std::make_shared<exchange>(out, 1, false), 0, false, message};
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
  request_figures::here().refused(limit::bytes);
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
  // Without a session none of the messages can be accepted; each gets an error with the reason.
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
    note("ignored a response without a matching request");
}

void session::refuse(const rpc::malformed& what, const incoming& from) {
  const auto& manners = wire::choose_for_unreadable(from.facts, conversation_);
  if (!what.is_notification) return turn_down(from, what.id, wire::of_malformed(what), manners);
  auto refused = refusal(what.id, wire::of_malformed(what), manners);
  note("ignored a notification: " + what.text);
  // Over HTTP the status reports the error and the answer may have a body. Elsewhere a notification has no answer.
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
    if (requests_->cancel(cancel->id) && !cancel->reason.empty()) note("cancelled by the client: " + cancel->reason);
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
  accept(std::move(*what), request, **codec, from);
}

void session::turn_down(const incoming& from, const std::optional<rpc::request_id>& id, const wire::protocol_error& why,
                        const wire::codec& manners, std::string_view method) const {
  record_refusal(contexts_->current()->audit.get(), from.facts.who, method, "malformed");
  request_figures::here().answered(request_figures::no_method, manners, why.code);
  from.answer(refusal(id, why, manners));
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

void session::note(const context_source& contexts, const std::string& line) {
  const auto with = contexts.current();
  if (with->log) with->log(std::string_view(line).substr(0, longest_note));
}

}  // namespace hondana::session
