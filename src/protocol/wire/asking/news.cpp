/// Notifications of servers.
#include "protocol/wire/asking/news.hpp"

#include <optional>
#include <string_view>
#include <utility>

#include "base/value/take.hpp"
#include "protocol/wire/asking/members.hpp"
#include "protocol/wire/asking/results.hpp"
#include "protocol/wire/logging.hpp"
#include "protocol/wire/names.hpp"

namespace hondana::wire::asking {
namespace {

std::uint64_t id_member(const json::object& of, std::string_view name) {
  const auto id = integer_member(of, name);
  return id && *id > 0 ? static_cast<std::uint64_t>(*id) : 0;
}

std::optional<change> changed_list(std::string_view method) {
  change out;
  if (method == "notifications/resources/list_changed") {
    out.kind = change_kind::resource_list;
  } else if (method == "notifications/tools/list_changed") {
    out.kind = change_kind::tool_list;
  } else if (method == "notifications/prompts/list_changed") {
    out.kind = change_kind::prompt_list;
  } else {
    return {};
  }
  return out;
}

std::optional<change> changed_content(const json::object& params) {
  change out;
  out.uri = text_member(params, "uri");
  out.title = text_member(params, "title");
  return out.uri.empty() ? std::nullopt : std::optional(std::move(out));
}

std::optional<change> changed_entry(const json::object& params) {
  auto entry = resource_of(params);
  if (!entry) return {};
  change out;
  out.uri = entry->uri;
  out.title = entry->title;
  out.entry = std::move(*entry);
  return out;
}

stream_begun begun(const json::object& params) {
  stream_begun out;
  const auto honoured = object_member(params, "notifications");
  if (!honoured) return out;
  auto& these = out.honoured;
  these.resource_list = flag_member(*honoured, "resourcesListChanged");
  these.tool_list = flag_member(*honoured, "toolsListChanged");
  these.prompt_list = flag_member(*honoured, "promptsListChanged");
  for (const auto name : {std::string_view("resourceSubscriptions"), entries_member}) {
    for (const auto& uri : elements_of(*honoured, name)) {
      if (const auto text = uri.as_string(name)) these.uris.emplace_back(*text);
    }
  }
  these.entries = !elements_of(*honoured, entries_member).empty();
  return out;
}

log_message logged(const json::object& params) {
  log_message out;
  out.level = level_named(text_member(params, "level")).value_or(log_level::info);
  out.logger = text_member(params, "logger");
  if (const auto member = params.find("data"); member && *member) {
    if (auto taken = take_value(**member)) out.data = std::move(*taken);
  }
  return out;
}

call_progress progressed(const json::object& params) {
  call_progress out;
  out.call = id_member(params, "progressToken");
  out.now.done = number_member(params, "progress").value_or(0);
  out.now.total = number_member(params, "total");
  out.now.message = text_member(params, "message");
  return out;
}

}  // namespace

news news_of(const rpc::notification& from) {
  news out;
  const auto& [method, params] = from;
  if (const auto meta = object_member(params, "_meta")) out.stream = id_member(*meta, stream_key);
  const auto tell = [&out](std::optional<change> what) {
    if (what) out.what = std::move(*what);
  };
  if (method == "notifications/progress") {
    out.what = progressed(params);
  } else if (method == "notifications/message") {
    out.what = logged(params);
  } else if (method == "notifications/resources/updated") {
    tell(changed_content(params));
  } else if (method == "notifications/resources/content_changed") {
    tell(changed_entry(params));
  } else if (method == "notifications/subscriptions/acknowledged") {
    out.what = begun(params);
  } else if (method == "notifications/cancelled") {
    out.stream = id_member(params, "requestId");
    out.what = stream_ended();
  } else {
    tell(changed_list(method));
  }
  return out;
}

}  // namespace hondana::wire::asking
