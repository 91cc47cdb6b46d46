/// What `hondana audit` takes.
#include "app/cli/flags/audit_flags.hpp"

#include <array>

#include "app/cli/flags/client_flags.hpp"

namespace hondana::cli {
namespace {

constexpr std::array file_arguments{argument{.name = "FILE",
                                             .help = "Files of one audit log, in any order",
                                             .by = completion_kind::file,
                                             .is_required = true,
                                             .is_repeatable = true}};
constexpr std::array verify_flags{&json_flag};
constexpr std::array verify_examples{
    example{"hondana audit verify audit.jsonl audit.jsonl.*", "the present file and the older ones together"}};

}  // namespace

constexpr command_entry audit_verify_entry{
    .name = "audit verify",
    .section = "Serve",
    .summary = "Check that a record of requests is as it was written",
    .details =
        "Every record has the hash of the one before, so that none can be changed, taken out or put in between. What was cut "
        "off at the end shows only to who has kept the hash of a later record, which this prints. Exits with 5 at the first "
        "record that is not sound. docs/audit.md has the format.",
    .arguments = file_arguments,
    .flags = verify_flags,
    .examples = verify_examples};

}  // namespace hondana::cli
