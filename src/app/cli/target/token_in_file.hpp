/// A token that stands in a file, so that it need not stand in the command line, which others on this machine can read.
#pragma once

#include <memory>
#include <string>

#include <hondana/error.hpp>
#include <hondana/token_source.hpp>

namespace hondana::cli {

/// Sends the token of the file, and reads that again when it is refused: somebody may have put another one there. "-": of
/// standard input, which is read to its end now. Errors: as `disk::read_private`; invalid_argument where there is no token.
[[nodiscard]] result<std::shared_ptr<token_source>> token_in_file(const std::string& path);

}  // namespace hondana::cli
