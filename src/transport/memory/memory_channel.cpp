/// A channel to a server in this process, and the mailbox that receives the messages of a session.
#include "transport/memory/memory_channel.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "protocol/channel/message_reader.hpp"
#include "protocol/rpc/message_body.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"

namespace hondana::transport {

struct mailbox::followed_source final : rpc::source_listener {
  void notify() override {
    if (const auto target = owner.lock()) target->mark_ready(*this);
  }
  std::shared_ptr<rpc::message_source> source;
  std::weak_ptr<mailbox> owner;
  bool is_ready = false;
};

void mailbox::answer(rpc::outgoing_response response) {
  if (response.content) put(std::make_shared<rpc::body>(std::move(*response.content)));
}

rpc::send_outcome mailbox::send(std::string message) {
  put(std::make_shared<rpc::body>(std::move(message)));
  return rpc::send_outcome::accepted;
}

void mailbox::stream(std::shared_ptr<rpc::message_source> source) {
  const auto entry = std::make_shared<followed_source>();
  entry->source = std::move(source);
  entry->owner = weak_from_this();
  {
    const std::lock_guard lock(mutex_);
    sources_.push_back(entry);
  }
  entry->source->set_listener(entry);
}

std::shared_ptr<rpc::body> mailbox::pop(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  for (;;) {
    const bool has_event = monotonic_clock::wait_until(
        arrived_, lock, deadline, [this] { return is_closed_ || !messages_.empty() || find_ready() != nullptr; });
    if (!has_event || is_closed_) return nullptr;
    if (!messages_.empty()) {
      auto next = std::move(messages_.front());
      messages_.pop_front();
      return next;
    }
    const auto entry = find_ready();
    entry->is_ready = false;
    lock.unlock();
    auto message = entry->source->next();
    if (message) {
      mark_ready(*entry);  // there may be more
      return std::make_shared<rpc::body>(std::move(*message));
    }
    lock.lock();
    if (entry->source->is_finished()) std::erase(sources_, entry);
  }
}

void mailbox::close() {
  {
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
  }
  arrived_.notify_all();
}

void mailbox::mark_ready(followed_source& entry) {
  {
    const std::lock_guard lock(mutex_);
    entry.is_ready = true;
  }
  arrived_.notify_one();
}

std::shared_ptr<mailbox::followed_source> mailbox::find_ready() const {
  const auto match = std::find_if(sources_.begin(), sources_.end(), [](const auto& entry) { return entry->is_ready; });
  return match == sources_.end() ? nullptr : *match;
}

void mailbox::put(std::shared_ptr<rpc::body> message) {
  {
    const std::lock_guard lock(mutex_);
    messages_.push_back(std::move(message));
  }
  arrived_.notify_one();
}

namespace {

using hondana::channel::call_id;

/// Time limit for the next piece of content from the server's source.
constexpr std::chrono::seconds pull_timeout{60};

class memory_channel final : public hondana::channel::channel {
 public:
  memory_channel(hondana::server& server, hondana::channel::channel_listener& listener, const hondana::channel::limits& limits)
      : listener_(listener), limits_(limits), session_(session::session::open(server.core())) {
    request_info_.caller.identity = "local";
    inbox_->stream(session_->notification_stream());
  }
  ~memory_channel() override { close({}); }

  void start() {
    delivery_thread_ = std::thread([this] { run(); });
  }

  void send(hondana::channel::outgoing_message message) override {
    if (message.call != 0) {
      const std::lock_guard lock(mutex_);
      pending_.emplace(message.call, std::move(message.content));
    }
    const std::lock_guard lock(send_mutex_);
    session_->receive(message.text, request_info_, inbox_);
  }
  void abandon(call_id call) override {
    const std::lock_guard lock(mutex_);
    pending_.erase(call);
  }
  void end_connection(std::string) override {}  // the server is part of this process
  void complete_handshake(hondana::channel::header_fields, bool) override {}
  void discard_session() override {}
  void close(std::chrono::milliseconds) override {
    inbox_->close();
    if (delivery_thread_.joinable()) {
      delivery_thread_.join();
      session_->close();
    }
  }
  [[nodiscard]] std::string_view kind() const noexcept override { return "memory"; }
  [[nodiscard]] bool has_exchanges() const noexcept override { return false; }

 private:
  void run() {
    while (const auto message = inbox_->pop(std::chrono::steady_clock::time_point::max())) deliver(message);
  }

  void deliver(const std::shared_ptr<rpc::body>& message) {
    hondana::channel::routing_reader intake(limits_, [this](const std::string& id) { return sink_of(id); });
    std::optional<failure> error;
    std::string piece;
    for (bool has_more = true; has_more && !error;) {
      piece.clear();
      const auto pulled = rpc::pull_until(message, piece, monotonic_clock::now() + pull_timeout);
      if (!pulled) {
        error = pulled.error();
        break;
      }
      has_more = *pulled;
      if (auto parsed = intake.feed(piece); !parsed) error = std::move(parsed.error());
      if (const auto id = intake.id()) {
        if (const auto call = hondana::channel::parse_call_id(*id); call && is_pending(*call)) listener_.on_progress(*call);
      }
    }
    message->attached_receipts().report(error ? rpc::delivery_outcome::truncated : rpc::delivery_outcome::sent);
    const auto id = intake.id();
    const auto call = id ? hondana::channel::parse_call_id(*id) : std::nullopt;
    if (!error) {
      auto text = intake.finish();
      if (text) {
        if (call && !erase_call(*call)) return;  // abandoned
        listener_.on_message(0, std::move(*text));
        return;
      }
      error = std::move(text.error());
    }
    if (call && erase_call(*call)) listener_.on_call_finished(*call, {.reason = std::move(*error)});
  }

  hondana::channel::content_sink sink_of(const std::string& id) {
    const auto call = hondana::channel::parse_call_id(id);
    const std::lock_guard lock(mutex_);
    const auto match = call ? pending_.find(*call) : pending_.end();
    if (match != pending_.end()) return match->second;
    if (!call) return {};
    // Content of an abandoned call is discarded, not stored.
    return [](std::size_t, std::string_view) { return result<void>(); };
  }
  bool is_pending(call_id call) {
    const std::lock_guard lock(mutex_);
    return pending_.contains(call);
  }
  /// False if no caller waits for the answer. Ids of the server's own requests are never in the table.
  bool erase_call(call_id call) {
    const std::lock_guard lock(mutex_);
    return pending_.erase(call) != 0;
  }

  hondana::channel::channel_listener& listener_;
  const hondana::channel::limits limits_;
  std::shared_ptr<mailbox> inbox_ = std::make_shared<mailbox>();
  std::shared_ptr<session::session> session_;
  rpc::request_info request_info_;
  std::mutex send_mutex_;  // a session accepts one message at a time
  std::mutex mutex_;
  std::map<call_id, hondana::channel::content_sink> pending_;
  std::thread delivery_thread_;
};

}  // namespace

result<std::unique_ptr<channel::channel>> make_memory_channel(hondana::server& server, channel::channel_listener& listener,
                                                              const channel::limits& limits) {
  auto created = std::make_unique<memory_channel>(server, listener, limits);
  try {
    created->start();
  } catch (const std::system_error& error) {
    return fail(errc::source_unavailable, "cannot start a thread for the connection", error.what());
  }
  return created;
}

}  // namespace hondana::transport

namespace hondana::inline v0 {

struct memory_peer::state {
  std::shared_ptr<session::session> peer_session;
  std::shared_ptr<transport::mailbox> inbox = std::make_shared<transport::mailbox>();
  rpc::request_info request_info;
};

memory_peer::memory_peer(server& server) : state_(std::make_unique<state>()) {
  state_->peer_session = session::session::open(server.core());
  state_->request_info.caller.identity = "local";
  state_->inbox->stream(state_->peer_session->notification_stream());
}

memory_peer::~memory_peer() { state_->peer_session->close(); }

void memory_peer::send(std::string_view message) {
  state_->peer_session->receive(message, state_->request_info, state_->inbox);
}

std::optional<std::string> memory_peer::receive(std::chrono::steady_clock::time_point deadline) {
  const auto message = state_->inbox->pop(deadline);
  if (!message) return {};
  std::string text;
  for (;;) {
    const auto pulled = rpc::pull_until(message, text, deadline);
    if (!pulled) {  // a message that cannot be completed is cut off, as in every transport
      message->attached_receipts().report(rpc::delivery_outcome::truncated);
      return {};
    }
    if (!*pulled) {
      message->attached_receipts().report(rpc::delivery_outcome::sent);
      return text;
    }
  }
}

}  // namespace hondana::inline v0
