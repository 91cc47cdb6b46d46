/// How a value reads, and how it is written.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "secrets/scanner.hpp"

namespace hondana::located {

/// Masks in `text` what `spans`, in order and apart, cover of `written`, which is how it stands in a source from `begin` on,
/// with its quotes. Where the two differ by more than white space, quotes and the first line of a block, all of the text is
/// masked. Line ends stay where only a part is. Says whether anything was masked.
bool mask_as_written(std::string& text, std::string_view written, std::size_t begin, std::span<const secrets::span> spans);

}  // namespace hondana::located
