/// Writes resources, templates, contents and content blocks as JSON, with the members that a revision has.
#include "protocol/wire/entry_json.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/bytes/media_type.hpp"
#include "base/json/base64.hpp"
#include "base/json/utf8.hpp"
#include "protocol/wire/wire_constants.hpp"

namespace hondana::wire {
namespace {

void write_property(json::writer& writer, const std::string& name, const metadata_value& value) {
  writer.key(name);
  std::visit(
      [&writer](const auto& scalar) {
        using type = std::decay_t<decltype(scalar)>;
        if constexpr (std::is_same_v<type, bool>) {
          writer.boolean(scalar);
        } else if constexpr (std::is_same_v<type, std::int64_t>) {
          writer.integer(scalar);
        } else if constexpr (std::is_same_v<type, double>) {
          writer.number(scalar);
        } else {
          writer.string(scalar);
        }
      },
      value);
}

/// Whether a metadata entry may be written to `_meta`.
/// Names there need a prefix, and the protocol's own prefix is reserved. The version has a member of its own. Spec:
/// basic#_meta, from 2025-06-18.
bool is_meta_property(const std::pair<std::string, metadata_value>& property) {
  return property.first.find('/') != std::string::npos && property.first != version_key &&
         !property.first.starts_with("io.modelcontextprotocol/");
}

/// `active_type`: the media type as which a browser would execute the content, according to its type; empty: none.
void write_meta(json::writer& writer, std::string_view version, const metadata& metadata, std::string_view active_type = {}) {
  const bool has_metadata = std::any_of(metadata.begin(), metadata.end(), is_meta_property);
  if (version.empty() && !has_metadata && active_type.empty()) return;
  writer.key("_meta").begin_object();
  writer.member_if(version_key, version).member_if(bytes::active_content_key, active_type);
  for (const auto& property : metadata) {
    const bool is_reported = !active_type.empty() && property.first == bytes::active_content_key;
    if (is_meta_property(property) && !is_reported) write_property(writer, property.first, property.second);
  }
  writer.end_object();
}

template <class Entry>
void write_common_members(json::writer& writer, const Entry& entry, const entry_members& members) {
  writer.member("name", entry.name);
  if (members.title) writer.member_if("title", entry.title);
  writer.member_if("description", entry.description).member_if("mimeType", entry.mime_type);
  write_annotations(writer, entry.annotations, members);
  write_icons(writer, entry.icons, members);
}

void write_versioned(json::writer& writer, const resource& entry, const entry_members& members) {
  if (!members.title) writer.member_if("title", entry.title);
  writer.member_if("kind", entry.kind).member_if("version", entry.version);
  if (entry.metadata.empty()) return;
  writer.key("metadata").begin_object();
  for (const auto& [name, value] : entry.metadata) write_property(writer, name, value);
  writer.end_object();
}

}  // namespace

void write_icons(json::writer& writer, const std::vector<icon>& icons, const entry_members& members) {
  if (!members.icons || icons.empty()) return;
  writer.key("icons").begin_array();
  for (const auto& icon : icons) {
    writer.begin_object().member("src", icon.src).member_if("mimeType", icon.mime_type);
    if (!icon.sizes.empty()) {
      writer.key("sizes").begin_array();
      for (const auto& size : icon.sizes) writer.string(size);
      writer.end_array();
    }
    writer.member_if("theme", icon.theme).end_object();
  }
  writer.end_array();
}

void write_annotations(json::writer& writer, const annotations& hints, const entry_members& members) {
  const bool has_time = hints.last_modified && members.last_modified;
  if (hints.audience.empty() && !hints.priority && !has_time) return;
  writer.key("annotations").begin_object();
  if (!hints.audience.empty()) {
    writer.key("audience").begin_array();
    for (const auto audience_role : hints.audience) writer.string(audience_role == chat_role::user ? "user" : "assistant");
    writer.end_array();
  }
  if (hints.priority) writer.key("priority").number(*hints.priority);
  if (has_time) writer.member("lastModified", format_iso_8601(*hints.last_modified));
  writer.end_object();
}

void write(json::writer& writer, const resource& entry, const entry_members& members) {
  writer.begin_object().member("uri", entry.uri);
  write_common_members(writer, entry, members);
  if (entry.size) writer.key("size").unsigned_integer(*entry.size);
  if (members.versioned) write_versioned(writer, entry, members);
  if (members.meta)
    write_meta(writer, entry.version, entry.metadata, media_type_of(bytes::active_content_by_type(entry.mime_type)));
  writer.end_object();
}

void write(json::writer& writer, const resource_template& entry, const entry_members& members) {
  writer.begin_object().member("uriTemplate", entry.uri_template);
  write_common_members(writer, entry, members);
  writer.end_object();
}

void write_content_metadata(json::writer& writer, const metadata& metadata, const entry_members& members,
                            std::string_view active_type) {
  if (members.meta) write_meta(writer, {}, metadata, active_type);
}

void append_contents(rpc::body& out, bytes::prepared_read_result reading,
                     const std::shared_ptr<executor::executor>& reader_executor, const entry_members& members) {
  out.text() += "\"contents\":[";
  bool is_first = true;
  for (auto& content : reading.contents) {
    auto& text = out.text();
    if (!is_first) text += ',';
    json::writer item(text);
    item.begin_object().member("uri", content.uri);
    if (members.name_in_contents) item.member_if("name", content.name).member_if("title", content.title);
    item.member_if("mimeType", content.mime_type);
    if (members.meta) write_meta(item, is_first ? std::string_view(reading.version) : std::string_view(), content.metadata);
    text += content.is_text ? ",\"text\":\"" : ",\"blob\":\"";
    is_first = false;
    out.append(std::move(content), reader_executor);
    out.text() += "\"}";
  }
  out.text() += ']';
}

namespace {

struct block_writer {
  json::writer& writer;
  const entry_members& members;

  void operator()(const text_block& block) const { text(block.text, block.annotations); }
  void operator()(const image_block& block) const { bytes("image", block.bytes, block.mime_type, block.annotations); }
  void operator()(const audio_block& block) const {
    if (members.audio_and_hints) return bytes("audio", block.bytes, block.mime_type, block.annotations);
    text("[" + std::to_string(block.bytes.size()) + " bytes of audio (" + block.mime_type +
             ") left out: this protocol revision has none]",
         block.annotations);
  }
  void operator()(const link_block& block) const {
    if (!members.structure) return text(block.entry.name + ": " + block.entry.uri, block.entry.annotations);
    // A link is a list entry with a preceding type member.
    std::string entry;
    json::writer inner(entry);
    write(inner, block.entry, members);
    writer.raw("{\"type\":\"resource_link\"," + entry.substr(1));
  }
  void operator()(const embedded_block& block) const {
    writer.begin_object().member("type", "resource").key("resource").begin_object().member("uri", block.uri);
    writer.member_if("mimeType", block.mime_type);
    write_content_metadata(writer, block.metadata, members,
                           bytes::media_type_of(bytes::detect_active_content(block.mime_type, block.bytes)));
    const bool is_text = block.kind == content_kind::text ||
                         (block.kind == content_kind::detect && json::is_utf8(block.bytes) && !json::has_nul(block.bytes));
    if (is_text) {
      writer.member("text", block.bytes);
    } else {
      writer.member("blob", encoded(block.bytes));
    }
    writer.end_object();
    write_annotations(writer, block.annotations, members);
    writer.end_object();
  }

 private:
  static std::string encoded(std::string_view raw) {
    std::string out;
    out.reserve(json::base64_size(raw.size()));
    json::append_base64(out, raw);
    return out;
  }
  void text(std::string_view value, const annotations& hints) const {
    writer.begin_object().member("type", "text").member("text", value);
    write_annotations(writer, hints, members);
    writer.end_object();
  }
  void bytes(std::string_view type, std::string_view raw, std::string_view mime_type, const annotations& hints) const {
    writer.begin_object().member("type", type).member("data", encoded(raw)).member("mimeType", mime_type);
    write_annotations(writer, hints, members);
    writer.end_object();
  }
};

}  // namespace

void write(json::writer& writer, const content_block& block, const entry_members& members) {
  std::visit(block_writer{writer, members}, block);
}

void write(json::writer& writer, const std::vector<content_block>& blocks, const entry_members& members) {
  writer.begin_array();
  for (const auto& block : blocks) write(writer, block, members);
  writer.end_array();
}

void write(json::writer& writer, const message& message, const entry_members& members) {
  writer.begin_object().member("role", message.role == chat_role::user ? "user" : "assistant").key("content");
  write(writer, message.content, members);
  writer.end_object();
}

}  // namespace hondana::wire
