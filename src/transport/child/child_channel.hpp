/// A channel to a server that runs as a child process.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"

namespace hondana::transport {

/// Makes a channel of kind "stdio": one message per line. The program is started at once, so that a missing program is an
/// immediate error. After it has ended, the next `send` starts it again. A program that repeatedly ends within five seconds is
/// not restarted for a while, which `on_connection_lost` reports.
///
/// The first line of a run that is not a message is logged. The eleventh ends the run, and the number of such lines is logged
/// then. If a message has no id in its first 64 KiB, its content goes to a sink as it arrives only if a single call is pending.
/// Otherwise it is held back until the id arrives: up to 1 MiB in memory, more in an unnamed file. A program that does not read
/// is stopped. That is the case if it has closed its input and a message waits, or if it leaves 4 MiB of answers to its own
/// requests unread.
///
/// `listener` must outlive the channel; `log` may be empty. Errors: those of `program::start`; source_unavailable if no thread
/// can be started. Spec: basic/transports/stdio, all revisions.
[[nodiscard]] result<std::unique_ptr<channel::channel>> start_child(const child_target& target,
                                                                    channel::channel_listener& listener,
                                                                    const channel::limits& limits,
                                                                    std::function<void(std::string_view)> log);

}  // namespace hondana::transport
