/// Opens the connection to one server in a revision that both support, and reopens it when it is lost.
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

/// Makes a channel. `is_legacy`: HTTP+SSE instead of Streamable HTTP. `listener` must outlive the channel.
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

  /// Returns the revision in use. Opens the connection if necessary, and blocks meanwhile. Errors: those of `client::connect`.
  [[nodiscard]] result<asking::negotiated_protocol> ensure_open(const call_options& options);
  /// Marks the connection as lost. `forgets_revision`: the server's revision must be found again, too.
  void mark_lost(bool forgets_revision);
  [[nodiscard]] rpc_peer& peer() noexcept { return peer_; }
  /// Number of the connection or session; it changes each time one is lost.
  [[nodiscard]] std::uint64_t generation() const;
  [[nodiscard]] server_description server() const;
  void close(std::chrono::milliseconds timeout);

 private:
  result<void> open_channel(bool is_legacy);
  result<void> open(const call_options& options);
  result<void> negotiate_revision(const call_options& options);
  result<void> discover(const std::string& revision, const call_options& options, std::optional<failure>& not_modern,
                        bool is_retry = false);
  result<void> initialize(const std::string& revision, const call_options& options);
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
  bool knows_protocol_ = false;  // `protocol_` is worth trying first
  bool has_channel_ = false;     // used only by the thread that opens the connection
  asking::negotiated_protocol protocol_;
  server_description server_;
};

}  // namespace hondana::outbound
