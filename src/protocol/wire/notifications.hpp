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

[[nodiscard]] constexpr std::string_view method_of(model::change::change_kind kind) noexcept {
  switch (kind) {
    case model::change::change_kind::resources:
      return "notifications/resources/list_changed";
    case model::change::change_kind::tools:
      return "notifications/tools/list_changed";
    case model::change::change_kind::prompts:
      return "notifications/prompts/list_changed";
    case model::change::change_kind::entry:
      return "notifications/resources/content_changed";
    case model::change::change_kind::content:
      break;
  }
  return "notifications/resources/updated";
}

/// Writes the `resource` of a `content_changed`. If the resource no longer exists, it has no version, and its URI as name.
inline void write_entry(json::writer& writer, const model::change& change, entry_members members) {
  members.versioned = true;
  resource entry;
  if (change.current) {
    entry = *change.current;
  } else {
    entry.name = change.uri;
    entry.title = change.title;
  }
  entry.uri = change.uri;
  writer.key("resource");
  write(writer, entry, members);
}

/// The complete notification. `write_meta` writes additional members of the revision.
/// Spec: server/resources#list-changed-notification and #subscriptions, all revisions; docs/versioned-resources.md.
template <class Write>
[[nodiscard]] std::string encode_change(const model::change& change, bool with_title, const entry_members& members,
                                        Write&& write_meta) {
  std::string text;
  text.reserve(200 + change.uri.size() + change.title.size());
  json::writer writer(text);
  writer.begin_object().member("jsonrpc", "2.0").member("method", method_of(change.kind)).key("params").begin_object();
  write_meta(writer);
  if (change.kind == model::change::change_kind::content) {
    writer.member("uri", change.uri);
    if (with_title) writer.member_if("title", change.title);
  }
  if (change.kind == model::change::change_kind::entry) write_entry(writer, change, members);
  writer.end_object().end_object();
  return text;
}

/// The protocol's name of a level, as in RFC 5424. Static.
[[nodiscard]] std::string_view name_of(log_level level) noexcept;
/// Returns nothing for a name that is not one of the eight levels.
[[nodiscard]] std::optional<log_level> parse_level(std::string_view name) noexcept;

[[nodiscard]] decoded<model::operation> decode_set_level(std::string_view method, const json::object& params);
/// The log level that a stateless request asks for, if any. `meta`: its `_meta`.
[[nodiscard]] json::decoded<std::optional<log_level>> requested_level(const json::object& meta);

/// A `notifications/message`. `logger` may be empty.
[[nodiscard]] std::string log_notification(log_level level, std::string_view logger, const value& data);

}  // namespace hondana::wire
