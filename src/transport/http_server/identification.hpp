/// How a service finds out who asks; shared by all its connections.
#pragma once

#include <memory>

#include <hondana/authenticator.hpp>

#include "base/executor/pool.hpp"
#include "transport/http_server/forwarded.hpp"

namespace hondana::transport::http_server {

/// Immutable. Threads: any.
struct identification {
  std::shared_ptr<authenticator> asked;  ///< Null: everybody is let in.
  trusted_proxies proxies;
  std::shared_ptr<executor::pool> pool;  ///< Where others are asked, bounded. Set together with `asked`.
};

}  // namespace hondana::transport::http_server
