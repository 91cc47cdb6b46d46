/// Writes resources, templates, contents and content blocks as JSON, with the members that a revision has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/message.hpp>
#include <hondana/resource.hpp>

#include "base/bytes/prepared_content.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/iso_8601.hpp"
#include "protocol/rpc/message_body.hpp"

namespace hondana::wire {

/// The members of entries and contents in a revision.
struct entry_members {
  bool title = false;
  bool last_modified = false;
  bool icons = false;
  bool meta = false;              ///< `_meta` of entries and contents: the version, and metadata whose names have a prefix.
  bool name_in_contents = false;  ///< Name and title in contents (only 2025-06-18).
  bool audio_and_hints = false;   ///< Audio blocks, and annotations of tools.
  bool structure = false;         ///< Structured content, output schemas, and links to resources in results.
  bool any_structure = false;     ///< Structured content can be any value, not only an object.
  bool versioned = false;         ///< Members of the versioned-resources extension: title, kind, version, metadata.
};

void write(json::writer& to, const resource& entry, const entry_members& members);
void write(json::writer& to, const resource_template& entry, const entry_members& members);

/// Write the members `icons` and `annotations` if the revision has them and they are not empty.
void write_icons(json::writer& to, const std::vector<icon>& icons, const entry_members& members);
void write_annotations(json::writer& to, const annotations& hints, const entry_members& members);

/// Writes the member `_meta` with the permitted metadata, if the revision has it and there is any.
/// `runs_as`: the media type as which a browser would execute the content; written even if it is not in the metadata. Empty:
/// the metadata decides.
void write_content_facts(json::writer& to, const metadata& facts, const entry_members& members, std::string_view runs_as = {});

/// Appends `"contents":[...]`. Streams among the contents are read later, on `home`.
void append_contents(rpc::body& to, bytes::prepared_reading reading, const std::shared_ptr<executor::lane>& home,
                     const entry_members& members);

using model::iso_8601;

/// Writes one block. A block that the revision lacks becomes a descriptive text.
void write(json::writer& to, const content_block& block, const entry_members& members);
/// Writes an array of blocks.
void write(json::writer& to, const std::vector<content_block>& blocks, const entry_members& members);
/// `{"role":...,"content":...}`.
void write(json::writer& to, const message& one, const entry_members& members);

}  // namespace hondana::wire
