/// Templates of variables, and completing their names.
#include <algorithm>
#include <utility>

#include <hondana/completion.hpp>

#include "sources/env/env_provider.hpp"

namespace hondana::env {
namespace {

constexpr std::string_view name_expression = "{name}";

}  // namespace

std::vector<resource_template> env_provider::templates() const {
  std::vector<resource_template> all;
  const auto add = [&all](const std::string& prefix, const std::string& name, const std::string& origin) {
    resource_template one;
    one.uriTemplate = prefix + std::string(name_expression);
    one.name = name;
    one.title = "A variable of " + origin;
    one.description = "The value of one variable of " + origin + ", with secrets masked.";
    one.mimeType = "text/plain";
    all.push_back(std::move(one));
  };
  if (process_) add(process_->prefix(), "env", "the server's process");
  for (const auto& one : *files_) add(one->prefix(), "env-" + one->slug(), one->origin());
  return all;
}

result<complete_result> env_provider::complete(const complete_request& request) {
  const bool is_known = request.argument == "name" && request.uriTemplate.ends_with(name_expression);
  if (!is_known) return complete_result{};
  const auto prefix = request.uriTemplate.substr(0, request.uriTemplate.size() - name_expression.size());
  const auto of = shelf_of(prefix, request);
  if (!of) return tl::unexpected(of.error());
  if (of->prefix != prefix || !of->now) return complete_result{};
  std::vector<std::string> names;
  for (const auto& [uri, one] : of->now->all()) {
    // Values are texts; what is none is found in the list.
    if (one.label != one.name) continue;
    if (!request.who.view || request.who.view->may_see(uri)) names.push_back(one.name);
  }
  return complete_from(request.value, names);
}

}  // namespace hondana::env
