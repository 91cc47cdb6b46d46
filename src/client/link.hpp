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

#include "client/conversation.hpp"
#include "client/retry.hpp"
#include "protocol/channel/channel.hpp"
#include "protocol/wire/asking/requests.hpp"

namespace hondana::outbound {

/// Makes a channel. `is_older`: HTTP+SSE instead of Streamable HTTP. `heard` must outlive the channel.
using channel_maker = std::function<result<std::unique_ptr<channel::channel>>(
    const client_target& to, bool is_older, channel::listener& heard, const channel::limits& most,
    const std::function<void(std::string_view)>& log)>;

/// The default `channel_maker`: child processes, HTTP and servers in this process.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_channel(const client_target& to, bool is_older,
                                                                     channel::listener& heard, const channel::limits& most,
                                                                     const std::function<void(std::string_view)>& log);

/// The connection of one client. Threads: any.
class link {
 public:
  /// `heard` and `options` must outlive this object.
  link(client_target target, const client_options& options, hearer& heard, channel_maker make);

  /// Returns the revision in use. Opens the connection if necessary, and blocks meanwhile. Errors: those of `client::connect`.
  [[nodiscard]] result<asking::speech> ready(const call_options& how);
  /// Marks the connection as lost. `is_stranger`: the server's revision must be found again, too.
  void lost(bool is_stranger);
  [[nodiscard]] conversation& talk() noexcept { return talk_; }
  /// Number of the connection or session; it changes each time one is lost.
  [[nodiscard]] std::uint64_t connection() const;
  [[nodiscard]] server_description server() const;
  void close(std::chrono::milliseconds time);

 private:
  result<void> use(bool is_older);
  result<void> open(const call_options& how);
  result<void> find_era(const call_options& how);
  result<void> discover(const std::string& revision, const call_options& how, std::optional<failure>& not_modern,
                        bool is_again = false);
  result<void> initialize(const std::string& revision, const call_options& how);
  result<void> initialize_somehow(const std::string& revision, const call_options& how);
  void set_level(const asking::speech& in, const call_options& how);
  void settle(asking::speech in, server_description what);
  [[nodiscard]] channel::limits limits() const;

  const client_target target_;
  const channel_maker make_;
  const client_options& options_;
  hearer& heard_;
  conversation talk_;
  mutable std::mutex mutex_;  // never held across a blocking call
  std::condition_variable_any opened_;
  bool is_opening_ = false;  // one thread opens the connection; only that thread uses the members that the mutex does not guard
  bool is_open_ = false;
  std::uint64_t connection_ = 0;
  bool is_known_ = false;  // `speech_` is worth trying first
  bool is_made_ = false;   // used only by the thread that opens the connection
  asking::speech speech_;
  server_description server_;
};

}  // namespace hondana::outbound
