/// A channel to a server in this process.
#pragma once

#include <memory>

#include <hondana/error.hpp>
#include <hondana/server.hpp>

#include "protocol/channel/channel.hpp"

namespace hondana::transport {

/// "memory": what is sent is worked on by the server's pools, or at once where its providers never block. `to` and `hears`
/// outlive the channel. Content goes to its sink in pieces where the server has it in pieces. Errors: source_unavailable when
/// no thread can be had.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_memory_channel(hondana::server& to, channel::listener& hears,
                                                                            const channel::limits& most);

}  // namespace hondana::transport
