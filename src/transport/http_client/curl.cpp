/// Loads libcurl on first use; its handles and header lists.
#include "transport/http_client/curl.hpp"

#include <stdexcept>

namespace hondana::transport::http_client {
result<const curl_library*> loaded_curl() {
  // The soname has not changed since 2006.
  return libraries::load_once<curl_library>({"libcurl.so.4", "HTTP requests require", "libcurl4"});
}

const curl_library& curl() {
  const auto table = loaded_curl();
  if (!table) throw std::logic_error("libcurl is used before it is loaded");
  return **table;
}

result<multi_handle> make_multi_handle() {
  HONDANA_TRY(const auto library, loaded_curl());
  // Never undone, because other parts of the process may use libcurl as well. Not tried again.
  static const bool is_ready = library->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  multi_handle out(is_ready ? library->multi_init() : nullptr);
  if (!out) return fail(errc::source_unavailable, "libcurl cannot be started: out of memory or file descriptors");
  return out;
}

}  // namespace hondana::transport::http_client
