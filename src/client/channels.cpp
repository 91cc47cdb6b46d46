/// The channels there are.
#include "client/channels.hpp"

#include "transport/child/child_channel.hpp"
#include "transport/http_client/http_channel.hpp"
#include "transport/memory/memory_channel.hpp"

namespace hondana::outbound {

result<std::unique_ptr<channel::channel>> make_channel(const client_target& to, bool is_older, channel::listener& heard,
                                                       const channel::limits& most,
                                                       const std::function<void(std::string_view)>& log) {
  if (const auto* http = std::get_if<http_target>(&to))
    return is_older ? transport::http_client::make_http_sse(*http, heard, most, log)
                    : transport::http_client::make_http(*http, heard, most, log);
  if (const auto* here = std::get_if<memory_target>(&to)) {
    if (here->server == nullptr) return fail(errc::invalid_argument, "memory_target has no server");
    return transport::make_memory_channel(*here->server, heard, most);
  }
  return transport::start_child(std::get<child_target>(to), heard, most, log);
}

}  // namespace hondana::outbound
