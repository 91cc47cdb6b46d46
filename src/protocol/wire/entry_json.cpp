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

void write_fact(json::writer& to, const std::string& name, const metadata_value& held) {
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

/// Whether a metadata entry may be written to `_meta`.
/// Names there need a prefix, and the protocol's own prefix is reserved. The version has a member of its own. Spec:
/// basic#_meta, from 2025-06-18.
bool is_for_meta(const std::pair<std::string, metadata_value>& fact) {
  return fact.first.find('/') != std::string::npos && fact.first != version_key &&
         !fact.first.starts_with("io.modelcontextprotocol/");
}

/// `runs_as`: the media type as which a browser would execute the content, according to its type; empty: none.
void write_meta(json::writer& to, std::string_view version, const metadata& facts, std::string_view runs_as = {}) {
  const bool has_facts = std::any_of(facts.begin(), facts.end(), is_for_meta);
  if (version.empty() && !has_facts && runs_as.empty()) return;
  to.key("_meta").begin_object();
  to.member_if(version_key, version).member_if(bytes::active_key, runs_as);
  for (const auto& fact : facts) {
    const bool is_said = !runs_as.empty() && fact.first == bytes::active_key;
    if (is_for_meta(fact) && !is_said) write_fact(to, fact.first, fact.second);
  }
  to.end_object();
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
  for (const auto& [name, held] : entry.metadata) write_fact(to, name, held);
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
  if (members.meta) write_meta(to, entry.version, entry.metadata, type_of(bytes::active_by_type(entry.mimeType)));
  to.end_object();
}

void write(json::writer& to, const resource_template& entry, const entry_members& members) {
  to.begin_object().member("uriTemplate", entry.uriTemplate);
  write_described(to, entry, members);
  to.end_object();
}

void write_content_facts(json::writer& to, const metadata& facts, const entry_members& members, std::string_view runs_as) {
  if (members.meta) write_meta(to, {}, facts, runs_as);
}

void append_contents(rpc::body& to, bytes::prepared_reading reading, const std::shared_ptr<executor::lane>& home,
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
    if (members.meta) write_meta(item, is_first ? std::string_view(reading.version) : std::string_view(), content.metadata);
    text += content.is_text ? ",\"text\":\"" : ",\"blob\":\"";
    is_first = false;
    to.append(std::move(content), home);
    to.text() += "\"}";
  }
  to.text() += ']';
}

namespace {

struct block_writer {
  json::writer& to;
  const entry_members& members;

  void operator()(const text_block& block) const { text(block.text, block.annotations); }
  void operator()(const image_block& block) const { bytes("image", block.bytes, block.mimeType, block.annotations); }
  void operator()(const audio_block& block) const {
    if (members.audio_and_hints) return bytes("audio", block.bytes, block.mimeType, block.annotations);
    text("[" + std::to_string(block.bytes.size()) + " bytes of audio (" + block.mimeType +
             ") left out: this protocol revision has none]",
         block.annotations);
  }
  void operator()(const link_block& block) const {
    if (!members.structure) return text(block.entry.name + ": " + block.entry.uri, block.entry.annotations);
    // A link is a list entry with a preceding type member.
    std::string entry;
    json::writer inner(entry);
    write(inner, block.entry, members);
    to.raw("{\"type\":\"resource_link\"," + entry.substr(1));
  }
  void operator()(const embedded_block& block) const {
    to.begin_object().member("type", "resource").key("resource").begin_object().member("uri", block.uri);
    to.member_if("mimeType", block.mimeType);
    write_content_facts(to, block.metadata, members, bytes::type_of(bytes::active_as(block.mimeType, block.bytes)));
    const bool is_text = block.form == content_form::text ||
                         (block.form == content_form::detect && json::is_utf8(block.bytes) && !json::has_nul(block.bytes));
    if (is_text) {
      to.member("text", block.bytes);
    } else {
      to.member("blob", encoded(block.bytes));
    }
    to.end_object();
    write_annotations(to, block.annotations, members);
    to.end_object();
  }

 private:
  static std::string encoded(std::string_view raw) {
    std::string out;
    out.reserve(json::base64_size(raw.size()));
    json::append_base64(out, raw);
    return out;
  }
  void text(std::string_view what, const annotations& hints) const {
    to.begin_object().member("type", "text").member("text", what);
    write_annotations(to, hints, members);
    to.end_object();
  }
  void bytes(std::string_view type, std::string_view raw, std::string_view mime_type, const annotations& hints) const {
    to.begin_object().member("type", type).member("data", encoded(raw)).member("mimeType", mime_type);
    write_annotations(to, hints, members);
    to.end_object();
  }
};

}  // namespace

void write(json::writer& to, const content_block& block, const entry_members& members) {
  std::visit(block_writer{to, members}, block);
}

void write(json::writer& to, const std::vector<content_block>& blocks, const entry_members& members) {
  to.begin_array();
  for (const auto& one : blocks) write(to, one, members);
  to.end_array();
}

void write(json::writer& to, const message& one, const entry_members& members) {
  to.begin_object().member("role", one.from == role::user ? "user" : "assistant").key("content");
  write(to, one.content, members);
  to.end_object();
}

}  // namespace hondana::wire
