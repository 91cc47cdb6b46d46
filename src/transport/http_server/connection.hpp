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
#include "transport/http_server/http1_dialogue.hpp"
#include "transport/http_server/io_loop.hpp"
#include "transport/http_server/message_stream.hpp"
#include "transport/http_server/sessions.hpp"
#include "transport/tls/tls_session.hpp"

namespace hondana::transport::http_server {

/// A socket, plain or with TLS. Never blocks. Threads: its loop's.
class byte_stream {
 public:
  using progress = tls::progress;
  using attempt = tls::attempt;

  /// `secured`: TLS over `with`; null: plain.
  byte_stream(disk::handle with, std::unique_ptr<tls::session> secured) : socket_(std::move(with)), tls_(std::move(secured)) {}

  /// `into` must have space for one TLS record.
  [[nodiscard]] attempt read(std::span<char> into) {
    const auto out = tls_ ? tls_->read(into) : read_plainly(into);
    counters::traffic::here().received(counters::way::http, out.bytes);
    return out;
  }
  /// Writes a part of `parts`, from the front. There are at most eight, and not all may be empty. The caller passes the rest
  /// again.
  [[nodiscard]] attempt write(std::span<const std::string_view> parts) {
    const auto out = tls_ ? write_secured(parts) : write_plainly(parts);
    counters::traffic::here().sent(counters::way::http, out.bytes);
    return out;
  }
  /// Closes the sending side; `wants_output` means: call it again. Input after that is discarded.
  [[nodiscard]] progress finish();
  /// `is_cut_off`: reset the connection, so that the peer does not take an incomplete answer for a complete one.
  void close(bool is_cut_off);

  /// Whether the TLS handshake is in progress.
  [[nodiscard]] bool is_shaking_hands() const noexcept { return tls_ && !tls_->has_shaken_hands(); }
  /// The handshake failed because the peer uses plain HTTP.
  [[nodiscard]] bool was_addressed_in_http() const noexcept { return tls_ && tls_->was_addressed_in_http(); }
  /// Continues without TLS, to send an error to such a peer.
  void leave_tls() { tls_.reset(); }

  [[nodiscard]] bool is_secure() const noexcept { return tls_ != nullptr; }
  /// See `tls::session::certificate`; empty without TLS.
  [[nodiscard]] std::optional<peer_certificate> certificate() const { return tls_ ? tls_->certificate() : std::nullopt; }
  /// Null without TLS.
  [[nodiscard]] tls::session* secured() noexcept { return tls_.get(); }
  /// For polling and socket options.
  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

 private:
  [[nodiscard]] attempt read_plainly(std::span<char> into);
  [[nodiscard]] attempt write_plainly(std::span<const std::string_view> parts);
  [[nodiscard]] attempt write_secured(std::span<const std::string_view> parts);

  disk::handle socket_;
  std::unique_ptr<tls::session> tls_;
};

/// The process that has connected to a Unix socket; empty if it is unknown.
[[nodiscard]] std::optional<peer_process> process_behind(int descriptor);

/// One connection of a client. Threads: its loop's, from `start` on. Owned by its loop until it has ended.
///
/// Reads and writes only when the socket is ready, so that an idle connection has no buffer.
class connection final : public dialogue_host,
                         public rpc::follower,
                         public std::enable_shared_from_this<connection>,
                         private reactor::waiter {
 public:
  /// `place` is released when the connection ends. `at`: where it was accepted. `peer`: the client's address, for the log.
  connection(std::shared_ptr<loop> on, byte_stream with, std::shared_ptr<void> place, std::shared_ptr<core> engine,
             std::shared_ptr<const limits> within, std::shared_ptr<const site> at, std::string peer);
  ~connection() override;

  /// Starts to serve. `is_welcome` false: only answers 503, because there are too many connections.
  void start(bool is_welcome);
  /// Processes the input that has arrived, and ends when no request is in progress.
  void drain();
  /// Ends immediately and cancels the request in progress.
  void close();
  /// Processes bytes that were read.
  void take(std::string_view bytes);
  /// Schedules `look` on the loop. Threads: any.
  void wake() override;
  /// Sends what its stream has now.
  void look();
  /// The client authorities have changed: certificates must be valid for those of `now`.
  void judge_by(std::shared_ptr<const tls::context> now);
  /// Where it was accepted.
  [[nodiscard]] const site& at() const noexcept { return dialogue_.at(); }

  [[nodiscard]] std::optional<identified> identify(const request_head& head, const verdict& about, ticket of) override;
  void receive(std::string_view message, const rpc::http_headers& headers, ticket of) override;
  void refuse_oversized(const rpc::http_headers& headers, ticket of) override;
  [[nodiscard]] std::optional<rpc::delivery> open_stream(const rpc::http_headers& headers, ticket of) override;
  [[nodiscard]] std::optional<rpc::delivery> open_pair(ticket of) override;
  [[nodiscard]] rpc::delivery receive_paired(std::string_view message, const rpc::http_headers& headers) override;
  [[nodiscard]] rpc::delivery leave(const rpc::http_headers& headers) override;
  void forget() override;
  [[nodiscard]] result<void> pull(std::shared_ptr<outgoing> what, ticket of) override;
  [[nodiscard]] json::buffer spare() override;
  void take_back(json::buffer used) override;
  [[nodiscard]] plain_answer report(verdict::kind which) override;
  [[nodiscard]] plain_answer describe(const request_head& head, std::string_view path) override;
  [[nodiscard]] plain_answer notify(const request_head& head, std::string_view name) override;
  void refused(int status) override;
  void note_stranger(const request_head& head, std::string_view why) override;
  void log(std::string_view line) override;

 private:
  /// Runs the work of one event, then writes and waits. An exception ends only this connection.
  template <class Work>
  void guarded(Work work);
  /// The same without writing and waiting.
  template <class Work>
  void guarded_alone(Work work);
  /// Closes after an exception. If a request has no answer yet, sends a constant 503. Allocates no memory.
  void close_after(const std::exception& error) noexcept;
  [[nodiscard]] bool send_events();
  void pump();
  [[nodiscard]] bool write();
  void ready(bool input, bool output) override;
  void due() override;
  void read_together(const std::shared_ptr<connection>& self);
  void read();
  void note_end(byte_stream::progress how);
  void refuse_handshake();
  void await_input();
  void await_output();
  void await_deadline();
  [[nodiscard]] request_facts facts_about(const request_head& head) const;
  void take_as_is(request_facts facts);
  /// Receives the result of `ask_others`, if the request is still in progress.
  using hears = void (connection::*)(ticket of, authenticated found, const std::string& address);
  [[nodiscard]] result<void> ask_others(request_facts facts, ticket of, hears then,
                                        executor::urgency how = executor::urgency::request);
  void found_out(ticket of, authenticated found, const std::string& address);
  [[nodiscard]] bool has_good_certificate();
  void note_proof();
  void look_again();
  void found_again(ticket of, authenticated found, const std::string& address);
  void hear_again(const authenticated& found);
  void take_authorities(std::shared_ptr<const tls::context> now);
  void end_lasting();
  [[nodiscard]] identified settle(authenticated found, const std::string& address);
  [[nodiscard]] identified refuse_malformed(std::string_view why) const;
  [[nodiscard]] plain_answer refuse_certificate() const;
  [[nodiscard]] plain_answer refuse_caller(challenge why) const;
  [[nodiscard]] plain_answer refuse_hasty(const failure& why) const;
  /// Writes a line to the log. `identity`: empty if it is unknown.
  void note_refusal(int status, std::string_view identity, std::string_view why) const;
  [[nodiscard]] plain_answer refused(int status, std::string_view text, const challenge& why) const;
  [[nodiscard]] bool takes_tokens() const noexcept;
  [[nodiscard]] std::string challenge_for(std::string_view error, std::string_view description,
                                          const std::vector<std::string>& scopes) const;
  [[nodiscard]] rpc::facts facts_of(const rpc::http_headers& headers) const;
  /// Sends the stream `on` as the answer to a request, from the current event or from `seen`.
  void carry(std::shared_ptr<message_stream> on, ticket of, std::optional<event_id> seen = {});
  void let_go();
  [[nodiscard]] bool carry_on();
  void hand_over(portion what);
  void receive_alone(std::string_view message, const rpc::http_headers& headers, ticket of);
  void refuse_lesser(const proof& shown, const rpc::http_headers& headers, ticket of);
  [[nodiscard]] std::shared_ptr<kept_session> find_session(const rpc::http_headers& headers, kept_session::manner how) const;
  [[nodiscard]] result<std::shared_ptr<kept_session>> keep(kept_session::traits is, std::shared_ptr<session::session> what);

  std::shared_ptr<void> place_;
  std::shared_ptr<loop> loop_;
  byte_stream stream_;
  reactor::readiness readiness_;  // of `stream_`
  reactor::timer timer_;
  std::shared_ptr<core> engine_;
  const std::string peer_;
  const std::optional<peer_process> process_;                                     // for a Unix socket
  caller who_;                                                                    // the caller of the request in progress
  dialogue::clock::time_point holds_until_ = dialogue::clock::time_point::max();  // end of validity, from the authenticator
  std::unique_ptr<request_facts> asked_with_;  // facts of an event stream's request, to authenticate its caller again
  dialogue::clock::time_point looks_again_at_ = dialogue::clock::time_point::max();
  std::optional<dialogue::clock::time_point> in_doubt_since_;
  std::shared_ptr<const tls::context> judged_by_;  // new client authorities that the certificate was not checked with yet
  bool is_vouched_for_ = true;
  dialogue dialogue_;
  std::shared_ptr<session::session> session_;  // of a stateless request
  std::shared_ptr<kept_session> paired_;       // ends with the connection
  std::shared_ptr<message_stream> carried_;
  message_stream::carriage carriage_ = 0;
  ticket carried_for_ = 0;
  std::optional<rpc::delivery> ready_;  // an answer that needs no stream
  std::size_t written_ = 0;             // of the dialogue's output
  dialogue::clock::time_point timer_at_ = dialogue::clock::time_point::max();
  bool awaits_input_ = false;
  bool awaits_output_ = false;
  bool reads_when_writable_ = false;  // TLS must write before it can read
  bool said_all_ = false;
  bool closed_ = false;
};

}  // namespace hondana::transport::http_server
