/// Content blocks as JSON.
#include "protocol/wire/blocks.hpp"

#include <string>
#include <string_view>

#include "base/bytes/active.hpp"
#include "base/json/base64.hpp"
#include "base/json/utf8.hpp"

namespace hondana::wire {
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
    // A link is an entry of the list with a type in front.
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
