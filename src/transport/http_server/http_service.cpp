/// The public HTTP service.
#include <hondana/server.hpp>

#include <chrono>
#include <memory>
#include <utility>

#include "transport/http_server/limits.hpp"
#include "transport/http_server/service.hpp"

namespace hondana::inline v0 {

struct http_service::state {
  std::unique_ptr<transport::http_server::service> service;
};

http_service::http_service(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
http_service::~http_service() = default;
http_service::http_service(http_service&&) noexcept = default;
http_service& http_service::operator=(http_service&&) noexcept = default;

result<http_service> http_service::start(server& server, http_options options) {
  transport::http_server::limits limits;
  const auto set = [](auto& limit, auto wanted) {
    if (wanted != decltype(wanted){}) limit = wanted;
  };
  set(limits.body_bytes, options.max_body_bytes);
  set(limits.header_bytes, options.max_header_bytes);
  set(limits.header_time, options.header_time);
  set(limits.body_time, options.body_time);
  set(limits.keep_alive, options.keep_alive_time);
  set(limits.session_idle, options.session_idle_time);
  limits.connections = options.max_connections;
  limits.connections_per_address = options.max_connections_per_address;
  limits.sessions = options.max_sessions;
  limits.sessions_per_address = options.max_sessions_per_address;
  limits.loops = options.threads;
  HONDANA_TRY(auto started, transport::http_server::service::start(server.engine(), options, limits));
  return http_service(std::make_unique<state>(state{std::move(started)}));
}

std::uint16_t http_service::port() const noexcept { return state_->service->port(); }
std::uint16_t http_service::admin_port() const noexcept { return state_->service->admin_port(); }
result<void> http_service::reload_certificates() { return state_->service->reload_certificates(); }
void http_service::drain(std::chrono::milliseconds limit) { state_->service->drain(limit); }

}  // namespace hondana::inline v0
