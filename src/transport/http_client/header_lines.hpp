/// Lines of a request's head, as libcurl takes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "transport/http_client/curl_library.hpp"

namespace hondana::transport::http_client {

struct frees_header_lines {
  void operator()(curl_slist* list) const noexcept { curl().slist_free_all(list); }
};
using header_lines = std::unique_ptr<curl_slist, frees_header_lines>;

/// Null when there is no memory.
[[nodiscard]] inline header_lines header_lines_of(const std::vector<std::string>& lines) {
  // Without this a long body waits a second for a "100 Continue" that few servers send.
  header_lines out(curl().slist_append(nullptr, "Expect:"));
  for (const auto& line : lines) {
    curl_slist* const longer = out ? curl().slist_append(out.get(), line.c_str()) : nullptr;
    if (longer == nullptr) return {};
    static_cast<void>(out.release());
    out.reset(longer);
  }
  return out;
}

}  // namespace hondana::transport::http_client
