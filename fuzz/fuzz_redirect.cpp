/// Bytes at the port for the browser: what is taken for the redirect names our host, our path, and is one line.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "auth/login/browser_login.hpp"
#include "auth/login/redirect_listener.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using hondana::login::redirect_request;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto read = hondana::login::read_redirect(bytes, "127.0.0.1:4000", "b");
  require((read.type == redirect_request::kind::rejected) == (read.status != 0));
  if (read.type == redirect_request::kind::incomplete) require(size <= hondana::login::max_request_bytes);
  if (read.type == redirect_request::kind::redirect) {
    require(read.target.starts_with("/callback?"));
    require(std::all_of(read.target.begin(), read.target.end(), [](char c) { return c > ' ' && c < 0x7f; }));
    require(bytes.find("127.0.0.1:4000") != std::string_view::npos);
  }
  if (hondana::login::is_browser_safe(bytes)) require(bytes.starts_with("https://") || bytes.starts_with("http://"));
  return 0;
}
