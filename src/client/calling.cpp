/// Tools, with the headers they want, and requests of any kind.
#include <utility>

#include "base/value/take.hpp"
#include "client/narrowing.hpp"
#include "protocol/wire/asking/errors.hpp"

namespace hondana::outbound {
namespace {

/// What of the arguments is repeated in headers. Spec: 2026-07-28 basic/transports/streamable-http#client-behavior.
std::vector<std::pair<std::string, std::string>> repeated(const std::vector<model::mirrored_argument>& mirrored,
                                                          const value& arguments) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& one : mirrored) {
    const auto* given = model::argument_at(arguments, one.path);
    if (given == nullptr) continue;
    std::string text;
    if (const auto* plain = given->as_string()) {
      text = *plain;
    } else if (const auto flag = given->as_boolean()) {
      text = *flag ? "true" : "false";
    } else if (const auto number = given->as_integer()) {
      text = std::to_string(*number);
    } else {
      continue;  // the server will say what it thinks of such an argument
    }
    out.push_back(asking::argument_header(one.header, text));
  }
  return out;
}

}  // namespace

result<called> call_tool(engine& of, std::string_view name, const value& arguments, const call_options& how) {
  if (!arguments.is_null() && arguments.as_object() == nullptr)
    return fail(errc::invalid_argument, "the arguments of a tool must be an object");
  HONDANA_TRY(of.need(&server_description::has_tools, "tools", how));
  for (bool is_again = false;; is_again = true) {
    request what{.asked = asking::call_tool(name, arguments)};
    if (of.has_headers()) {
      HONDANA_TRY(const auto known, of.find_headers(name, is_again, how));
      if (known) what.headers = repeated(*known, arguments);
    }
    auto got = of.call(std::move(what), how);
    if (got) return asking::called_of(got->got.result);
    // The tool may want other headers than when it was listed.
    const auto& why = got.error();
    if (is_again || !asking::wants_other_headers(why)) return tl::unexpected(why);
  }
}

result<value> any_request(engine& of, std::string_view method, const value& params, const call_options& how) {
  if (!params.is_null() && params.as_object() == nullptr)
    return fail(errc::invalid_argument, "params must be an object or null");
  HONDANA_TRY(auto got, of.call({.asked = asking::any(method, params)}, how));
  auto taken = take_value(got.got.result);
  if (!taken) return fail(errc::broken_protocol, taken.error().public_text);
  return taken;
}

}  // namespace hondana::outbound
