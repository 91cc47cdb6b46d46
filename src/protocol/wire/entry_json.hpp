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

/// The members that entries, contents, tools and results have in a revision.
struct entry_members {
  bool title = false;
  bool last_modified = false;
  bool icons = false;
  bool meta = false;              ///< `_meta`: the version, and metadata whose names have a prefix.
  bool name_in_contents = false;  ///< Name and title of contents (only 2025-06-18).
  bool audio_and_hints = false;   ///< Audio blocks, and annotations of tools.
  bool structure = false;         ///< Structured content, output schemas, and links to resources in results.
  bool any_structure = false;     ///< Structured content can be any value, not only an object.
  bool versioned = false;         ///< Members of the versioned-resources extension: title, kind, version, metadata.
};

/// Writes one entry of `resources/list`, an object.
void write(json::writer& writer, const resource& entry, const entry_members& members);
/// Writes one entry of `resources/templates/list`, an object.
void write(json::writer& writer, const resource_template& entry, const entry_members& members);

/// Writes the member `icons`, if the revision has it and it is not empty.
void write_icons(json::writer& writer, const std::vector<icon>& icons, const entry_members& members);
/// Writes the member `annotations`, if it is not empty in this revision.
void write_annotations(json::writer& writer, const annotations& hints, const entry_members& members);

/// Writes the member `_meta` of a content, if the revision has it and it is not empty.
/// It contains metadata whose names have a prefix, except that of the protocol itself.
/// `active_type`: the value of `bytes::active_content_key`; empty: as in `metadata`.
void write_content_metadata(json::writer& writer, const metadata& metadata, const entry_members& members,
                            std::string_view active_type = {});

/// Appends `"contents":[…]`. Streams among the contents are read later, on `reader_executor`.
void append_contents(rpc::body& out, bytes::prepared_read_result reading,
                     const std::shared_ptr<executor::executor>& reader_executor, const entry_members& members);

using model::format_iso_8601;

/// Writes one block, an object. A type of block that the revision lacks becomes a descriptive text block.
void write(json::writer& writer, const content_block& block, const entry_members& members);
/// Writes an array of blocks.
void write(json::writer& writer, const std::vector<content_block>& blocks, const entry_members& members);
/// Writes `{"role":…,"content":…}`.
void write(json::writer& writer, const message& message, const entry_members& members);

}  // namespace hondana::wire
