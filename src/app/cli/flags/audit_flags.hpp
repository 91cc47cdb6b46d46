/// The command about the record of requests.
#pragma once

#include "app/cli/flags/table.hpp"

namespace hondana::cli {

extern const command_entry audit_verify_entry;

}  // namespace hondana::cli
