/// Which channel leads to a target.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include <hondana/client_target.hpp>
#include <hondana/error.hpp>

#include "protocol/channel/channel.hpp"

namespace hondana::outbound {

/// Makes a channel. `is_older`: HTTP+SSE instead of Streamable HTTP. The listener outlives the channel.
using channel_maker = std::function<result<std::unique_ptr<channel::channel>>(
    const client_target& to, bool is_older, channel::listener& heard, const channel::limits& most,
    const std::function<void(std::string_view)>& log)>;

/// To child processes, over HTTP and within this process.
[[nodiscard]] result<std::unique_ptr<channel::channel>> make_channel(const client_target& to, bool is_older,
                                                                     channel::listener& heard, const channel::limits& most,
                                                                     const std::function<void(std::string_view)>& log);

}  // namespace hondana::outbound
