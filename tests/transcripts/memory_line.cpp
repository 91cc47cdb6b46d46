/// A line inside the process.
#include "transcripts/line.hpp"

#include <hondana/server.hpp>

#include "transcripts/servers.hpp"

namespace transcripts {
namespace {

class memory_line final : public line {
 public:
  explicit memory_line(hondana::server&& server) : server_(std::move(server)), peer_(server_) {}

  tl::expected<void, std::string> send(const sending& what, time_point) override {
    peer_.send(what.bytes);
    return {};
  }
  std::optional<std::string> receive(time_point deadline) override { return peer_.receive(deadline); }
  tl::expected<void, std::string> send_end(std::string_view, time_point) override {
    return tl::unexpected(std::string("input in memory has no end"));
  }
  tl::expected<std::vector<std::string>, std::string> finish(time_point) override {
    std::vector<std::string> rest;
    while (auto more = peer_.receive(std::chrono::steady_clock::now())) rest.push_back(std::move(*more));
    return rest;
  }

 private:
  hondana::server server_;
  hondana::memory_peer peer_;
};

}  // namespace

tl::expected<std::unique_ptr<line>, std::string> open_memory_line(const std::string& server) {
  auto made = make_server(server);
  if (!made) return tl::unexpected(made.error());
  return std::make_unique<memory_line>(std::move(*made));
}

}  // namespace transcripts
