/// How a value reads, and how it is written.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/secrets/scanner.hpp"

namespace hondana::located {

/// Masks in `text` what `spans`, in order and apart, cover of `written`, which is how it stands in a source from `begin` on,
/// with its quotes. Where the two differ by more than white space, quotes and the first line of a block, all of the text is
/// masked. Line ends stay where only a part is. Says whether anything was masked.
bool mask_as_written(std::string& text, std::string_view written, std::size_t begin, std::span<const secrets::span> spans);

/// Appends to `into` where in the source the asterisks of `masked` stand, which was `text` before, line by line without what
/// they are indented by. Where text and writing differ by more than said above, or all of it is asterisks, that is the whole
/// writing but for quotes, the first line of a block and backslashes at ends of lines, so that the source stays what it is.
void append_places(std::string_view text, std::string_view masked, std::string_view written, std::size_t begin,
                   std::vector<secrets::span>& into);

/// Appends the parts of a place in a source that are not ends of lines and what lines are indented by.
void append_lines(std::string_view source, secrets::span at, std::vector<secrets::span>& into);

}  // namespace hondana::located
