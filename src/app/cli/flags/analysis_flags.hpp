/// The commands about cached analyses.
#pragma once

#include "app/cli/flags/table.hpp"

namespace hondana::cli {

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
