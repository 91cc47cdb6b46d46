/// Entries and contents as JSON.
#include "wire/entries.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "wire/names.hpp"

namespace hondana::wire {
namespace {

void write_version(json::writer& to, std::string_view version) {
  to.key("_meta").begin_object().member(version_key, version).end_object();
}

template <class Entry>
void write_described(json::writer& to, const Entry& entry, const entry_members& members) {
  to.member("name", entry.name);
  if (members.title) to.member_if("title", entry.title);
  to.member_if("description", entry.description).member_if("mimeType", entry.mimeType);
  write_annotations(to, entry.annotations, members);
  write_icons(to, entry.icons, members);
}

void write_versioned(json::writer& to, const resource& entry, const entry_members& members) {
  if (!members.title) to.member_if("title", entry.title);
  to.member_if("kind", entry.kind).member_if("version", entry.version);
  if (entry.metadata.empty()) return;
  to.key("metadata").begin_object();
  for (const auto& [name, held] : entry.metadata) {
    to.key(name);
    std::visit(
        [&to](const auto& scalar) {
          using type = std::decay_t<decltype(scalar)>;
          if constexpr (std::is_same_v<type, bool>) {
            to.boolean(scalar);
          } else if constexpr (std::is_same_v<type, std::int64_t>) {
            to.integer(scalar);
          } else if constexpr (std::is_same_v<type, double>) {
            to.number(scalar);
          } else {
            to.string(scalar);
          }
        },
        held);
  }
  to.end_object();
}

}  // namespace

void write_icons(json::writer& to, const std::vector<icon>& icons, const entry_members& members) {
  if (!members.icons || icons.empty()) return;
  to.key("icons").begin_array();
  for (const auto& one : icons) {
    to.begin_object().member("src", one.src).member_if("mimeType", one.mimeType);
    if (!one.sizes.empty()) {
      to.key("sizes").begin_array();
      for (const auto& size : one.sizes) to.string(size);
      to.end_array();
    }
    to.member_if("theme", one.theme).end_object();
  }
  to.end_array();
}

void write_annotations(json::writer& to, const annotations& hints, const entry_members& members) {
  const bool has_time = hints.lastModified && members.last_modified;
  if (hints.audience.empty() && !hints.priority && !has_time) return;
  to.key("annotations").begin_object();
  if (!hints.audience.empty()) {
    to.key("audience").begin_array();
    for (const auto who : hints.audience) to.string(who == role::user ? "user" : "assistant");
    to.end_array();
  }
  if (hints.priority) to.key("priority").number(*hints.priority);
  if (has_time) to.member("lastModified", iso_8601(*hints.lastModified));
  to.end_object();
}

void write(json::writer& to, const resource& entry, const entry_members& members) {
  to.begin_object().member("uri", entry.uri);
  write_described(to, entry, members);
  if (entry.size) to.key("size").unsigned_integer(*entry.size);
  if (members.versioned) write_versioned(to, entry, members);
  if (members.meta && !entry.version.empty()) write_version(to, entry.version);
  to.end_object();
}

void write(json::writer& to, const resource_template& entry, const entry_members& members) {
  to.begin_object().member("uriTemplate", entry.uriTemplate);
  write_described(to, entry, members);
  to.end_object();
}

void append_contents(rpc::body& to, bytes::prepared_reading reading, const std::shared_ptr<work::lane>& home,
                     const entry_members& members) {
  to.text() += "\"contents\":[";
  bool is_first = true;
  for (auto& content : reading.contents) {
    auto& text = to.text();
    if (!is_first) text += ',';
    json::writer item(text);
    item.begin_object().member("uri", content.uri);
    if (members.name_in_contents) item.member_if("name", content.name).member_if("title", content.title);
    item.member_if("mimeType", content.mimeType);
    if (is_first && members.meta && !reading.version.empty()) write_version(item, reading.version);
    text += content.is_text ? ",\"text\":\"" : ",\"blob\":\"";
    is_first = false;
    to.append(std::move(content), home);
    to.text() += "\"}";
  }
  to.text() += ']';
}

}  // namespace hondana::wire
