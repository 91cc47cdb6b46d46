/// What proxies say of clients: whatever comes, an address is one, hops are few, and an untrusted peer is believed nothing.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "transport/http_server/forwarded.hpp"
#include "transport/http_server/peer_address.hpp"

namespace {

namespace http = hondana::transport::http_server;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_address(const std::string& text) {
  if (text == "unknown") return true;
  if (text.starts_with('_')) return text.size() <= 64;
  return http::peer_address::parse(text, 0).has_value();
}

void check(const std::optional<std::vector<http::forwarded_hop>>& hops) {
  if (!hops) return;
  require(!hops->empty() && hops->size() <= http::max_hops);
  for (const auto& one : *hops) require(is_address(one.address));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(http::parse_forwarded(bytes));
  check(http::parse_forwarded_for(bytes));

  // A request whose fields are the lines of the input.
  http::request_head head;
  for (auto rest = bytes; !rest.empty();) {
    const auto end = rest.find('\n');
    const auto line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    const auto colon = std::min(line.find(':'), line.size());
    head.fields.push_back({line.substr(0, colon), line.substr(std::min(colon + 1, line.size()))});
  }
  static const auto proxies = http::trusted_proxies::make({"10.0.0.0/8", "::1", "unix"});
  for (const bool is_secure : {false, true}) {
    const auto stranger = http::find_request_origin(head, "192.0.2.1", is_secure, *proxies);
    require(stranger.address == "192.0.2.1" && stranger.is_secure == is_secure && !stranger.is_behind_proxy);
    const auto client = http::find_request_origin(head, "10.0.0.1", is_secure, *proxies);
    require(client.is_behind_proxy && is_address(client.address));
  }
  if (const auto some = http::trusted_proxies::make({std::string(bytes)})) (void)some->trusts("192.0.2.1");
  return 0;
}
