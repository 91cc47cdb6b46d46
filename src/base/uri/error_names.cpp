/// The names of error codes, for logs.

#include <hondana/error.hpp>

namespace hondana::inline v0 {

std::string_view name_of(errc code) noexcept {
  switch (code) {
    case errc::resource_not_found:
      return "resource_not_found";
    case errc::access_denied:
      return "access_denied";
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::fetch_directly:
      return "fetch_directly";
    case errc::response_too_large:
      return "response_too_large";
    case errc::content_changed:
      return "content_changed";
    case errc::timed_out:
      return "timed_out";
    case errc::cancelled:
      return "cancelled";
    case errc::overloaded:
      return "overloaded";
    case errc::source_unavailable:
      return "source_unavailable";
    case errc::unsupported:
      return "unsupported";
    case errc::internal:
      return "internal";
    case errc::server_error:
      return "server_error";
    case errc::unauthorized:
      return "unauthorized";
    case errc::protocol_error:
      return "protocol_error";
    case errc::insufficient_scope:
      return "insufficient_scope";
    case errc::unreadable:
      return "unreadable";
    case errc::part_not_found:
      return "part_not_found";
    case errc::too_many_requests:
      return "too_many_requests";
  }
  return "unknown";
}

}  // namespace hondana::inline v0
