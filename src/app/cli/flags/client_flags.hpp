/// Commands and flags that use a server, log in and log out; defined in several .cpp files.
#pragma once

#include "app/cli/flags/command_table.hpp"

namespace hondana::cli {

// `name_flag` is the flag `--name`, unless stated otherwise. First the flags of every command that uses a server:
extern const flag on_flag;
extern const flag json_flag;
extern const flag header_flag;
extern const flag bearer_file_flag;  ///< `--token-file`
extern const flag cacert_flag;
extern const flag cert_flag;
extern const flag key_flag;
extern const flag timeout_flag;
extern const flag revision_flag;
extern const flag trace_flag;
extern const flag client_config_flag;  ///< `--config`
extern const flag quiet_flag;

extern const flag long_flag;
extern const flag sort_flag;
extern const flag audience_flag;
extern const flag min_priority_flag;
extern const flag filter_flag;
extern const flag output_flag;
extern const flag lines_flag;
extern const flag force_flag;
extern const flag with_flag;
extern const flag once_flag;
extern const flag for_flag;
extern const flag verify_flag;
extern const flag arguments_flag;
extern const flag limit_flag;
extern const flag lang_flag;
extern const flag scheme_flag;
extern const flag under_flag;
extern const flag since_flag;
extern const flag owner_flag;
extern const flag wait_flag;
extern const flag original_flag;
extern const flag write_flag;
extern const flag man_flag;
extern const flag markdown_reference_flag;

extern const command_entry ls_entry;
extern const command_entry tree_entry;
extern const command_entry read_entry;
extern const command_entry templates_entry;
extern const command_entry complete_entry;
extern const command_entry watch_entry;
extern const command_entry info_entry;
extern const command_entry skills_entry;
extern const command_entry call_entry;
extern const command_entry search_entry;

extern const command_entry import_entry;  ///< `hondana config import`
extern const command_entry completions_entry;
extern const command_entry help_entry;
extern const command_entry version_entry;
extern const command_entry complete_words_entry;

extern const flag scope_flag;
extern const flag client_id_flag;
extern const flag client_secret_flag;  ///< `--client-secret-file`
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
