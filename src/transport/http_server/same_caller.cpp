/// Comparing callers.
#include "transport/http_server/same_caller.hpp"

#include <string_view>

namespace hondana::transport::http_server {

bool is_same_caller(const caller& owner, const caller& who) {
  const auto client_of = [](const caller& one) { return one.proof ? std::string_view(one.proof->client) : std::string_view(); };
  return owner.identity == who.identity && client_of(owner) == client_of(who);
}

bool has_one_view(const caller& one, const caller& other) {
  if (!one.view || !other.view) return one.view == other.view;
  return one.view->id() == other.view->id();
}

}  // namespace hondana::transport::http_server
