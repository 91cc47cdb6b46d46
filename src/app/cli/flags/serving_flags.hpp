/// Commands and flags that serve, check, and manage tokens, audit logs and analyses.
#pragma once

#include "app/cli/flags/command_table.hpp"

namespace hondana::cli {

// `name_flag` is the flag `--name`, unless stated otherwise.
extern const flag config_flag;
extern const flag allow_flag;
extern const flag hidden_flag;
extern const flag no_git_flag;
extern const flag sandbox_flag;
extern const flag no_tools_flag;
extern const flag port_flag;
extern const flag address_flag;
extern const flag socket_flag;
extern const flag admin_flag;
extern const flag host_flag;
extern const flag origin_flag;
extern const flag without_authentication_flag;
extern const flag tls_certificate_flag;
extern const flag tls_key_flag;
extern const flag json_lines_flag;  ///< `--json`
extern const flag as_flag;
extern const flag caller_group_flag;      ///< `--group`
extern const flag caller_scope_flag;      ///< `--scope`
extern const flag explained_tool_flag;    ///< `--tool`
extern const flag explained_prompt_flag;  ///< `--prompt`
extern const flag schemes_json_flag;      ///< `--json`
extern const flag markdown_flag;

extern const command_entry stdio_entry;
extern const command_entry serve_entry;
extern const command_entry check_entry;
extern const command_entry schemes_entry;

extern const flag tokens_flag;  ///< Of `serve` and `check`.

extern const flag token_file_flag;   ///< `--file`
extern const flag token_scope_flag;  ///< `--scope`
extern const flag expires_flag;

extern const command_entry token_new_entry;
extern const command_entry token_ls_entry;
extern const command_entry token_revoke_entry;

extern const command_entry audit_verify_entry;

// `analysis_name_flag` is the flag `--name`.
extern const flag analysis_config_flag;
extern const flag analysis_store_flag;
extern const flag analysis_session_flag;
extern const flag analysis_tag_flag;
extern const flag analysis_task_flag;
extern const flag analysis_context_flag;
extern const flag analysis_all_flag;
extern const flag analysis_limit_flag;
extern const flag analysis_after_flag;

extern const command_entry analysis_put_entry;
extern const command_entry analysis_get_entry;
extern const command_entry analysis_ls_entry;
extern const command_entry analysis_rm_entry;
extern const command_entry analysis_stats_entry;

}  // namespace hondana::cli
