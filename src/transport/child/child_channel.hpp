/// A channel to a server that runs as a child process.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"

namespace hondana::transport {

/// Starts the program, and makes a channel of kind "stdio" to it: one message per line. After the program has ended, the next
/// `send` starts it again. If it repeatedly ends within five seconds of its start, the next start is delayed up to 5 s; sending
/// before then calls `on_connection_lost`.
///
/// The first line of a run that is not a message is logged, and the number of further ones at its end; the eleventh ends the
/// run. If a message has no id in its first 64 KiB, its content goes to a sink as it arrives only if a single call is pending.
/// Otherwise it is held back until the id arrives: up to 1 MiB in memory, more in an unnamed file. A program that does not read
/// is stopped: if it has closed its input and a message waits, or if it leaves 4 MiB of answers to its own requests unread.
///
/// `listener` must outlive the channel; `log` may be null. Errors: those of `process::program::start`; source_unavailable if no
/// thread can be started. Spec: basic/transports/stdio, all revisions.
[[nodiscard]] result<std::unique_ptr<channel::channel>> start_child(const child_target& target,
                                                                    channel::channel_listener& listener,
                                                                    const channel::limits& limits,
                                                                    std::function<void(std::string_view)> log);

}  // namespace hondana::transport
