/// The commands that use a store of analyses directly; each returns an exit code.
#pragma once

#include "app/cli/flags/line.hpp"

namespace hondana::cli {

[[nodiscard]] int put_analysis(const command_line& line);
[[nodiscard]] int get_analysis(const command_line& line);
[[nodiscard]] int list_analyses(const command_line& line);
[[nodiscard]] int remove_analyses(const command_line& line);
[[nodiscard]] int show_analysis_statistics(const command_line& line);

}  // namespace hondana::cli
