/// The connection to one server: made, opened in a revision that both speak, and reopened when lost.
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

/// Makes a channel. `is_older`: HTTP+SSE instead of Streamable HTTP. The listener outlives the channel.
using channel_maker = std::function<result<std::unique_ptr<channel::channel>>(
    const client_target& to, bool is_older, channel::listener& heard, const channel::limits& most,
    const std::function<void(std::string_view)>& log)>;

/// To child processes, over HTTP and within this process.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_channel(const client_target& to, bool is_older,
                                                                     channel::listener& heard, const channel::limits& most,
                                                                     const std::function<void(std::string_view)>& log);

/// Threads: any.
class link {
 public:
  /// `heard` and `options` outlive it.
  link(client_target target, const client_options& options, hearer& heard, channel_maker make);

  /// What is spoken, once the connection is open. Blocks while it is opened. Errors: those of `client::connect`.
  [[nodiscard]] result<asking::speech> ready(const call_options& how);
  /// The connection has been lost, or what was found out of the server does not hold any more (`is_stranger`).
  void lost(bool is_stranger);
  [[nodiscard]] conversation& talk() noexcept { return talk_; }
  /// Which connection or session this is: another number after each that was lost.
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
  mutable std::mutex mutex_;  // never held while something blocks
  std::condition_variable_any opened_;
  bool is_opening_ = false;  // by one thread, which alone uses what is not guarded
  bool is_open_ = false;
  std::uint64_t connection_ = 0;
  bool is_known_ = false;  // what `speech_` says is worth trying first
  bool is_made_ = false;   // only of who opens it
  asking::speech speech_;
  server_description server_;
};

}  // namespace hondana::outbound
