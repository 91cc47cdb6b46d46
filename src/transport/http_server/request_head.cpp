/// The head of an HTTP request as plain data.
#include "transport/http_server/request_head.hpp"

#include "base/ascii/characters.hpp"
#include "transport/http_server/field_values.hpp"

namespace hondana::transport::http_server {

request_head::occurrences request_head::find(std::string_view name) const noexcept {
  occurrences out;
  for (const auto& one : fields) {
    if (!ascii::is_same(one.name, name)) continue;
    if (out.count++ == 0) out.first = one.value;
  }
  return out;
}

std::optional<std::string> request_head::all_of(std::string_view name) const {
  std::optional<std::string> out;
  for (const auto& one : fields) {
    if (!ascii::is_same(one.name, name)) continue;
    if (!out) {
      out.emplace(one.value);
    } else {
      *out += ',';
      *out += one.value;
    }
  }
  return out;
}

}  // namespace hondana::transport::http_server
