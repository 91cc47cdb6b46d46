/// Calls, entries and results of tools.
#include "protocol/wire/tools.hpp"

#include <string>
#include <utility>

#include "base/value/take.hpp"
#include "protocol/wire/blocks.hpp"
#include "protocol/wire/inputs.hpp"
#include "protocol/wire/params.hpp"

namespace hondana::wire {
namespace {

void write_hints(json::writer& to, const tool_annotations& hints) {
  std::string members;
  json::writer inner(members);
  inner.begin_object().member_if("title", hints.title);
  const auto flag = [&inner](std::string_view name, const std::optional<bool>& set) {
    if (set) inner.key(name).boolean(*set);
  };
  flag("readOnlyHint", hints.readOnlyHint);
  flag("destructiveHint", hints.destructiveHint);
  flag("idempotentHint", hints.idempotentHint);
  flag("openWorldHint", hints.openWorldHint);
  inner.end_object();
  if (members != "{}") to.key("annotations").raw(members);
}

/// Before 2026-07-28 structured content is an object, and so is what its schema describes.
bool may_show_schema(const value& schema, const entry_members& members) {
  if (!members.structure) return false;
  const auto type = schema.string_at("type");
  return members.any_structure || (type && *type == "object");
}

}  // namespace

decoded<model::operation> decode_list_tools(std::string_view method, const json::object& params) {
  return decode_list<model::list_tools>(method, params);
}

decoded<model::operation> decode_call_tool(std::string_view method, const json::object& params) {
  const auto name = params.get_string("name");
  if (!name) return tl::unexpected(invalid_params(method, name.error()));
  const auto arguments = params.find_object("arguments");
  if (!arguments) return tl::unexpected(invalid_params(method, arguments.error()));
  model::call_tool what{std::string(*name), value::object{}, {}};
  if (*arguments) {
    auto taken = take_value(**params.find("arguments"));
    if (!taken) return tl::unexpected(invalid_params(method, {params.path_of("arguments"), taken.error().public_text}));
    what.arguments = std::move(*taken);
  }
  auto round = round_of(params);
  if (!round) return tl::unexpected(invalid_params(method, round.error()));
  what.round = std::move(*round);
  return model::operation{std::move(what)};
}

void write(json::writer& to, const tool& entry, const entry_members& members) {
  to.begin_object().member("name", entry.name);
  if (members.title) to.member_if("title", entry.title);
  to.member_if("description", entry.description);
  to.key("inputSchema").raw(entry.inputSchema.to_text());
  if (entry.outputSchema && may_show_schema(*entry.outputSchema, members)) {
    to.key("outputSchema").raw(entry.outputSchema->to_text());
  }
  if (members.audio_and_hints) write_hints(to, entry.annotations);
  write_icons(to, entry.icons, members);
  if (members.meta && !entry.meta.is_null()) to.key("_meta").raw(entry.meta.to_text());
  to.end_object();
}

void write(json::writer& to, const tool_result& result, const entry_members& members) {
  to.key("content");
  write(to, result.content, members);
  if (result.structuredContent && members.structure &&
      (members.any_structure || result.structuredContent->as_object() != nullptr)) {
    to.key("structuredContent").raw(result.structuredContent->to_text());
  }
  if (result.isError) to.key("isError").boolean(true);
}

}  // namespace hondana::wire
