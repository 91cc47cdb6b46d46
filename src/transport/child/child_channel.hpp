/// A channel to a server that runs as a child process.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"

namespace hondana::transport {

/// "stdio": one message a line. The program is started at once, so that one that is not there is known at once, and anew by the
/// `send` after it has ended; one that keeps ending within five seconds is left alone for a while, and `broken` says so.
///
/// The first line of a run that is no message is told to `log`, the eleventh is the end of it, and how many there were is told
/// then. Content whose message names no id in its first 64 KiB goes to its sink as it comes only while no other call is under
/// way; otherwise it is held back until its id comes, beyond a MiB in a nameless file. A program that takes nothing is ended:
/// when it has closed its input and something is to be sent, and when it does not read 4 MiB of answers to its own questions.
///
/// `hears` outlives the channel; `log` may be empty. Errors: as `program::start`; source_unavailable when no thread can be had.
/// Spec: basic/transports/stdio, all revisions.
[[nodiscard]] result<std::unique_ptr<channel::channel>> start_child(const child_target& target, channel::listener& hears,
                                                                    const channel::limits& most,
                                                                    std::function<void(std::string_view)> log);

}  // namespace hondana::transport
