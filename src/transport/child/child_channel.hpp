/// A channel to a server that runs as a child process.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "channel/channel.hpp"

namespace hondana::transport {

/// "child": one message a line. The program is started at once, so that one that is not there is known at once, and anew by the
/// `send` after it has ended; one that keeps ending within a second is left alone for a while, and `broken` says so.
///
/// Lines that are no messages are told to `log`, the eleventh of one run is the end of it. Content whose message names no id in
/// its first 64 KiB goes to its sink as it comes only while no other call is under way; otherwise it is kept whole first, up to
/// `limits::message_bytes`.
///
/// `hears` outlives the channel; `log` may be empty. Errors: as `program::start`; source_unavailable when no thread can be had.
/// Spec: basic/transports/stdio, all revisions.
[[nodiscard]] result<std::unique_ptr<channel::channel>> start_child(const child_target& target, channel::listener& hears,
                                                                    const channel::limits& most,
                                                                    std::function<void(std::string_view)> log);

}  // namespace hondana::transport
