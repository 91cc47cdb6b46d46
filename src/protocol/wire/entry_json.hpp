/// Writes resources, templates, contents and content blocks as JSON, with the members a revision has.
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

/// Which members of entries and contents a revision knows.
struct entry_members {
  bool title = false;
  bool last_modified = false;
  bool icons = false;
  bool meta = false;              ///< `_meta` of entries and contents: the version, and facts whose names have a prefix.
  bool name_in_contents = false;  ///< 2025-06-18 showed name and title beside contents.
  bool audio_and_hints = false;   ///< Audio blocks, annotations of tools.
  bool structure = false;         ///< Structured content, output schemas, links to resources in results.
  bool any_structure = false;     ///< Structured content may be any value, not only an object.
  bool versioned = false;         ///< Entries have the members of the versioned dialect: title, kind, version, metadata.
};

void write(json::writer& to, const resource& entry, const entry_members& members);
void write(json::writer& to, const resource_template& entry, const entry_members& members);

/// The members `icons` and `annotations`, when the revision has them and there is something in them.
void write_icons(json::writer& to, const std::vector<icon>& icons, const entry_members& members);
void write_annotations(json::writer& to, const annotations& hints, const entry_members& members);

/// The member `_meta` with the facts that may stand there, when the revision has it and there are any. `runs_as`: the media
/// type as which a browser would run the content, which then stands there whatever the facts say; empty: they know.
void write_content_facts(json::writer& to, const metadata& facts, const entry_members& members, std::string_view runs_as = {});

/// Appends `"contents":[...]`; streams among the contents are pulled later, on `home`.
void append_contents(rpc::body& to, bytes::prepared_reading reading, const std::shared_ptr<executor::lane>& home,
                     const entry_members& members);

using model::iso_8601;

/// One block. What a revision has no block for becomes a text that says what is meant.
void write(json::writer& to, const content_block& block, const entry_members& members);
/// An array of blocks.
void write(json::writer& to, const std::vector<content_block>& blocks, const entry_members& members);
/// `{"role":...,"content":...}`.
void write(json::writer& to, const message& one, const entry_members& members);

}  // namespace hondana::wire
