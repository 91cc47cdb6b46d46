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
#include "server/session/request_accounting.hpp"
#include "server/session/request_execution.hpp"
#include "server/session/response_collector.hpp"

namespace hondana::session {
namespace {

constexpr std::size_t max_outgoing = 256;

}  // namespace

std::string random_name() {
  const auto raw = bytes::random_bytes(16);
  if (!raw) throw std::runtime_error(raw.error().public_text);
  return bytes::to_hex(*raw);
}

outgoing_requests::outgoing_requests() : prefix_(random_name()) {}

std::optional<std::string> outgoing_requests::open(response_callback callback) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= max_outgoing) return {};
  auto id = prefix_ + '-' + std::to_string(next_++);
  waiting_.emplace(id, std::move(callback));
  return id;
}

bool outgoing_requests::answer(const rpc::request_id& id, client_response response) {
  const auto* text = std::get_if<std::string>(&id);
  response_callback callback;
  {
    const std::lock_guard lock(mutex_);
    const auto position = text != nullptr ? waiting_.find(*text) : waiting_.end();
    if (position == waiting_.end()) return false;
    callback = std::move(position->second);
    waiting_.erase(position);
  }
  callback(std::move(response));
  return true;
}

void outgoing_requests::drop(const std::string& id) {
  response_callback dropped;  // destroyed without the lock: it may own the last reference to an object that calls `drop`
  const std::lock_guard lock(mutex_);
  const auto position = waiting_.find(id);
  if (position == waiting_.end()) return;
  dropped = std::move(position->second);
  waiting_.erase(position);
}

std::size_t outgoing_requests::size() const {
  const std::lock_guard lock(mutex_);
  return waiting_.size();
}

namespace {

constexpr std::size_t max_batch = 100;
constexpr std::size_t max_log_bytes = 1000;  // bytes of a log line, whose text clients may choose

}  // namespace

session::session(std::shared_ptr<const snapshot_source> snapshots)
    : snapshots_(std::move(snapshots)),
      requests_(std::make_shared<rpc::pending_requests>()),
      streams_(std::make_shared<stream_registry>()) {}

session::~session() {
  if (session_stream_) session_stream_->close();
}

std::shared_ptr<session> session::open(std::shared_ptr<const snapshot_source> snapshots) {
  return std::shared_ptr<session>(new session(std::move(snapshots)));
}

void session::receive(std::string_view message, const rpc::request_info& request_info,
                      const std::shared_ptr<rpc::response_writer>& writer) {
  receive(message, request_info, writer, look_up(*snapshots_, message, request_info, negotiation_, requests_.get()));
}

void session::receive(std::string_view message, const rpc::request_info& request_info,
                      const std::shared_ptr<rpc::response_writer>& writer, lookup_result lookup) {
  if (resume(std::move(lookup), request_info, writer)) return;
  const incoming_message incoming{request_info, std::make_shared<response_collector>(writer, 1, false), 0, false, message};
  try {
    receive_text(message, incoming);
  } catch (const std::exception& error) {
    log(std::string("a message could not be handled: ") + error.what());
    const auto& codec = wire::choose_for_unreadable(request_info, negotiation_);
    incoming.answer(error_response({}, wire::internal_error(), codec));
  }
}

void session::receive_text(std::string_view message, const incoming_message& incoming) {
  const auto document = json::document::parse(message);
  if (!document) {
    const auto& codec = wire::choose_for_unreadable(incoming.request_info, negotiation_);
    return reject_message(incoming, {}, wire::parse_error(document.error().message), codec);
  }
  if (document->root().type() == json::kind::array) {
    if (const auto messages = document->root().as_array("")) return receive_batch(*messages, incoming);
  }
  receive_value(document->root(), incoming);
}

void session::reject_oversized(std::size_t limit, const rpc::request_info& request_info,
                               const std::shared_ptr<rpc::response_writer>& writer) {
  const auto& codec = wire::choose_for_unreadable(request_info, negotiation_);
  const auto reason = "a message may have at most " + std::to_string(limit) + " bytes. Send it in smaller parts.";
  record_rejection(snapshots_->current()->audit.get(), request_info.caller, {}, "oversized");
  request_metrics::global().count_rejection(limit::size);
  writer->answer(error_response({}, wire::invalid_request(reason, 413), codec));
}

void session::receive_batch(const json::array& messages, const incoming_message& incoming) {
  const auto& codec = wire::choose_for_unreadable(incoming.request_info, negotiation_);
  if (incoming.request_info.http) {
    if (const auto error = wire::reject_version(*incoming.request_info.http))
      return reject_message(incoming, {}, *error, codec);
  }
  const auto reject_batch = [&](const std::string& reason) {
    reject_message(incoming, {}, wire::invalid_request(reason), codec);
  };
  if (!codec.has_batches()) {
    return reject_batch("revision " + std::string(codec.revision()) + " has no batches; send one message at a time");
  }
  const auto elements = messages.elements();
  if (elements.empty()) return reject_batch("an empty batch");
  if (elements.size() > max_batch) return reject_batch("a batch may have at most " + std::to_string(max_batch) + " messages");
  // Without a session none of the messages can be accepted; each gets an error with the reason.
  const bool is_rejected = incoming.request_info.http && negotiation_.revision == nullptr;
  const auto answers = std::make_shared<response_collector>(incoming.answers->writer(), elements.size(), true,
                                                            is_rejected ? 400 : 200, snapshots_->current()->batch_bytes);
  for (std::size_t slot = 0; slot < elements.size(); ++slot)
    receive_value(elements[slot], {incoming.request_info, answers, slot, true});
}

void session::receive_value(json::value value, const incoming_message& incoming) {
  std::optional<rpc::request_id> id;
  try {
    const auto message = rpc::read_message(value);
    if (const auto* request = std::get_if<rpc::request>(&message)) {
      id = request->id;
      accept(*request, incoming);
    } else if (const auto* notification = std::get_if<rpc::notification>(&message)) {
      accept(*notification, incoming);
    } else if (const auto* malformed = std::get_if<rpc::malformed>(&message)) {
      reject(*malformed, incoming);
    } else if (const auto error = wire::reject_header(incoming.request_info, negotiation_)) {
      reject_message(incoming, {}, *error, wire::choose_for_unreadable(incoming.request_info, negotiation_));
    } else {
      on_response(std::get<rpc::response>(message));
      incoming.answer(empty_response());
    }
  } catch (const std::exception& error) {
    log(std::string("a message could not be handled: ") + error.what());
    const auto& codec = wire::choose_for_unreadable(incoming.request_info, negotiation_);
    incoming.answer(error_response(id, wire::internal_error(), codec));
  }
}

void session::on_response(const rpc::response& response) {
  client_response answer;
  if (response.result) {
    auto parsed = copy_value(*response.result);
    if (parsed) {
      answer.result = std::move(*parsed);
    } else {
      answer.error = "the answer cannot be read: " + parsed.error().public_text;
    }
  } else {
    answer.error = response.error;
  }
  if (!outgoing_ || !response.id || !outgoing_->answer(*response.id, std::move(answer)))
    log("ignored a response without a matching request");
}

void session::reject(const rpc::malformed& message, const incoming_message& incoming) {
  const auto& codec = wire::choose_for_unreadable(incoming.request_info, negotiation_);
  if (!message.is_notification) return reject_message(incoming, message.id, wire::malformed_error(message), codec);
  auto rejection = error_response(message.id, wire::malformed_error(message), codec);
  log("ignored a notification: " + message.text);
  // Over HTTP the status reports the error and the answer may have a body. Elsewhere a notification has no answer.
  if (!incoming.request_info.http || incoming.in_batch) rejection.content.reset();
  incoming.answer(std::move(rejection));
}

void session::accept(const rpc::notification& notification, const incoming_message& incoming) {
  const auto codec = wire::choose_codec(notification, incoming.request_info, negotiation_);
  if (!codec) {
    return incoming.answer(error_response({}, codec.error(), wire::choose_for_unreadable(incoming.request_info, negotiation_)));
  }
  auto operation = (*codec)->decode(notification);
  if (!operation) {
    log("ignored a notification: " + operation.error().message);
  } else if (const auto* cancel = std::get_if<model::cancel>(&*operation)) {
    if (requests_->cancel(cancel->id) && !cancel->reason.empty()) log("cancelled by the client: " + cancel->reason);
  } else if (std::holds_alternative<model::initialized>(*operation) && negotiation_.revision != nullptr) {
    const auto snapshot = snapshots_->current();
    const auto stream = session_stream();
    stream->set_lists(snapshot->server_info.announces_resources, snapshot->server_info.announces_tools,
                      snapshot->server_info.announces_prompts);
    if (snapshot->server_info.has_logging) stream->set_log_level(level_);
    stream->start(*negotiation_.revision);
    stream->set_executor(incoming.answers->writer()->preferred_executor());
    snapshot->feed->add_listener(stream, snapshot->server_info.announces_resources);
    update_stream_access(*stream, change_stream::party::subscriber, incoming.request_info.caller);
  }
  incoming.answer(empty_response());
}

void session::accept(const rpc::request& request, const incoming_message& incoming) {
  const auto codec = wire::choose_codec(request, incoming.request_info, negotiation_);
  if (!codec) {
    const auto& error_codec = wire::choose_for_unreadable(incoming.request_info, negotiation_);
    return reject_message(incoming, request.id, codec.error(), error_codec, request.method);
  }
  auto decoded = (*codec)->decode(request, incoming.request_info);
  if (!decoded) return reject_message(incoming, request.id, decoded.error(), **codec, request.method);
  accept(std::move(*decoded), request, **codec, incoming);
}

void session::reject_message(const incoming_message& incoming, const std::optional<rpc::request_id>& id,
                             const wire::protocol_error& error, const wire::codec& codec, std::string_view method) const {
  record_rejection(snapshots_->current()->audit.get(), incoming.request_info.caller, method, "malformed");
  request_metrics::global().count_answer(request_metrics::no_method, codec, error.code);
  incoming.answer(error_response(id, error, codec));
}

void session::finish() { streams_->finish(); }

void session::close() {
  std::shared_ptr<change_stream> stream;
  {
    const std::lock_guard lock(stream_mutex_);
    stream = session_stream_;
  }
  if (stream) stream->close();
  requests_->cancel_all();
}

std::size_t session::in_progress() const { return requests_->size(); }

void session::log(const snapshot_source& snapshots, const std::string& line) {
  const auto snapshot = snapshots.current();
  if (snapshot->log) snapshot->log(std::string_view(line).substr(0, max_log_bytes));
}

}  // namespace hondana::session
