/// A request as a client makes it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "protocol/channel/channel.hpp"
#include "protocol/wire/asking/requests.hpp"

namespace hondana::outbound {

namespace asking = wire::asking;

struct request {
  asking::request asked;
  std::vector<std::pair<std::string, std::string>> headers{};  ///< Besides those that every request has.
  channel::content_sink content{};
  bool is_kept = false;  ///< The answer may be kept for the time it says.
};

}  // namespace hondana::outbound
