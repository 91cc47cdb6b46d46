/// Serves one HTTP connection over a socket, plain or with TLS.
#include "transport/http_server/connection.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <exception>
#include <utility>

#include "base/executor/batching.hpp"
#include "transport/http_server/response_writer.hpp"
#include "transport/tls/socket_bio.hpp"

namespace hondana::transport::http_server {
namespace {

constexpr std::size_t most_parts = 8;
constexpr std::size_t shortest_apart = 2048;

iovec piece(std::string_view bytes) noexcept { return {const_cast<char*>(bytes.data()), bytes.size()}; }

}  // namespace

byte_stream::attempt byte_stream::read_plainly(std::span<char> into) {
  const auto count = ::recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT);
  if (count > 0) return {progress::moved, static_cast<std::size_t>(count)};
  return {count < 0 && tls::has_to_wait() ? progress::wants_input : progress::ended, 0};
}

/// Short parts are copied together, because the kernel handles one part faster than several.
byte_stream::attempt byte_stream::write_plainly(std::span<const std::string_view> parts) {
  std::array<iovec, most_parts> all;
  std::size_t used = 0;
  std::size_t size = 0;
  for (const auto one : parts) {
    if (one.empty()) continue;
    all[used++] = piece(one);
    size += one.size();
  }
  std::array<char, shortest_apart> joined;
  if (used > 1 && size <= joined.size()) {
    auto* end = joined.data();
    for (const auto one : parts) end = std::copy(one.begin(), one.end(), end);
    all[0] = {joined.data(), size};
    used = 1;
  }
  ssize_t count = 0;
  if (used == 1) {
    count = ::send(socket_.get(), all[0].iov_base, all[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
  } else {
    msghdr what{};
    what.msg_iov = all.data();
    what.msg_iovlen = used;
    count = ::sendmsg(socket_.get(), &what, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (count >= 0) return {progress::moved, static_cast<std::size_t>(count)};
  return {tls::has_to_wait() ? progress::wants_output : progress::failed, 0};
}

/// Writes one TLS record, from the first part that is not empty and the next one.
byte_stream::attempt byte_stream::write_secured(std::span<const std::string_view> parts) {
  std::array<std::string_view, 2> both;
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size() && used < both.size(); ++i) {
    if (!parts[i].empty()) both[used++] = parts[i];
  }
  return tls_->write(both[0], both[1]);
}

byte_stream::progress byte_stream::finish() {
  if (tls_ && tls_->say_farewell() == progress::wants_output) return progress::wants_output;
  tls_.reset();
  (void)::shutdown(socket_.get(), SHUT_WR);  // if the peer is gone, the next read reports it
  return progress::ended;
}

void byte_stream::close(bool is_cut_off) {
  if (is_cut_off) {
    const linger at_once{1, 0};
    (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once,
                       sizeof at_once);  // a reset shows the peer that the answer is incomplete
  } else if (tls_) {
    (void)tls_->say_farewell();  // sent only if the socket has space for it
  }
  tls_.reset();
  socket_ = disk::handle();
}

namespace {

// Reads before the next connection's turn.
constexpr int reads_in_a_row = 4;
// Portions of a stream before the next connection's turn.
constexpr int portions_in_a_row = 64;
// Buffers for pieces that a loop keeps for reuse; recently used ones are in the processor's cache.
constexpr std::size_t most_spares = 4;
constexpr std::size_t least_spare = 64u << 10;
constexpr std::size_t largest_spare = 1u << 20;
// Space for the line before a chunk, which is written when the size is known.
constexpr std::size_t chunk_room = 24;

/// Jobs of a thread pool must not throw.
result<bool> pull_piece(outgoing& what) {
  try {
    return what.rest.pull(what.piece);
  } catch (const std::exception& error) {
    return fail(errc::internal, "Internal error", error.what());
  }
}

}  // namespace

connection::connection(std::shared_ptr<loop> on, byte_stream with, std::shared_ptr<void> place, std::shared_ptr<core> engine,
                       std::shared_ptr<const limits> within, std::shared_ptr<const site> at, std::string peer)
    : place_(std::move(place)),
      loop_(std::move(on)),
      stream_(std::move(with)),
      readiness_(loop_->io),
      timer_(loop_->io, *this),
      engine_(std::move(engine)),
      peer_(std::move(peer)),
      process_(peer_ == "unix" ? process_behind(stream_.descriptor()) : std::nullopt),
      dialogue_(*this, std::move(within), std::move(at), loop_->bodies, loop_->unsent) {}

connection::~connection() = default;

template <class Work>
void connection::guarded(Work work) {
  guarded_alone([&] {
    work();
    if (!closed_) pump();
  });
}

template <class Work>
void connection::guarded_alone(Work work) {
  if (closed_) return;
  try {
    work();
  } catch (const std::exception& error) {
    close_after(error);
  }
}

void connection::close_after(const std::exception& error) noexcept {
  constexpr std::string_view no_answer =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
  try {
    if (dialogue_.owes_answer()) (void)stream_.write(std::array{no_answer});
    close();
    log(std::string("an HTTP connection was closed: ") + error.what());
  } catch (const std::exception&) {
    closed_ = true;  // not enough memory for an orderly close; the destructor closes the socket
  }
}

void connection::start(bool is_welcome) {
  guarded([&] {
    const int on = stream_.descriptor();
    readiness_.open(on, *this);
    // Errors are ignored: Unix sockets do not have these options. Send answers without delay:
    const int yes = 1;
    (void)::setsockopt(on, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    // Otherwise a stream whose peer has silently disappeared stays open for 15 minutes.
    const int patience = static_cast<int>(dialogue_.patience().count());
    (void)::setsockopt(on, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
    if (!is_welcome) dialogue_.turn_away();
  });
}

void connection::drain() {
  guarded([&] {
    if (dialogue_.wants_input()) read();
    dialogue_.drain();
    if (session_) session_->finish();
  });
}

void connection::close() {
  if (closed_) return;
  closed_ = true;
  const auto self = shared_from_this();
  // First what the loop waits for when it ends.
  timer_.cancel();
  readiness_.close();
  loop_->connections.erase(self);
  dialogue_.abandon();
  forget();
  stream_.close(dialogue_.was_cut_off());
}

void connection::wake() {
  executor::fetch(this);
  loop_->ring(weak_from_this());
}

void connection::look() {
  bool is_done = false;
  guarded_alone([&] { is_done = dialogue_.is_resting() && carried_ && send_events(); });
  if (!is_done) guarded([] {});
}

/// Fast path for events on an idle stream: directly from the loop's buffer into the socket. False: use the normal path for the
/// rest.
bool connection::send_events() {
  auto& text = loop_->events;
  text.assign(chunk_room, ' ');
  const auto rest = carried_->next_events(carriage_, text);
  if (text.size() == chunk_room) return rest == message_stream::rest::none;
  std::size_t begin = chunk_room;
  if (dialogue_.is_chunked()) {
    std::string size;
    append_chunk_size(size, text.size() - chunk_room);
    begin -= size.size();
    text.replace(begin, size.size(), size);
    text += "\r\n";
  }
  const auto left = std::string_view(text).substr(begin);
  const auto sent = stream_.write(std::array{left});
  if (sent.how == byte_stream::progress::ended || sent.how == byte_stream::progress::failed) {
    close();
    return true;
  }
  dialogue_.sent_events(left.substr(sent.bytes));
  return dialogue_.is_resting() && rest == message_stream::rest::none;
}

/// Writes, advances the dialogue, and waits for the next event that it needs.
void connection::pump() {
  int turns = 0;
  do {
    while (!dialogue_.has_ended() && !dialogue_.output().empty()) {
      if (!write()) break;
      written_ = 0;
      dialogue_.drained();
    }
    if (closed_) return;
    if (++turns > portions_in_a_row) {
      // Other connections have their turn before the rest.
      loop_->io.post([self = shared_from_this()] { self->look(); });
      break;
    }
  } while (dialogue_.output().empty() && carry_on());
  if (dialogue_.has_ended()) return close();
  if (dialogue_.has_said_all() && !said_all_) {
    said_all_ = stream_.finish() != byte_stream::progress::wants_output;
    if (!said_all_) await_output();
  }
  // Wait for input only if it can be read. Otherwise the unread input would wake the loop again and again.
  if (dialogue_.wants_input() && !reads_when_writable_) await_input();
  await_deadline();
}

/// True: the whole output was written. False: the rest must wait, or the peer is gone.
bool connection::write() {
  const auto size = dialogue_.output().size();
  while (written_ < size) {
    auto parts = dialogue_.output().parts();
    auto before = written_;
    for (auto& one : parts) {
      const auto taken = std::min(before, one.size());
      one.remove_prefix(taken);
      before -= taken;
    }
    const auto sent = stream_.write(parts);
    switch (sent.how) {
      case byte_stream::progress::moved:
        break;
      case byte_stream::progress::wants_output:
        await_output();
        return false;
      case byte_stream::progress::wants_input:
        await_input();
        return false;
      default:
        close();
        return false;
    }
    written_ += sent.bytes;
    dialogue_.progressed(sent.bytes);
  }
  return true;
}

void connection::ready(bool input, bool output) {
  const auto self = shared_from_this();  // this connection may end here
  if (output) awaits_output_ = false;
  if (input) awaits_input_ = false;
  if (output) {
    guarded([&] {
      if (std::exchange(reads_when_writable_, false)) read();
    });
  }
  if (input) guarded_alone([&] { read_together(self); });
}

/// Reads what has arrived, usually one request. It is processed after the other connections have read.
void connection::read_together(const std::shared_ptr<connection>& self) {
  // TLS may have needed input in order to write.
  if (!dialogue_.wants_input()) return guarded([] {});
  // A handshake takes long, so the requests that were read are answered first.
  if (stream_.is_shaking_hands()) {
    return loop_->io.post([self] { self->guarded([&self] { self->read(); }); });
  }
  const auto got = stream_.read(loop_->room());
  if (got.how == byte_stream::progress::moved) return loop_->arrived(self, got.bytes);
  guarded([&] { note_end(got.how); });
}

void connection::take(std::string_view bytes) {
  guarded([&] { dialogue_.receive(bytes); });
}

void connection::read() {
  for (int i = 0; i < reads_in_a_row && dialogue_.wants_input(); ++i) {
    const auto into = loop_->room();
    const auto got = stream_.read(into);
    if (got.how != byte_stream::progress::moved) return note_end(got.how);
    const executor::round now;
    dialogue_.receive(std::string_view(into.data(), got.bytes));
    if (got.bytes < into.size()) return;  // poll reports whether there is more
  }
}

/// Handles a read that returned no bytes.
void connection::note_end(byte_stream::progress how) {
  switch (how) {
    case byte_stream::progress::moved:
    case byte_stream::progress::wants_input:
      return;
    case byte_stream::progress::wants_output:
      reads_when_writable_ = true;
      return await_output();
    case byte_stream::progress::ended:
      return dialogue_.end_of_input();
    case byte_stream::progress::failed:
      return stream_.is_shaking_hands() ? refuse_handshake() : dialogue_.end_of_input();
  }
}

/// Lets the peer read the answer before the connection closes.
void connection::refuse_handshake() {
  const bool is_http = stream_.was_addressed_in_http();
  stream_.leave_tls();
  if (is_http) return dialogue_.refuse_plain_http();
  dialogue_.hang_up();
}

void connection::await_input() {
  if (!std::exchange(awaits_input_, true)) readiness_.await_input();
}

void connection::await_output() {
  if (!std::exchange(awaits_output_, true)) readiness_.await_output();
}

/// Deadlines usually move into the future. The timer is not moved then, but checked when it fires.
void connection::await_deadline() {
  const auto at = asked_with_ ? std::min(dialogue_.deadline(), looks_again_at_) : dialogue_.deadline();
  if (at >= timer_at_) return;
  timer_.set(at);
  timer_at_ = at;
}

void connection::due() {
  const auto self = shared_from_this();  // this connection may end here
  timer_at_ = dialogue::clock::time_point::max();
  guarded([&] {
    const auto now = dialogue::clock::now();
    if (dialogue_.deadline() <= now) dialogue_.expire();
    if (asked_with_ && looks_again_at_ <= now) look_again();
  });
}

void connection::found_out(ticket of, authenticated found, const std::string& address) {
  guarded([&] {
    // After the deadline another request, perhaps of another caller, may be in progress.
    if (dialogue_.is_identifying(of)) dialogue_.identified(of, settle(std::move(found), address));
  });
}

void connection::found_again(ticket of, authenticated found, const std::string&) {
  guarded([&] {
    if (asked_with_ && of == carried_for_) hear_again(found);
  });
}

void connection::judge_by(std::shared_ptr<const tls::context> now) {
  guarded([&] { take_authorities(std::move(now)); });
}

rpc::facts connection::facts_of(const rpc::http_headers& headers) const { return {who_, headers}; }

result<void> connection::pull(std::shared_ptr<outgoing> what, ticket of) {
  const auto lane = what->rest.next_lane();
  const auto until = dialogue::clock::now() + engine_->current()->call_deadline;
  return lane->submit(
      [what = std::move(what), on = loop_, to = weak_from_this(), of] {
        if (to.expired()) return;  // the connection has ended
        auto more = pull_piece(*what);
        on->io.post([to, of, more = std::move(more)] {
          const auto there = to.lock();
          if (there) there->guarded([&] { there->dialogue_.pulled(of, more); });
        });
      },
      until, executor::urgency::continuation);
}

json::buffer connection::spare() {
  auto& all = loop_->spares;
  if (all.empty()) return {};
  auto out = std::move(all.back());
  all.pop_back();
  return out;
}

void connection::take_back(json::buffer used) {
  if (loop_->spares.size() >= most_spares || used.capacity() < least_spare || used.capacity() > largest_spare) return;
  used.clear();
  loop_->spares.push_back(std::move(used));
}

void connection::log(std::string_view line) {
  const auto with = engine_->current();
  if (with->log) with->log(line);
}

}  // namespace hondana::transport::http_server
