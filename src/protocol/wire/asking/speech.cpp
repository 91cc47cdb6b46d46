/// Spelling messages in a revision.
#include "protocol/wire/asking/speech.hpp"

#include <algorithm>

#include "base/json/base64.hpp"
#include "base/value/take.hpp"
#include "protocol/wire/asking/members.hpp"
#include "protocol/wire/logging.hpp"
#include "protocol/wire/names.hpp"

namespace hondana::wire::asking {
namespace {

void write_elicitation(json::writer& to, const client_handlers& can, const speech& in) {
  if (!can.form && !can.link) return;
  if (!in.is_modern && in.revision < "2025-06-18") return;
  if (!can.form && in.revision < "2025-11-25") return;
  to.key("elicitation").begin_object();
  if (in.revision >= "2025-11-25") {
    if (can.form) to.key("form").begin_object().end_object();
    if (can.link) to.key("url").begin_object().end_object();
  }
  to.end_object();
}

void write_sampling(json::writer& to, const client_handlers& can, const speech& in) {
  if (!can.sampling) return;
  to.key("sampling").begin_object();
  if (in.revision >= "2025-11-25") {
    if (can.sampling_tools) to.key("tools").begin_object().end_object();
    if (can.sampling_context) to.key("context").begin_object().end_object();
  }
  to.end_object();
}

/// Spec: 2026-07-28 basic/transports/streamable-http#value-encoding.
std::string header_spelling(std::string_view value) {
  const bool is_plain = std::all_of(value.begin(), value.end(), [](char c) { return c >= ' ' && c <= '~'; }) &&
                        !value.starts_with(' ') && !value.ends_with(' ') &&
                        !(value.starts_with("=?base64?") && value.ends_with("?="));
  if (is_plain) return std::string(value);
  std::string out = "=?base64?";
  json::append_base64(out, value);
  return out + "?=";
}

}  // namespace

void write_capabilities(json::writer& to, const client_options& options, const speech& in) {
  const auto& can = options.handlers;
  to.begin_object();
  if (can.roots) {
    to.key("roots").begin_object();
    if (!in.is_modern) to.key("listChanged").boolean(true);
    to.end_object();
  }
  write_sampling(to, can, in);
  write_elicitation(to, can, in);
  to.key(in.is_modern ? "extensions" : "experimental").begin_object();
  to.key(versions_extension).begin_object().end_object();
  if (in.is_modern) to.key(skills_extension).begin_object().end_object();
  to.end_object().end_object();
}

void write_self(json::writer& to, const client_options& options, const speech& in) {
  to.begin_object().member("name", options.name).member("version", options.version);
  if (in.revision >= "2025-06-18") to.member_if("title", options.title);
  to.end_object();
}

std::string spelled(const request& what, std::uint64_t id, const speech& in, const client_options& options, bool reports,
                    const trace_context& trace) {
  std::string out;
  out.reserve(256 + what.params.size());
  json::writer to(out);
  to.begin_object().member("jsonrpc", "2.0").key("id").unsigned_integer(id).member("method", what.method);
  const auto more = options.meta ? options.meta() : value::object();
  const bool has_meta = in.is_modern || reports || !more.empty() || !trace.traceparent.empty() || !trace.baggage.empty();
  if (has_meta || !what.params.empty()) {
    // The members are JSON already; the writer sees one raw value.
    std::string params = "{" + what.params;
    if (has_meta) {
      std::string meta;
      json::writer inner(meta);
      inner.begin_object();
      if (reports) inner.key("progressToken").unsigned_integer(id);
      if (in.is_modern) {
        inner.member(revision_key, in.revision);
        inner.key(client_key);
        write_self(inner, options, in);
        inner.key(capabilities_key);
        write_capabilities(inner, options, in);
        if (options.least_log_level) inner.member(level_key, name_of(*options.least_log_level));
      }
      // A state without its trace means nothing.
      if (!trace.traceparent.empty()) {
        inner.member("traceparent", trace.traceparent).member_if("tracestate", trace.tracestate);
      }
      inner.member_if("baggage", trace.baggage);
      const auto is_said = [&trace](std::string_view name) {
        return ((name == "traceparent" || name == "tracestate") && !trace.traceparent.empty()) ||
               (name == "baggage" && !trace.baggage.empty());
      };
      for (const auto& [name, one] : more)
        if (!is_said(name)) inner.key(name).raw(one.to_text());
      inner.end_object();
      params += (what.params.empty() ? "\"_meta\":" : ",\"_meta\":") + meta;
    }
    params += '}';
    to.key("params").raw(params);
  }
  to.end_object();
  return out;
}

std::vector<std::pair<std::string, std::string>> headers_of(const request& what, const speech& in) {
  if (!in.is_modern) return {};
  std::vector<std::pair<std::string, std::string>> out{{"MCP-Protocol-Version", in.revision}, {"Mcp-Method", what.method}};
  if (what.repeats_target) out.emplace_back("Mcp-Name", header_spelling(what.target));
  return out;
}

std::vector<std::pair<std::string, std::string>> session_fields(const speech& in) {
  if (in.is_modern || in.revision < "2025-06-18") return {};
  return {{"MCP-Protocol-Version", in.revision}};
}

std::pair<std::string, std::string> argument_header(std::string_view name, std::string_view value) {
  return {"Mcp-Param-" + std::string(name), header_spelling(value)};
}

server_description description_of(const json::object& result, const speech& in) {
  server_description out;
  out.revision = in.revision;
  out.is_modern = in.is_modern;
  out.instructions = text_member(result, "instructions");
  auto self = object_member(result, "serverInfo");
  if (in.is_modern) {
    if (const auto meta = object_member(result, "_meta")) {
      if (const auto inner = object_member(*meta, server_key)) self = inner;
    }
    for (const auto& one : elements_of(result, "supportedVersions")) {
      if (const auto text = one.as_string("supportedVersions")) out.revisions.emplace_back(*text);
    }
  }
  if (self) {
    out.name = text_member(*self, "name");
    out.title = text_member(*self, "title");
    out.version = text_member(*self, "version");
  }
  const auto capabilities = object_member(result, "capabilities");
  if (!capabilities) return out;
  if (const auto member = result.find("capabilities"); member && *member) {
    if (auto taken = take_value(**member)) out.capabilities = std::move(*taken);
  }
  if (const auto resources = object_member(*capabilities, "resources")) {
    out.has_resources = true;
    out.has_subscriptions = flag_member(*resources, "subscribe");
    out.has_list_changes = flag_member(*resources, "listChanged");
  }
  out.has_tools = object_member(*capabilities, "tools").has_value();
  out.has_prompts = object_member(*capabilities, "prompts").has_value();
  // Before 2025-03-26 there was completion and no way to say so.
  out.has_completion = object_member(*capabilities, "completions").has_value() || in.revision == "2024-11-05";
  const auto extensions = object_member(*capabilities, in.is_modern ? "extensions" : "experimental");
  if (!extensions) return out;
  out.has_versions = object_member(*extensions, versions_extension).has_value();
  if (const auto skills = object_member(*extensions, skills_extension)) {
    out.has_skills = true;
    out.has_folders = flag_member(*skills, "directoryRead");
  }
  return out;
}

}  // namespace hondana::wire::asking
