/// The connection to one server: opens it in a protocol revision that both support, and again after it is lost.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/client.hpp>
#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "client/retry.hpp"
#include "client/rpc_peer.hpp"
#include "protocol/channel/channel.hpp"
#include "protocol/wire/asking/requests.hpp"

namespace hondana::outbound {

/// Makes a channel. `is_legacy`: HTTP+SSE instead of Streamable HTTP. `listener` must outlive the channel. `log`: receives
/// lines.
using channel_maker = std::function<result<std::unique_ptr<channel::channel>>(
    const client_target& target, bool is_legacy, channel::channel_listener& listener, const channel::limits& limits,
    const std::function<void(std::string_view)>& log)>;

/// The default `channel_maker`: child processes, HTTP and servers in this process.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_channel(const client_target& target, bool is_legacy,
                                                                     channel::channel_listener& listener,
                                                                     const channel::limits& limits,
                                                                     const std::function<void(std::string_view)>& log);

/// The connection of one client. Threads: any.
class server_connection {
 public:
  /// `listener` and `options` must outlive this object.
  server_connection(client_target target, const client_options& options, peer_listener& listener, channel_maker maker);

  /// Opens the connection unless it is open, and returns the protocol revision in use. Blocks meanwhile. Errors: those of
  /// `client::connect`.
  [[nodiscard]] result<asking::negotiated_protocol> ensure_open(const call_options& options);
  /// Call it when the connection or session was lost. The next `ensure_open` begins a new session; without sessions it is still
  /// open. `forgets_revision`: it negotiates the revision again in any case.
  void mark_lost(bool forgets_revision);
  [[nodiscard]] rpc_peer& peer() noexcept { return peer_; }
  /// Returns how many times `mark_lost` was called: two equal results mean the same session.
  [[nodiscard]] std::uint64_t generation() const;
  /// Returns the server's latest description of itself.
  [[nodiscard]] server_description server() const;
  /// As `rpc_peer::close`.
  void close(std::chrono::milliseconds timeout);

 private:
  result<void> open_channel(bool is_legacy);
  result<void> open(const call_options& options);
  result<void> negotiate_revision(const call_options& options);
  /// Tries a revision without sessions, by `server/discover`. Sets `not_modern` to the reason if the server has none of these;
  /// then the caller tries `initialize`. `is_retry`: this is the second revision that is tried.
  result<void> discover(const std::string& revision, const call_options& options, std::optional<failure>& not_modern,
                        bool is_retry = false);
  /// Begins a session, by `initialize`.
  result<void> initialize(const std::string& revision, const call_options& options);
  /// As `initialize`. If the server rejects Streamable HTTP, tries HTTP+SSE.
  result<void> initialize_with_fallback(const std::string& revision, const call_options& options);
  void set_log_level(const asking::negotiated_protocol& protocol, const call_options& options);
  void finish_open(asking::negotiated_protocol protocol, server_description description);
  [[nodiscard]] channel::limits limits() const;

  const client_target target_;
  const channel_maker maker_;
  const client_options& options_;
  peer_listener& listener_;
  rpc_peer peer_;
  mutable std::mutex mutex_;  // never held across a blocking call
  std::condition_variable_any opened_;
  bool is_opening_ = false;  // one thread opens the connection; only that thread uses the members that the mutex does not guard
  bool is_open_ = false;
  std::uint64_t generation_ = 0;
  bool knows_protocol_ = false;  // `protocol_` is tried first
  bool has_channel_ = false;     // used only by the thread that opens the connection
  asking::negotiated_protocol protocol_;
  server_description server_;
};

}  // namespace hondana::outbound
