/// What libcurl's errors mean where their own texts mislead.
#pragma once

#include <string_view>

#include "transport/http_client/curl_library.hpp"

namespace hondana::transport::http_client {

/// A transfer that ended before its head was complete did so because a header line is longer than libcurl takes (100 KiB),
/// which older versions call a lack of memory.
[[nodiscard]] bool has_too_long_line(CURL* handle, CURLcode how) noexcept;

/// The other side answered a TLS greeting with what is no TLS. `why`: libcurl's text.
[[nodiscard]] bool speaks_no_tls(CURLcode how, std::string_view why) noexcept;

}  // namespace hondana::transport::http_client
