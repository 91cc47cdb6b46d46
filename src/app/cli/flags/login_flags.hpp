/// The flags and commands that log in and out.
#pragma once

#include "app/cli/flags/table.hpp"

namespace hondana::cli {

extern const flag scope_flag;
extern const flag client_id_flag;
extern const flag client_secret_flag;
extern const flag client_metadata_flag;
extern const flag issuer_flag;
extern const flag redirect_port_flag;
extern const flag no_browser_flag;
extern const flag machine_flag;
extern const flag store_flag;
extern const flag all_flag;
extern const flag source_flag;

extern const command_entry login_entry;
extern const command_entry logout_entry;

}  // namespace hondana::cli
