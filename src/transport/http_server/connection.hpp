/// Serves one HTTP connection over a socket, plain or with TLS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/authenticator.hpp>

#include "base/counters/process_metrics.hpp"
#include "base/json/buffer.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/reactor/reactor.hpp"
#include "protocol/rpc/message.hpp"
#include "protocol/rpc/message_sink.hpp"
#include "server/core/core.hpp"
#include "server/session/session.hpp"
#include "transport/http_server/http1_protocol.hpp"
#include "transport/http_server/io_loop.hpp"
#include "transport/http_server/message_stream.hpp"
#include "transport/http_server/sessions.hpp"
#include "transport/tls/tls_session.hpp"

namespace hondana::transport::http_server {

/// A socket, plain or with TLS. Never blocks. Threads: its loop's.
class byte_stream {
 public:
  using io_status = tls::io_status;
  using io_result = tls::io_result;

  /// `session`: TLS over `socket`; null: plain.
  byte_stream(disk::handle socket, std::unique_ptr<tls::session> session)
      : socket_(std::move(socket)), tls_(std::move(session)) {}

  /// `buffer` must have space for one TLS record.
  [[nodiscard]] io_result read(std::span<char> buffer) {
    const auto out = tls_ ? tls_->read(buffer) : read_plain(buffer);
    counters::traffic_counters::global().add_received(counters::transport_kind::http, out.bytes);
    return out;
  }
  /// Writes some bytes from the front of `parts`, which are at most eight and not all empty. The caller must pass the rest
  /// again.
  [[nodiscard]] io_result write(std::span<const std::string_view> parts) {
    const auto out = tls_ ? write_tls(parts) : write_plain(parts);
    counters::traffic_counters::global().add_sent(counters::transport_kind::http, out.bytes);
    return out;
  }
  /// Closes the sending side. Returns `wants_output` if it must be called again when the socket is writable; otherwise
  /// `closed`. Input that is read after that is not decrypted, and must be discarded.
  [[nodiscard]] io_status close_sending_side();
  /// Closes the socket. `is_truncated`: resets the connection, so that the peer does not take an incomplete answer for a
  /// complete one.
  void close(bool is_truncated);

  /// Whether the TLS handshake is in progress.
  [[nodiscard]] bool is_handshaking() const noexcept { return tls_ && !tls_->is_handshake_done(); }
  /// Whether the handshake failed because the peer uses plain HTTP.
  [[nodiscard]] bool received_plain_http() const noexcept { return tls_ && tls_->received_plain_http(); }
  /// Continues without TLS, to send an error to a peer that uses plain HTTP.
  void drop_tls() { tls_.reset(); }

  [[nodiscard]] bool is_secure() const noexcept { return tls_ != nullptr; }
  /// See `tls::session::certificate`; empty without TLS.
  [[nodiscard]] std::optional<peer_certificate> certificate() const { return tls_ ? tls_->certificate() : std::nullopt; }
  /// Null without TLS.
  [[nodiscard]] tls::session* tls_session() noexcept { return tls_.get(); }
  /// For polling and socket options.
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

 private:
  [[nodiscard]] io_result read_plain(std::span<char> buffer);
  [[nodiscard]] io_result write_plain(std::span<const std::string_view> parts);
  [[nodiscard]] io_result write_tls(std::span<const std::string_view> parts);

  disk::handle socket_;
  std::unique_ptr<tls::session> tls_;
};

/// Returns the process at the other end of a connected Unix socket; empty if it is unknown.
[[nodiscard]] std::optional<peer_credentials> peer_process_of(int descriptor);

/// Serves one connection of a client. Threads: its loop's, from `start` on. Its loop owns it until it has ended.
///
/// Reads and writes only when the socket is ready, so that an idle connection has no buffer.
class connection final : public http1_handler,
                         public rpc::source_listener,
                         public std::enable_shared_from_this<connection>,
                         private reactor::event_handler {
 public:
  /// `slot`: see `admission_result`; released when the connection is destroyed. `site`: what its listening socket serves.
  /// `peer`: the peer's address, as by `peer_address::text`.
  connection(std::shared_ptr<io_loop> loop, byte_stream stream, std::shared_ptr<void> slot, std::shared_ptr<server_core> core,
             std::shared_ptr<const limits> limits, std::shared_ptr<const site> site, std::string peer);
  ~connection() override;

  /// Starts to serve. `is_admitted` false: only answers 503, because there are too many connections.
  void start(bool is_admitted);
  /// Processes the input that has arrived, and ends the connection when no request is in progress. Ends event streams.
  void drain();
  /// Ends the connection immediately and cancels the request in progress.
  void close();
  /// Processes bytes that `io_loop` has collected for this connection.
  void process(std::string_view bytes);
  /// Schedules `flush` on the loop. Threads: any.
  void notify() override;
  /// Sends what the stream of the current answer has now.
  void flush();
  /// Call this when the trusted client authorities have changed. From then on, the client's certificate must be valid for those
  /// of `context`.
  void set_authorities(std::shared_ptr<const tls::context> context);
  /// What its listening socket serves.
  [[nodiscard]] const site& listening_site() const noexcept { return protocol_.listening_site(); }

  [[nodiscard]] std::optional<auth_outcome> authenticate(const request_head& head, const route& route, request_id id) override;
  void receive(std::string_view message, const rpc::http_headers& headers, request_id id) override;
  void reject_oversized(const rpc::http_headers& headers, request_id id) override;
  [[nodiscard]] std::optional<rpc::outgoing_response> open_stream(const rpc::http_headers& headers, request_id id) override;
  [[nodiscard]] std::optional<rpc::outgoing_response> open_sse(request_id id) override;
  [[nodiscard]] rpc::outgoing_response receive_sse_message(std::string_view message, const rpc::http_headers& headers) override;
  [[nodiscard]] rpc::outgoing_response end_session(const rpc::http_headers& headers) override;
  void cancel() override;
  [[nodiscard]] result<void> pull(std::shared_ptr<outgoing_body> body, request_id id) override;
  [[nodiscard]] json::buffer acquire_buffer() override;
  void recycle_buffer(json::buffer buffer) override;
  [[nodiscard]] plain_response report(route::kind kind) override;
  [[nodiscard]] plain_response describe_resource(const request_head& head, std::string_view path) override;
  [[nodiscard]] plain_response receive_webhook(const request_head& head, std::string_view name) override;
  void on_rejected(int status) override;
  void log_foreign_request(const request_head& head, std::string_view reason) override;
  void log(std::string_view line) override;

 private:
  /// Runs the work of one event, then `pump`. An exception ends only this connection.
  template <class Work>
  void run_guarded(Work work);
  /// Like `run_guarded`, without `pump`.
  template <class Work>
  void run_guarded_only(Work work);
  /// Closes after an exception. If a request has no answer yet, sends a constant 503. Allocates no memory.
  void close_after(const std::exception& error) noexcept;
  [[nodiscard]] bool send_events();
  void pump();
  [[nodiscard]] bool write();
  void on_ready(bool input, bool output) override;
  void on_timer() override;
  void read_batched(const std::shared_ptr<connection>& connection);
  void read();
  void handle_read_status(byte_stream::io_status status);
  void reject_handshake();
  void await_input();
  void await_output();
  void await_deadline();
  [[nodiscard]] auth_request make_connection_info(const request_head& head) const;
  void accept_unverified(auth_request info);
  /// Receives the result of `authenticate_async`; the request may have ended meanwhile.
  using result_handler = void (connection::*)(request_id id, auth_result outcome, const std::string& address);
  /// Calls the authenticator on the pool, then `handler` on the loop. Errors: those of `executor::executor::submit`.
  [[nodiscard]] result<void> authenticate_async(auth_request requester, request_id id, result_handler handler,
                                                executor::job_priority urgency = executor::job_priority::request);
  void on_caller_verified(request_id id, auth_result outcome, const std::string& address);
  /// Whether the client's certificate, if it sent one, has not expired and is still trusted.
  [[nodiscard]] bool has_valid_certificate();
  void watch_credentials();
  /// Authenticates the caller of an event stream again.
  void recheck_caller();
  void on_rechecked(request_id id, auth_result outcome, const std::string& address);
  void apply_recheck(const auth_result& outcome);
  void apply_authorities(std::shared_ptr<const tls::context> context);
  void end_event_stream();
  [[nodiscard]] auth_outcome apply_authentication(auth_result outcome, const std::string& address);
  [[nodiscard]] auth_outcome reject_malformed(std::string_view reason) const;
  [[nodiscard]] plain_response certificate_rejection() const;
  [[nodiscard]] plain_response caller_rejection(auth_rejection rejection) const;
  [[nodiscard]] plain_response rate_limit_rejection(const failure& error) const;
  /// Writes a line to the log. `identity`: empty if it is unknown.
  void log_rejection(int status, std::string_view identity, std::string_view reason) const;
  [[nodiscard]] plain_response rejection_response(int status, std::string_view text, const auth_rejection& rejection) const;
  [[nodiscard]] bool accepts_tokens() const noexcept;
  [[nodiscard]] std::string make_challenge(std::string_view error, std::string_view description,
                                           const std::vector<std::string>& scopes) const;
  [[nodiscard]] rpc::request_info make_request_info(const rpc::http_headers& headers) const;
  /// Sends the messages of `stream` as the answer to a request. With `last_seen`, also the stored events after that one.
  void attach_stream(std::shared_ptr<message_stream> stream, request_id id, std::optional<event_id> last_seen = {});
  void detach_stream();
  [[nodiscard]] bool send_next_portion();
  void send_portion(portion part);
  void receive_stateless(std::string_view message, const rpc::http_headers& headers, request_id id);
  void reject_missing_scopes(const auth_info& required, const rpc::http_headers& headers, request_id id);
  [[nodiscard]] std::shared_ptr<stored_session> find_session(const rpc::http_headers& headers,
                                                             stored_session::transport_kind kind) const;
  [[nodiscard]] result<std::shared_ptr<stored_session>> store_session(stored_session::traits traits,
                                                                      std::shared_ptr<session::session> opened);

  std::shared_ptr<void> slot_;
  std::shared_ptr<io_loop> loop_;
  byte_stream stream_;
  reactor::readiness readiness_;  // of `stream_`
  reactor::timer timer_;
  std::shared_ptr<server_core> core_;
  const std::string peer_;
  const std::optional<peer_credentials> process_;  // for a Unix socket
  caller_info caller_;                             // the caller of the request in progress
  http1_protocol::clock::time_point credentials_expire_at_ =
      http1_protocol::clock::time_point::max();  // end of validity, from the authenticator
  std::unique_ptr<auth_request> recheck_info_;   // the request of an event stream, to authenticate its caller again
  http1_protocol::clock::time_point recheck_at_ = http1_protocol::clock::time_point::max();
  std::optional<http1_protocol::clock::time_point> unverified_since_;  // since when the caller cannot be authenticated again
  std::shared_ptr<const tls::context> new_authorities_;  // new client authorities that the certificate was not checked with yet
  bool is_trusted_ = true;                               // the current client authorities accept the certificate
  http1_protocol protocol_;
  std::shared_ptr<session::session> session_;        // of a stateless request
  std::shared_ptr<stored_session> sse_session_;      // ends with the connection
  std::shared_ptr<message_stream> attached_stream_;  // its messages are the answer to `attached_request_`
  message_stream::attachment_id attachment_ = 0;
  request_id attached_request_ = 0;
  std::optional<rpc::outgoing_response> ready_response_;  // an answer that needs no stream
  std::size_t written_bytes_ = 0;                         // of `protocol_.output()`
  http1_protocol::clock::time_point timer_at_ = http1_protocol::clock::time_point::max();
  bool awaits_input_ = false;
  bool awaits_output_ = false;
  bool reads_when_writable_ = false;  // TLS must write before it can read
  bool has_finished_sending_ = false;
  bool is_closed_ = false;
};

}  // namespace hondana::transport::http_server
