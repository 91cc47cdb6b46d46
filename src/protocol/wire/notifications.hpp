/// Writes notifications about changes and log messages, and reads log levels. For all revisions.
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

/// The method of the notification about a change.
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

/// Writes the member `resource` of a notification about a change of the kind `entry`.
/// If the resource no longer exists, its entry has no version, and its URI as name.
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

/// Writes the complete notification about a change. `write_meta` gets the `json::writer` and writes `_meta`, if any.
/// `with_title`: also the title, for a change of the kind `content`.
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

/// The protocol's name of a level, as in RFC 5424. The result is static.
[[nodiscard]] std::string_view name_of(log_level level) noexcept;
/// The level with this name; nullopt if it is not one of the eight.
[[nodiscard]] std::optional<log_level> parse_level(std::string_view name) noexcept;

/// Decodes `logging/setLevel`.
[[nodiscard]] decoded<model::operation> decode_set_level(std::string_view method, const json::object& params);
/// Reads the level from which on a stateless request wants log messages; nullopt: it wants none. `meta`: its `_meta`.
[[nodiscard]] json::decoded<std::optional<log_level>> requested_level(const json::object& meta);

/// Writes a complete `notifications/message`. `logger` may be empty.
[[nodiscard]] std::string log_notification(log_level level, std::string_view logger, const value& data);

}  // namespace hondana::wire
