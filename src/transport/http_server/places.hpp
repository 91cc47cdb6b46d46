/// Where a service listens, as `http_options` says, and whether that is allowed.
#pragma once

#include <memory>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/server.hpp>

#include "transport/http_server/listening_socket.hpp"
#include "transport/http_server/site.hpp"

namespace hondana::transport::http_server {

/// A socket, and what is answered there.
struct place {
  listening_socket socket;
  std::shared_ptr<const site> at;
};

/// Opens all places; the first is for messages. Inherited descriptors are taken over, also on failure.
///
/// An address that other machines reach needs `hosts`, by which it may be called, and an
/// authenticator or `without_authentication`. Errors:
/// invalid_argument (malformed or not allowed), source_unavailable (cannot be bound).
[[nodiscard]] result<std::vector<place>> open_places(const http_options& options);

}  // namespace hondana::transport::http_server
