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

constexpr std::size_t max_parts = 8;
constexpr std::size_t max_joined_bytes = 2048;

iovec to_iovec(std::string_view bytes) noexcept { return {const_cast<char*>(bytes.data()), bytes.size()}; }

}  // namespace

byte_stream::io_result byte_stream::read_plain(std::span<char> buffer) {
  const auto count = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (count > 0) return {io_status::transferred, static_cast<std::size_t>(count)};
  return {count < 0 && tls::would_block() ? io_status::wants_input : io_status::closed, 0};
}

/// Short parts are copied together, because the kernel handles one part faster than several.
byte_stream::io_result byte_stream::write_plain(std::span<const std::string_view> parts) {
  std::array<iovec, max_parts> vectors;
  std::size_t used = 0;
  std::size_t size = 0;
  for (const auto part : parts) {
    if (part.empty()) continue;
    vectors[used++] = to_iovec(part);
    size += part.size();
  }
  std::array<char, max_joined_bytes> joined;
  if (used > 1 && size <= joined.size()) {
    auto* end = joined.data();
    for (const auto piece : parts) end = std::copy(piece.begin(), piece.end(), end);
    vectors[0] = {joined.data(), size};
    used = 1;
  }
  ssize_t count = 0;
  if (used == 1) {
    count = ::send(socket_.get(), vectors[0].iov_base, vectors[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
  } else {
    msghdr message{};
    message.msg_iov = vectors.data();
    message.msg_iovlen = used;
    count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (count >= 0) return {io_status::transferred, static_cast<std::size_t>(count)};
  return {tls::would_block() ? io_status::wants_output : io_status::failed, 0};
}

/// Writes one TLS record, from the first part that is not empty and the next one.
byte_stream::io_result byte_stream::write_tls(std::span<const std::string_view> parts) {
  std::array<std::string_view, 2> both;
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size() && used < both.size(); ++i) {
    if (!parts[i].empty()) both[used++] = parts[i];
  }
  return tls_->write(both[0], both[1]);
}

byte_stream::io_status byte_stream::close_sending_side() {
  if (tls_ && tls_->send_close_notify() == io_status::wants_output) return io_status::wants_output;
  tls_.reset();
  (void)::shutdown(socket_.get(), SHUT_WR);  // if the peer is gone, the next read reports it
  return io_status::closed;
}

void byte_stream::close(bool is_truncated) {
  if (is_truncated) {
    const linger reset_linger{1, 0};
    (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &reset_linger,
                       sizeof reset_linger);  // a reset shows the peer that the answer is incomplete
  } else if (tls_) {
    (void)tls_->send_close_notify();  // sent only if the socket has space for it
  }
  tls_.reset();
  socket_ = disk::handle();
}

namespace {

// Reads before the next connection is served.
constexpr int max_reads_per_round = 4;
// Portions of a stream before the next connection is served.
constexpr int max_portions_per_round = 64;
// Buffers for pieces that a loop keeps for reuse; recently used ones are in the processor's cache.
constexpr std::size_t max_spare_buffers = 4;
constexpr std::size_t min_spare_bytes = 64u << 10;
constexpr std::size_t max_spare_bytes = 1u << 20;
// Space for the line before a chunk, which is written when the size is known.
constexpr std::size_t chunk_header_space = 24;

/// Jobs of a thread pool must not throw.
result<bool> pull_piece(outgoing_body& body) {
  try {
    return body.content.pull(body.piece);
  } catch (const std::exception& error) {
    return fail(errc::internal, "Internal error", error.what());
  }
}

}  // namespace

connection::connection(std::shared_ptr<io_loop> loop, byte_stream stream, std::shared_ptr<void> slot,
                       std::shared_ptr<server_core> core, std::shared_ptr<const limits> limits,
                       std::shared_ptr<const site> site, std::string peer)
    : slot_(std::move(slot)),
      loop_(std::move(loop)),
      stream_(std::move(stream)),
      readiness_(loop_->io),
      timer_(loop_->io, *this),
      core_(std::move(core)),
      peer_(std::move(peer)),
      process_(peer_ == "unix" ? peer_process_of(stream_.descriptor()) : std::nullopt),
      protocol_(*this, std::move(limits), std::move(site), loop_->body_budget, loop_->unsent_budget) {}

connection::~connection() = default;

template <class Work>
void connection::run_guarded(Work work) {
  run_guarded_only([&] {
    work();
    if (!is_closed_) pump();
  });
}

template <class Work>
void connection::run_guarded_only(Work work) {
  if (is_closed_) return;
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
    if (protocol_.owes_response()) (void)stream_.write(std::array{no_answer});
    close();
    log(std::string("an HTTP connection was closed: ") + error.what());
  } catch (const std::exception&) {
    is_closed_ = true;  // not enough memory for an orderly close; the destructor closes the socket
  }
}

void connection::start(bool is_admitted) {
  run_guarded([&] {
    const int descriptor = stream_.descriptor();
    readiness_.open(descriptor, *this);
    // Errors are ignored: Unix sockets do not have these options. Send answers without delay:
    const int enabled = 1;
    (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &enabled, sizeof enabled);
    // Otherwise a stream whose peer has silently disappeared stays open for 15 minutes.
    const int timeout = static_cast<int>(protocol_.stall_timeout().count());
    (void)::setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
    if (!is_admitted) protocol_.reject_overloaded();
  });
}

void connection::drain() {
  run_guarded([&] {
    if (protocol_.wants_input()) read();
    protocol_.drain();
    if (session_) session_->finish();
  });
}

void connection::close() {
  if (is_closed_) return;
  is_closed_ = true;
  const auto keep_alive = shared_from_this();
  // First what the loop waits for when it ends.
  timer_.cancel();
  readiness_.close();
  loop_->connections.erase(keep_alive);
  protocol_.abandon();
  cancel();
  stream_.close(protocol_.was_truncated());
}

void connection::notify() {
  executor::prefetch(this);
  loop_->schedule(weak_from_this());
}

void connection::flush() {
  bool is_done = false;
  run_guarded_only([&] { is_done = protocol_.is_idle_stream() && attached_stream_ && send_events(); });
  if (!is_done) run_guarded([] {});
}

/// Fast path for events on an idle stream: directly from the loop's buffer into the socket. False: use the normal path for the
/// rest.
bool connection::send_events() {
  auto& text = loop_->event_buffer;
  text.assign(chunk_header_space, ' ');
  const auto remainder = attached_stream_->next_events(attachment_, text);
  if (text.size() == chunk_header_space) return remainder == message_stream::remainder::none;
  std::size_t begin = chunk_header_space;
  if (protocol_.is_chunked()) {
    std::string size;
    append_chunk_size(size, text.size() - chunk_header_space);
    begin -= size.size();
    text.replace(begin, size.size(), size);
    text += "\r\n";
  }
  const auto output = std::string_view(text).substr(begin);
  const auto sent = stream_.write(std::array{output});
  if (sent.status == byte_stream::io_status::closed || sent.status == byte_stream::io_status::failed) {
    close();
    return true;
  }
  protocol_.on_events_sent(output.substr(sent.bytes));
  return protocol_.is_idle_stream() && remainder == message_stream::remainder::none;
}

/// Writes, advances the protocol, and waits for the next event that it needs.
void connection::pump() {
  int rounds = 0;
  do {
    while (!protocol_.is_closed() && !protocol_.output().empty()) {
      if (!write()) break;
      written_bytes_ = 0;
      protocol_.on_drained();
    }
    if (is_closed_) return;
    if (++rounds > max_portions_per_round) {
      // Other connections are served before the rest.
      loop_->io.post([connection = shared_from_this()] { connection->flush(); });
      break;
    }
  } while (protocol_.output().empty() && send_next_portion());
  if (protocol_.is_closed()) return close();
  if (protocol_.has_sent_all() && !has_finished_sending_) {
    has_finished_sending_ = stream_.close_sending_side() != byte_stream::io_status::wants_output;
    if (!has_finished_sending_) await_output();
  }
  // Wait for input only if it can be read. Otherwise the unread input would wake the loop again and again.
  if (protocol_.wants_input() && !reads_when_writable_) await_input();
  await_deadline();
}

/// True: the whole output was written. False: the rest must wait, or the peer is gone.
bool connection::write() {
  const auto size = protocol_.output().size();
  while (written_bytes_ < size) {
    auto parts = protocol_.output().parts();
    auto to_skip = written_bytes_;
    for (auto& part : parts) {
      const auto skipped = std::min(to_skip, part.size());
      part.remove_prefix(skipped);
      to_skip -= skipped;
    }
    const auto sent = stream_.write(parts);
    switch (sent.status) {
      case byte_stream::io_status::transferred:
        break;
      case byte_stream::io_status::wants_output:
        await_output();
        return false;
      case byte_stream::io_status::wants_input:
        await_input();
        return false;
      default:
        close();
        return false;
    }
    written_bytes_ += sent.bytes;
    protocol_.on_written(sent.bytes);
  }
  return true;
}

void connection::on_ready(bool input, bool output) {
  const auto keep_alive = shared_from_this();  // this connection may end here
  if (output) awaits_output_ = false;
  if (input) awaits_input_ = false;
  if (output) {
    run_guarded([&] {
      if (std::exchange(reads_when_writable_, false)) read();
    });
  }
  if (input) run_guarded_only([&] { read_batched(keep_alive); });
}

/// Reads what has arrived, usually one request. It is processed after the other connections have read.
void connection::read_batched(const std::shared_ptr<connection>& connection) {
  // TLS may have needed input in order to write.
  if (!protocol_.wants_input()) return run_guarded([] {});
  // A handshake takes long, so the requests that were read are answered first.
  if (stream_.is_handshaking()) {
    return loop_->io.post([connection] { connection->run_guarded([&connection] { connection->read(); }); });
  }
  const auto received = stream_.read(loop_->read_buffer());
  if (received.status == byte_stream::io_status::transferred) return loop_->add_arrival(connection, received.bytes);
  run_guarded([&] { handle_read_status(received.status); });
}

void connection::process(std::string_view bytes) {
  run_guarded([&] { protocol_.receive(bytes); });
}

void connection::read() {
  for (int i = 0; i < max_reads_per_round && protocol_.wants_input(); ++i) {
    const auto buffer = loop_->read_buffer();
    const auto received = stream_.read(buffer);
    if (received.status != byte_stream::io_status::transferred) return handle_read_status(received.status);
    const executor::message_batch batch;
    protocol_.receive(std::string_view(buffer.data(), received.bytes));
    if (received.bytes < buffer.size()) return;  // poll reports whether there is more
  }
}

/// Handles a read that returned no bytes.
void connection::handle_read_status(byte_stream::io_status status) {
  switch (status) {
    case byte_stream::io_status::transferred:
    case byte_stream::io_status::wants_input:
      return;
    case byte_stream::io_status::wants_output:
      reads_when_writable_ = true;
      return await_output();
    case byte_stream::io_status::closed:
      return protocol_.end_of_input();
    case byte_stream::io_status::failed:
      return stream_.is_handshaking() ? reject_handshake() : protocol_.end_of_input();
  }
}

/// Lets the peer read the answer before the connection closes.
void connection::reject_handshake() {
  const bool is_http = stream_.received_plain_http();
  stream_.drop_tls();
  if (is_http) return protocol_.reject_plain_http();
  protocol_.start_linger();
}

void connection::await_input() {
  if (!std::exchange(awaits_input_, true)) readiness_.await_input();
}

void connection::await_output() {
  if (!std::exchange(awaits_output_, true)) readiness_.await_output();
}

/// Deadlines usually move into the future. The timer is not moved then, but checked when it fires.
void connection::await_deadline() {
  const auto due_at = recheck_info_ ? std::min(protocol_.deadline(), recheck_at_) : protocol_.deadline();
  if (due_at >= timer_at_) return;
  timer_.set(due_at);
  timer_at_ = due_at;
}

void connection::on_timer() {
  const auto keep_alive = shared_from_this();  // this connection may end here
  timer_at_ = http1_protocol::clock::time_point::max();
  run_guarded([&] {
    const auto now = http1_protocol::clock::now();
    if (protocol_.deadline() <= now) protocol_.expire();
    if (recheck_info_ && recheck_at_ <= now) recheck_caller();
  });
}

void connection::on_caller_verified(request_id id, auth_result outcome, const std::string& address) {
  run_guarded([&] {
    // After the deadline another request, perhaps of another caller, may be in progress.
    if (protocol_.is_authenticating(id)) protocol_.on_authenticated(id, apply_authentication(std::move(outcome), address));
  });
}

void connection::on_rechecked(request_id id, auth_result outcome, const std::string&) {
  run_guarded([&] {
    if (recheck_info_ && id == attached_request_) apply_recheck(outcome);
  });
}

void connection::set_authorities(std::shared_ptr<const tls::context> context) {
  run_guarded([&] { apply_authorities(std::move(context)); });
}

rpc::request_info connection::make_request_info(const rpc::http_headers& headers) const { return {caller_, headers}; }

result<void> connection::pull(std::shared_ptr<outgoing_body> body, request_id id) {
  const auto next_executor = body->content.next_executor();
  const auto deadline = http1_protocol::clock::now() + core_->current()->call_timeout;
  return next_executor->submit(
      [content = std::move(body), loop = loop_, weak = weak_from_this(), id] {
        if (weak.expired()) return;  // the connection has ended
        auto pulled = pull_piece(*content);
        loop->io.post([weak, id, outcome = std::move(pulled)] {
          const auto target = weak.lock();
          if (target) target->run_guarded([&] { target->protocol_.on_pulled(id, outcome); });
        });
      },
      deadline, executor::job_priority::continuation);
}

json::buffer connection::acquire_buffer() {
  auto& buffers = loop_->spare_buffers;
  if (buffers.empty()) return {};
  auto out = std::move(buffers.back());
  buffers.pop_back();
  return out;
}

void connection::recycle_buffer(json::buffer buffer) {
  if (loop_->spare_buffers.size() >= max_spare_buffers || buffer.capacity() < min_spare_bytes ||
      buffer.capacity() > max_spare_bytes)
    return;
  buffer.clear();
  loop_->spare_buffers.push_back(std::move(buffer));
}

void connection::log(std::string_view line) {
  const auto config = core_->current();
  if (config->log) config->log(line);
}

}  // namespace hondana::transport::http_server
