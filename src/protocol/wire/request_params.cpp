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
constexpr std::size_t max_method_bytes = 200;

json::decoded<model::token> parse_token(const json::value& value, const std::string& path) {
  if (value.type() == json::kind::string) return model::token{std::string(*value.as_string(path))};
  const auto number = value.as_integer(path);
  if (!number) return tl::unexpected(json::member_error{path, "expected a string or an integer"});
  return model::token{*number};
}

/// Limits for the completion of a template variable. For prompts, their handlers decide.
constexpr std::size_t max_value_bytes = max_uri_bytes;
constexpr std::size_t max_context_entries = 256;

constexpr std::string_view mounts_key = "dev.hondana/mounts";
constexpr std::size_t max_mounts = 32;
constexpr std::size_t max_mount_bytes = 64;

json::decoded<void> validate_length(std::string_view value, bool is_prompt, const std::string& path) {
  if (is_prompt || value.size() <= max_value_bytes) return {};
  return tl::unexpected(json::member_error{path, "longer than " + std::to_string(max_value_bytes) + " bytes"});
}

json::decoded<model::complete> parse_complete(const json::object& params, bool has_context) {
  const auto ref = params.get_object("ref");
  if (!ref) return tl::unexpected(ref.error());
  const auto type = ref->get_string("type");
  if (!type) return tl::unexpected(type.error());
  const bool is_prompt = *type == "ref/prompt";
  if (!is_prompt && *type != "ref/resource") {
    return tl::unexpected(json::member_error{ref->path_of("type"), "expected \"ref/resource\" or \"ref/prompt\""});
  }
  HONDANA_TRY(const auto target, ref->get_string(is_prompt ? "name" : "uri"));
  HONDANA_TRY(const auto argument, params.get_object("argument"));
  HONDANA_TRY(const auto name, argument.get_string("name"));
  const auto value = argument.get_string("value");
  if (!value) return tl::unexpected(value.error());
  HONDANA_TRY(validate_length(*value, is_prompt, argument.path_of("value")));

  model::complete completion{{}, std::string(name), std::string(*value), {}, {}};
  if (is_prompt) {
    completion.prompt = std::string(target);
  } else {
    completion.template_uri = std::string(target);
  }
  if (!has_context) return completion;
  HONDANA_TRY(const auto context, params.find_object("context"));
  if (!context) return completion;
  const auto arguments = context->find_object("arguments");
  if (!arguments) return tl::unexpected(arguments.error());
  if (!*arguments) return completion;
  for (const auto& [key, argument_value] : (*arguments)->members()) {
    HONDANA_TRY(const auto text, argument_value.as_string((*arguments)->path_of(key)));
    HONDANA_TRY(validate_length(text, is_prompt, (*arguments)->path_of(key)));
    if (!is_prompt && completion.context.size() == max_context_entries) {
      return tl::unexpected(
          json::member_error{context->path_of("arguments"), "more than " + std::to_string(max_context_entries) + " members"});
    }
    completion.context.emplace_back(std::string(key), std::string(text));
  }
  return completion;
}

}  // namespace

json::decoded<uri_forms> parse_uri(std::string_view uri, const std::string& path) {
  auto canonical = canonical_uri(uri);
  if (!canonical) return tl::unexpected(json::member_error{path, canonical.error().public_text});
  // Answers repeat the client's spelling, unless it contains raw non-ASCII characters, which RFC 3986 does not allow.
  const bool is_ascii = std::all_of(uri.begin(), uri.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  std::string requested(is_ascii ? uri : std::string_view(*canonical));
  return uri_forms{std::move(*canonical), std::move(requested)};
}

json::decoded<uri_forms> require_uri(const json::object& params) {
  const auto uri = params.get_string("uri");
  if (!uri) return tl::unexpected(uri.error());
  return parse_uri(*uri, params.path_of("uri"));
}

json::decoded<std::vector<uri_forms>> parse_uris(const json::object& object, std::string_view member, std::size_t max_count,
                                                 std::string_view scope) {
  std::vector<uri_forms> uris;
  HONDANA_TRY(const auto value, object.find(member));
  if (!value) return uris;
  const auto path = object.path_of(member);
  const auto list = value->as_array(path);
  if (!list) return tl::unexpected(list.error());
  if (list->size() > max_count) {
    return tl::unexpected(json::member_error{path, "at most " + std::to_string(max_count) + " URIs " + std::string(scope)});
  }
  for (const auto& element : list->elements()) {
    const auto element_path = path + "[" + std::to_string(uris.size()) + "]";
    HONDANA_TRY(const auto text, element.as_string(element_path));
    HONDANA_TRY(auto uri, parse_uri(text, element_path));
    uris.push_back(std::move(uri));
  }
  return uris;
}

protocol_error invalid_params(std::string_view method, const json::member_error& error) {
  return {-32602, "Invalid params for " + std::string(method.substr(0, max_method_bytes)) + ": " + error.text(), {}, 200};
}

protocol_error method_not_found(std::string_view method, std::string_view revision) {
  return {-32601,
          "Method not found: " + std::string(method.substr(0, max_method_bytes)) + " (revision " + std::string(revision) + ")",
          {},
          200};
}

json::decoded<std::optional<std::string>> find_cursor(const json::object& params) {
  HONDANA_TRY(const auto cursor, params.find_string("cursor"));
  if (!cursor) return std::optional<std::string>{};
  return std::optional<std::string>{std::string(*cursor)};
}

decoded<model::operation> decode_list_templates(std::string_view method, const json::object& params) {
  return decode_list<model::list_templates>(method, params);
}

decoded<model::operation> decode_read(std::string_view method, const json::object& params) {
  auto uri = require_uri(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  return model::operation{model::read_resource{std::move(uri->canonical), std::move(uri->requested)}};
}

decoded<model::operation> decode_subscribe(std::string_view method, const json::object& params) {
  auto uri = require_uri(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  return model::operation{model::subscribe{std::move(uri->canonical), std::move(uri->requested)}};
}

decoded<model::operation> decode_unsubscribe(std::string_view method, const json::object& params) {
  auto uri = require_uri(params);
  if (!uri) return tl::unexpected(invalid_params(method, uri.error()));
  return model::operation{model::unsubscribe{std::move(uri->canonical)}};
}

decoded<model::operation> decode_complete(std::string_view method, const json::object& params) {
  auto completion = parse_complete(params, true);
  if (!completion) return tl::unexpected(invalid_params(method, completion.error()));
  return model::operation{std::move(*completion)};
}

decoded<model::operation> decode_complete_without_context(std::string_view method, const json::object& params) {
  auto completion = parse_complete(params, false);
  if (!completion) return tl::unexpected(invalid_params(method, completion.error()));
  return model::operation{std::move(*completion)};
}

decoded<model::operation> decode_cancelled(std::string_view method, const json::object& params) {
  const auto member = params.get("requestId");
  if (!member) return tl::unexpected(invalid_params(method, member.error()));
  auto id = parse_token(*member, params.path_of("requestId"));
  if (!id) return tl::unexpected(invalid_params(method, id.error()));
  const auto reason = params.find_string("reason");
  const auto text = reason && *reason ? std::string(**reason) : std::string();
  return model::operation{model::cancel{std::move(*id), text}};
}

void write_resources_capability(json::writer& writer, const model::server_info& server) {
  writer.key("resources").begin_object();
  if (server.has_subscriptions) writer.key("subscribe").boolean(true);
  if (server.announces_resources) writer.key("listChanged").boolean(true);
  writer.end_object();
}

void write_handler_capabilities(json::writer& writer, const model::server_info& server) {
  const auto write_list_capability = [&writer](std::string_view name, bool is_announced) {
    writer.key(name).begin_object();
    if (is_announced) writer.key("listChanged").boolean(true);
    writer.end_object();
  };
  if (server.has_tools) write_list_capability("tools", server.announces_tools);
  if (server.has_prompts) write_list_capability("prompts", server.announces_prompts);
  if (server.has_logging) writer.key("logging").begin_object().end_object();
}

json::decoded<std::optional<model::token>> parse_progress_token(const json::object& params) {
  HONDANA_TRY(const auto meta, params.find_object("_meta"));
  if (!meta) return std::optional<model::token>{};
  HONDANA_TRY(const auto member, meta->find("progressToken"));
  if (!member) return std::optional<model::token>{};
  auto token = parse_token(*member, meta->path_of("progressToken"));
  if (!token) return tl::unexpected(token.error());
  return std::optional<model::token>{std::move(*token)};
}

json::decoded<std::vector<std::string>> parse_mounts(const json::object& params) {
  std::vector<std::string> mounts;
  HONDANA_TRY(const auto meta, params.find_object("_meta"));
  if (!meta) return mounts;
  HONDANA_TRY(const auto member, meta->find(mounts_key));
  if (!member) return mounts;
  const auto path = meta->path_of(mounts_key);
  const auto list = member->as_array(path);
  if (!list) return tl::unexpected(list.error());
  for (const auto& element : list->elements()) {
    HONDANA_TRY(const auto id, element.as_string(path));
    if (id.size() > max_mount_bytes || mounts.size() == max_mounts) {
      return tl::unexpected(json::member_error{path, "expected at most " + std::to_string(max_mounts) + " ids of at most " +
                                                         std::to_string(max_mount_bytes) + " bytes"});
    }
    mounts.emplace_back(id);
  }
  return mounts;
}

trace_context parse_trace(const json::object& params) {
  trace_context out;
  const auto meta = params.find_object("_meta");
  if (!meta || !*meta) return out;
  const auto find_text = [&meta](std::string_view name) {
    const auto member = (*meta)->find_string(name);
    return member && *member ? **member : std::string_view();
  };
  const auto parent = find_text("traceparent");
  // Without a valid traceparent, tracestate is meaningless. Spec: W3C Trace Context 3.3.
  if (const auto parsed = tracing::parse_traceparent(parent)) {
    // Additional fields of newer versions are unbounded and are not forwarded. Spec: W3C Trace Context 4.
    out.traceparent = parent.starts_with("00") ? std::string(parent) : tracing::format_traceparent(*parsed);
    if (const auto state = find_text("tracestate"); tracing::is_tracestate(state)) out.tracestate = state;
  }
  if (const auto baggage = find_text("baggage"); tracing::is_baggage(baggage)) out.baggage = baggage;
  return out;
}

std::string_view undeclared_method(const model::operation& operation, const model::server_info& server) {
  if (!server.has_tools && std::holds_alternative<model::list_tools>(operation)) return "tools/list";
  if (!server.has_tools && std::holds_alternative<model::call_tool>(operation)) return "tools/call";
  if (!server.has_prompts && std::holds_alternative<model::list_prompts>(operation)) return "prompts/list";
  if (!server.has_prompts && std::holds_alternative<model::get_prompt>(operation)) return "prompts/get";
  if (!server.has_logging && std::holds_alternative<model::set_log_level>(operation)) return "logging/setLevel";
  return {};
}

json::decoded<void> validate_implementation(const json::object& object) {
  for (const auto* member : {"name", "version"}) {
    HONDANA_TRY(object.get_string(member));
  }
  return {};
}

void write(json::writer& writer, const complete_result& values) {
  const auto count = std::min(values.values.size(), max_completions);
  writer.key("completion").begin_object().key("values").begin_array();
  for (std::size_t i = 0; i < count; ++i) writer.string(values.values[i]);
  writer.end_array();
  if (values.total) writer.key("total").unsigned_integer(*values.total);
  writer.key("hasMore").boolean(values.has_more || count < values.values.size());
  writer.end_object();
}

protocol_error encode_common_failure(const failure& failure) {
  const auto code = [&failure] {
    switch (failure.code) {
      case errc::resource_not_found:
      case errc::access_denied:
      case errc::insufficient_scope:
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
      case errc::server_error:
      case errc::unauthorized:
      case errc::protocol_error:
        return code_source_unavailable;
      case errc::internal:
        break;
    }
    return -32603;
  };
  protocol_error out{
      code(), failure.code == errc::internal && failure.public_text.empty() ? "Internal error" : failure.public_text, {}, 200};
  if (failure.retry_after)
    json::writer(out.data).begin_object().key("retryAfterMs").integer(failure.retry_after->count()).end_object();
  // These failures share a code, so the reason is sent as data and clients need not parse the text.
  if (failure.code == errc::part_not_found || failure.code == errc::unreadable || failure.code == errc::unsupported)
    json::writer(out.data).begin_object().member("reason", name_of(failure.code)).end_object();
  // The HTTP status lets proxies and clients recognize temporary errors without reading the body.
  if (failure.code == errc::too_many_requests) out.http_status = 429;
  if (failure.code == errc::overloaded) out.http_status = 503;
  return out;
}

std::string uri_data(std::string_view uri) {
  std::string data;
  json::writer(data).begin_object().member("uri", uri).end_object();
  return data;
}

}  // namespace hondana::wire
