/// Notifications about changes, log messages and log levels, which all revisions share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <hondana/input.hpp>
#include <hondana/resource.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/operations.hpp"
#include "protocol/wire/codec.hpp"
#include "protocol/wire/entry_json.hpp"

namespace hondana::wire {

[[nodiscard]] constexpr std::string_view method_of(model::change::what kind) noexcept {
  switch (kind) {
    case model::change::what::resources:
      return "notifications/resources/list_changed";
    case model::change::what::tools:
      return "notifications/tools/list_changed";
    case model::change::what::prompts:
      return "notifications/prompts/list_changed";
    case model::change::what::entry:
      return "notifications/resources/content_changed";
    case model::change::what::content:
      break;
  }
  return "notifications/resources/updated";
}

/// Writes the `resource` of a `content_changed`. If the resource no longer exists, it has no version, and its URI as name.
inline void write_entry(json::writer& to, const model::change& what, entry_members members) {
  members.versioned = true;
  resource entry;
  if (what.now) {
    entry = *what.now;
  } else {
    entry.name = what.uri;
    entry.title = what.title;
  }
  entry.uri = what.uri;
  to.key("resource");
  write(to, entry, members);
}

/// The complete notification. `write_meta` writes additional members of the revision.
/// Spec: server/resources#list-changed-notification and #subscriptions, all revisions; docs/versioned-resources.md.
template <class Write>
[[nodiscard]] std::string encode_change(const model::change& what, bool with_title, const entry_members& members,
                                        Write&& write_meta) {
  std::string text;
  text.reserve(200 + what.uri.size() + what.title.size());
  json::writer to(text);
  to.begin_object().member("jsonrpc", "2.0").member("method", method_of(what.kind)).key("params").begin_object();
  write_meta(to);
  if (what.kind == model::change::what::content) {
    to.member("uri", what.uri);
    if (with_title) to.member_if("title", what.title);
  }
  if (what.kind == model::change::what::entry) write_entry(to, what, members);
  to.end_object().end_object();
  return text;
}

/// The protocol's name of a level, as in RFC 5424. Static.
[[nodiscard]] std::string_view name_of(log_level level) noexcept;
/// Returns nothing for a name that is not one of the eight levels.
[[nodiscard]] std::optional<log_level> level_named(std::string_view name) noexcept;

[[nodiscard]] decoded<model::operation> decode_set_level(std::string_view method, const json::object& params);
/// The log level that a stateless request asks for, if any. `meta`: its `_meta`.
[[nodiscard]] json::decoded<std::optional<log_level>> wanted_level(const json::object& meta);

/// A `notifications/message`. `logger` may be empty.
[[nodiscard]] std::string log_notification(log_level level, std::string_view logger, const value& data);

}  // namespace hondana::wire
