/// Writes content blocks and messages with what a revision has.
#pragma once

#include <vector>

#include <hondana/message.hpp>

#include "base/json/writer.hpp"
#include "protocol/wire/entries.hpp"

namespace hondana::wire {

/// One block. What a revision has no block for becomes a text that says what is meant.
void write(json::writer& to, const content_block& block, const entry_members& members);
/// An array of blocks.
void write(json::writer& to, const std::vector<content_block>& blocks, const entry_members& members);
/// `{"role":...,"content":...}`.
void write(json::writer& to, const message& one, const entry_members& members);

}  // namespace hondana::wire
