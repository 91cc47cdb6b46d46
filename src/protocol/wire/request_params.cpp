/// Decodes the parameters that all revisions share, and encodes the errors they cause.
#include "protocol/wire/request_params.hpp"

#include <algorithm>
#include <utility>

#include "base/tracing/tracing.hpp"

namespace hondana::wire {
namespace {

// hondana's codes are outside of JSON-RPC's reserved range and equal the corresponding HTTP statuses.
constexpr int code_too_large = 413;
constexpr int code_content_changed = 409;
constexpr int code_too_many_requests = 429;
constexpr int code_cancelled = 499;
constexpr int code_source_unavailable = 502;
constexpr int code_overloaded = 503;
constexpr int code_timed_out = 504;

constexpr std::size_t max_completions = 100;

// Method names in errors are truncated to this length.
constexpr std::size_t shown_method = 200;

json::decoded<model::token> token_of(const json::value& value, const std::string& path) {
  if (value.type() == json::kind::string) return model::token{std::string(*value.as_string(path))};
  const auto number = value.as_integer(path);
  if (!number) return tl::unexpected(json::bad_member{path, "expected a string or an integer"});
  return model::token{*number};
}

/// Limits for the completion of a template variable. For prompts, their handlers decide.
constexpr std::size_t longest_value = max_uri_bytes;
constexpr std::size_t most_context = 256;

constexpr std::string_view mounts_key = "dev.hondana/mounts";
constexpr std::size_t most_mounts = 32;
constexpr std::size_t longest_mount = 64;

json::decoded<void> check_length(std::string_view value, bool is_prompt, const std::string& path) {
  if (is_prompt || value.size() <= longest_value) return {};
  return tl::unexpected(json::bad_member{path, "longer than " + std::to_string(longest_value) + " bytes"});
}

json::decoded<model::complete> complete_of(const json::object& params, bool has_context) {
  const auto ref = params.get_object("ref");
  if (!ref) return tl::unexpected(ref.error());
  const auto type = ref->get_string("type");
  if (!type) return tl::unexpected(type.error());
  const bool is_prompt = *type == "ref/prompt";
  if (!is_prompt && *type != "ref/resource") {
    return tl::unexpected(json::bad_member{ref->path_of("type"), "expected \"ref/resource\" or \"ref/prompt\""});
  }
  HONDANA_TRY(const auto target, ref->get_string(is_prompt ? "name" : "uri"));
  HONDANA_TRY(const auto argument, params.get_object("argument"));
  HONDANA_TRY(const auto name, argument.get_string("name"));
  const auto value = argument.get_string("value");
  if (!value) return tl::unexpected(value.error());
  HONDANA_TRY(check_length(*value, is_prompt, argument.path_of("value")));

  model::complete what{{}, std::string(name), std::string(*value), {}, {}};
  if (is_prompt) {
    what.prompt = std::string(target);
  } else {
    what.template_uri = std::string(target);
  }
  if (!has_context) return what;
  HONDANA_TRY(const auto context, params.find_object("context"));
  if (!context) return what;
  const auto arguments = context->find_object("arguments");
  if (!arguments) return tl::unexpected(arguments.error());
  if (!*arguments) return what;
  for (const auto& [key, chosen] : (*arguments)->members()) {
    HONDANA_TRY(const auto text, chosen.as_string((*arguments)->path_of(key)));
    HONDANA_TRY(check_length(text, is_prompt, (*arguments)->path_of(key)));
    if (!is_prompt && what.context.size() == most_context) {
      return tl::unexpected(
          json::bad_member{context->path_of("arguments"), "more than " + std::to_string(most_context) + " members"});
    }
    what.context.emplace_back(std::string(key), std::string(text));
  }
  return what;
}

}  // namespace

json::decoded<spelled_uri> spell_uri(std::string_view uri, const std::string& path) {
  auto canonical = canonical_uri(uri);
  if (!canonical) return tl::unexpected(json::bad_member{path, canonical.error().public_text});
  // Answers repeat the client's spelling, unless it contains raw non-ASCII characters, which RFC 3986 does not allow.
  const bool is_ascii = std::all_of(uri.begin(), uri.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  std::string asked(is_ascii ? uri : std::string_view(*canonical));
  return spelled_uri{std::move(*canonical), std::move(asked)};
}

json::decoded<spelled_uri> uri_of(const json::object& params) {
  const auto uri = params.get_string("uri");
  if (!uri) return tl::unexpected(uri.error());
  return spell_uri(*uri, params.path_of("uri"));
}

json::decoded<std::vector<spelled_uri>> spell_uris(const json::object& from, std::string_view member, std::size_t most,
                                                   std::string_view whole) {
  std::vector<spelled_uri> uris;
  HONDANA_TRY(const auto found, from.find(member));
  if (!found) return uris;
  const auto path = from.path_of(member);
  const auto list = found->as_array(path);
  if (!list) return tl::unexpected(list.error());
  if (list->size() > most) {
    return tl::unexpected(json::bad_member{path, "at most " + std::to_string(most) + " URIs " + std::string(whole)});
  }
  for (const auto& element : list->elements()) {
    const auto place = path + "[" + std::to_string(uris.size()) + "]";
    HONDANA_TRY(const auto text, element.as_string(place));
    HONDANA_TRY(auto uri, spell_uri(text, place));
    uris.push_back(std::move(uri));
  }
  return uris;
}

protocol_error invalid_params(std::string_view method, const json::bad_member& what) {
  return {-32602, "Invalid params for " + std::string(method.substr(0, shown_method)) + ": " + what.text(), {}, 200};
}

protocol_error method_not_found(std::string_view method, std::string_view revision) {
  return {-32601,
          "Method not found: " + std::string(method.substr(0, shown_method)) + " (revision " + std::string(revision) + ")",
          {},
          200};
}

json::decoded<std::optional<std::string>> cursor_of(const json::object& params) {
  HONDANA_TRY(const auto cursor, params.find_string("cursor"));
  if (!cursor) return std::optional<std::string>{};
  return std::optional<std::string>{std::string(*cursor)};
}

decoded<model::operation> decode_list_templates(std::string_view method, const json::object& params) {
  return decode_list<model::list_templates>(method, params);
}

decoded<model::operation> decode_read(std::string_view method, const json::object& params) {
  auto uri = uri_of(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  return model::operation{model::read_resource{std::move(uri->canonical), std::move(uri->asked)}};
}

decoded<model::operation> decode_subscribe(std::string_view method, const json::object& params) {
  auto uri = uri_of(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  return model::operation{model::subscribe{std::move(uri->canonical), std::move(uri->asked)}};
}

decoded<model::operation> decode_unsubscribe(std::string_view method, const json::object& params) {
  auto uri = uri_of(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  return model::operation{model::unsubscribe{std::move(uri->canonical)}};
}

decoded<model::operation> decode_complete(std::string_view method, const json::object& params) {
  auto what = complete_of(params, true);
  if (!what) return tl::unexpected(invalid_params(method, what.error()));
  return model::operation{std::move(*what)};
}

decoded<model::operation> decode_complete_alone(std::string_view method, const json::object& params) {
  auto what = complete_of(params, false);
  if (!what) return tl::unexpected(invalid_params(method, what.error()));
  return model::operation{std::move(*what)};
}

decoded<model::operation> decode_cancelled(std::string_view method, const json::object& params) {
  const auto member = params.get("requestId");
  if (!member) return tl::unexpected(invalid_params(method, member.error()));
  auto id = token_of(*member, params.path_of("requestId"));
  if (!id) return tl::unexpected(invalid_params(method, id.error()));
  const auto reason = params.find_string("reason");
  const auto text = reason && *reason ? std::string(**reason) : std::string();
  return model::operation{model::cancel{std::move(*id), text}};
}

void write_resources_capability(json::writer& to, const model::self_description& self) {
  to.key("resources").begin_object();
  if (self.has_subscriptions) to.key("subscribe").boolean(true);
  if (self.announces_resources) to.key("listChanged").boolean(true);
  to.end_object();
}

void write_handler_capabilities(json::writer& to, const model::self_description& self) {
  const auto lists = [&to](std::string_view name, bool is_announced) {
    to.key(name).begin_object();
    if (is_announced) to.key("listChanged").boolean(true);
    to.end_object();
  };
  if (self.has_tools) lists("tools", self.announces_tools);
  if (self.has_prompts) lists("prompts", self.announces_prompts);
  if (self.has_logging) to.key("logging").begin_object().end_object();
}

json::decoded<std::optional<model::token>> progress_token(const json::object& params) {
  HONDANA_TRY(const auto meta, params.find_object("_meta"));
  if (!meta) return std::optional<model::token>{};
  HONDANA_TRY(const auto member, meta->find("progressToken"));
  if (!member) return std::optional<model::token>{};
  auto token = token_of(*member, meta->path_of("progressToken"));
  if (!token) return tl::unexpected(token.error());
  return std::optional<model::token>{std::move(*token)};
}

json::decoded<std::vector<std::string>> mounts_of(const json::object& params) {
  std::vector<std::string> mounts;
  HONDANA_TRY(const auto meta, params.find_object("_meta"));
  if (!meta) return mounts;
  HONDANA_TRY(const auto member, meta->find(mounts_key));
  if (!member) return mounts;
  const auto path = meta->path_of(mounts_key);
  const auto all = member->as_array(path);
  if (!all) return tl::unexpected(all.error());
  for (const auto& one : all->elements()) {
    HONDANA_TRY(const auto id, one.as_string(path));
    if (id.size() > longest_mount || mounts.size() == most_mounts) {
      return tl::unexpected(json::bad_member{path, "expected at most " + std::to_string(most_mounts) + " ids of at most " +
                                                       std::to_string(longest_mount) + " bytes"});
    }
    mounts.emplace_back(id);
  }
  return mounts;
}

trace_context trace_of(const json::object& params) {
  trace_context out;
  const auto meta = params.find_object("_meta");
  if (!meta || !*meta) return out;
  const auto text_of = [&meta](std::string_view name) {
    const auto member = (*meta)->find_string(name);
    return member && *member ? **member : std::string_view();
  };
  const auto parent = text_of("traceparent");
  // Without a valid traceparent, tracestate is meaningless. Spec: W3C Trace Context 3.3.
  if (const auto known = tracing::parse(parent)) {
    // Additional fields of newer versions are unbounded and are not forwarded. Spec: W3C Trace Context 4.
    out.traceparent = parent.starts_with("00") ? std::string(parent) : tracing::print(*known);
    if (const auto state = text_of("tracestate"); tracing::is_state(state)) out.tracestate = state;
  }
  if (const auto baggage = text_of("baggage"); tracing::is_baggage(baggage)) out.baggage = baggage;
  return out;
}

std::string_view undeclared_method(const model::operation& what, const model::self_description& self) {
  if (!self.has_tools && std::holds_alternative<model::list_tools>(what)) return "tools/list";
  if (!self.has_tools && std::holds_alternative<model::call_tool>(what)) return "tools/call";
  if (!self.has_prompts && std::holds_alternative<model::list_prompts>(what)) return "prompts/list";
  if (!self.has_prompts && std::holds_alternative<model::get_prompt>(what)) return "prompts/get";
  if (!self.has_logging && std::holds_alternative<model::set_log_level>(what)) return "logging/setLevel";
  return {};
}

json::decoded<void> check_implementation(const json::object& from) {
  for (const auto* member : {"name", "version"}) {
    HONDANA_TRY(from.get_string(member));
  }
  return {};
}

void write(json::writer& to, const complete_result& values) {
  const auto sent = std::min(values.values.size(), max_completions);
  to.key("completion").begin_object().key("values").begin_array();
  for (std::size_t i = 0; i < sent; ++i) to.string(values.values[i]);
  to.end_array();
  if (values.total) to.key("total").unsigned_integer(*values.total);
  to.key("hasMore").boolean(values.has_more || sent < values.values.size());
  to.end_object();
}

protocol_error encode_plain_failure(const failure& why) {
  const auto number = [&why] {
    switch (why.code) {
      case errc::resource_not_found:
      case errc::access_denied:
      case errc::scope_missing:
      case errc::invalid_argument:
      case errc::fetch_directly:
      case errc::part_not_found:
      case errc::unreadable:
      case errc::unsupported:
        return -32602;
      case errc::response_too_large:
        return code_too_large;
      case errc::content_changed:
        return code_content_changed;
      case errc::timed_out:
        return code_timed_out;
      case errc::cancelled:
        return code_cancelled;
      case errc::overloaded:
        return code_overloaded;
      case errc::too_many_requests:
        return code_too_many_requests;
      case errc::source_unavailable:
      case errc::refused:
      case errc::unauthorized:
      case errc::broken_protocol:
        return code_source_unavailable;
      case errc::internal:
        break;
    }
    return -32603;
  };
  protocol_error out{
      number(), why.code == errc::internal && why.public_text.empty() ? "Internal error" : why.public_text, {}, 200};
  if (why.retry) json::writer(out.data).begin_object().key("retryAfterMs").integer(why.retry->count()).end_object();
  // These failures share a code, so the reason is sent as data and clients need not parse the text.
  if (why.code == errc::part_not_found || why.code == errc::unreadable || why.code == errc::unsupported)
    json::writer(out.data).begin_object().member("reason", name_of(why.code)).end_object();
  // The HTTP status lets proxies and clients recognize temporary errors without reading the body.
  if (why.code == errc::too_many_requests) out.http_status = 429;
  if (why.code == errc::overloaded) out.http_status = 503;
  return out;
}

std::string uri_data(std::string_view uri) {
  std::string data;
  json::writer(data).begin_object().member("uri", uri).end_object();
  return data;
}

}  // namespace hondana::wire
