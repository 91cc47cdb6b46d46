/// The commands and flags about who may ask.
#pragma once

#include "app/cli/flags/table.hpp"

namespace hondana::cli {

extern const flag tokens_flag;  ///< Of `serve` and `check`.

extern const flag token_file_flag;
extern const flag token_scope_flag;
extern const flag expires_flag;

extern const command_entry token_new_entry;
extern const command_entry token_ls_entry;
extern const command_entry token_revoke_entry;

}  // namespace hondana::cli
