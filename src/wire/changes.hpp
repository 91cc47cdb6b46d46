/// Notifications about changes, as all revisions share them.
#pragma once

#include <string>
#include <string_view>

#include "json/writer.hpp"
#include "model/change.hpp"

namespace hondana::wire {

[[nodiscard]] constexpr std::string_view method_of(model::change::what kind) noexcept {
  switch (kind) {
    case model::change::what::resources:
      return "notifications/resources/list_changed";
    case model::change::what::tools:
      return "notifications/tools/list_changed";
    case model::change::what::prompts:
      return "notifications/prompts/list_changed";
    case model::change::what::content:
      break;
  }
  return "notifications/resources/updated";
}

/// The whole message; `write_meta` adds the members its era has besides.
/// Spec: server/resources#list-changed-notification and #subscriptions, all revisions.
template <class Write>
[[nodiscard]] std::string encode_change(const model::change& what, bool with_title, Write&& write_meta) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("jsonrpc", "2.0").member("method", method_of(what.kind)).key("params").begin_object();
  write_meta(to);
  if (what.kind == model::change::what::content) {
    to.member("uri", what.uri);
    if (with_title) to.member_if("title", what.title);
  }
  to.end_object().end_object();
  return text;
}

}  // namespace hondana::wire
