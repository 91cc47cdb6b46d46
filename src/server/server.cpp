/// The public server over its engine.
#include <hondana/server.hpp>

#include <utility>

#include "server/core.hpp"

namespace hondana::inline v0 {

server::server(server_options options) : core_(std::make_shared<hondana::core>(std::move(options))) {}
server::~server() = default;
server::server(server&&) noexcept = default;
server& server::operator=(server&&) noexcept = default;

result<void> server::add(std::shared_ptr<provider> source) { return core_->add(std::move(source)); }

result<void> server::replace(server_options options, std::vector<std::shared_ptr<provider>> sources) {
  return core_->replace(std::move(options), std::move(sources));
}

const std::shared_ptr<core>& server::engine() const noexcept { return core_; }

}  // namespace hondana::inline v0
