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
    example{"hondana audit verify audit.jsonl audit.jsonl.*", "the current file and the older ones together"}};

}  // namespace

constexpr command_entry audit_verify_entry{
    .name = "audit verify",
    .section = "Serve",
    .summary = "Check that an audit log was not changed",
    .details =
        "Every record contains the hash of the previous one, so a changed, removed or inserted record is detected. Records "
        "removed from the end can be detected only by comparing the last hash, which this command prints, with an earlier "
        "copy. The exit code is 5 at the first wrong record. docs/audit.md describes the format.",
    .arguments = file_arguments,
    .flags = verify_flags,
    .examples = verify_examples};

}  // namespace hondana::cli
