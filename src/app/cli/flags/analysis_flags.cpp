/// What `hondana analysis` takes.
#include "app/cli/flags/analysis_flags.hpp"

#include <array>
#include <string_view>

#include "app/cli/flags/client_flags.hpp"

namespace hondana::cli {

constexpr flag analysis_config_flag{
    .name = "config",
    .letter = 'c',
    .value = "FILE",
    .help = "The configuration with the source of analyses (default ~/.config/hondana/config.toml)",
    .details = "If the file does not exist, the default store of a source of type analyses is used.",
    .by = completion_kind::file};
constexpr flag analysis_store_flag{
    .name = "store", .value = "FILE", .help = "The store's file, instead of the configured one", .by = completion_kind::file};
constexpr flag analysis_session_flag{.name = "session", .value = "NAME", .help = "Only analyses of this session"};
constexpr flag analysis_tag_flag{.name = "tag", .value = "TAG", .help = "Only analyses with this tag"};

namespace {

constexpr std::array<std::string_view, 3> task_choices{"basic", "premium", "critical"};

}  // namespace

constexpr flag analysis_task_flag{.name = "task",
                                  .value = "TYPE",
                                  .help = "Only analyses of this task type: basic, premium or critical",
                                  .by = completion_kind::choice,
                                  .choices = task_choices};
constexpr flag analysis_context_flag{.name = "context", .value = "URI", .help = "Only analyses based on this resource"};
constexpr flag analysis_all_flag{.name = "all", .help = "All analyses"};
constexpr flag analysis_limit_flag{.name = "limit",
                                   .letter = 'n',
                                   .value = "N",
                                   .help = "At most this many (default 50)",
                                   .number = number_bounds{1, 1'000'000, true}};
constexpr flag analysis_after_flag{.name = "after", .value = "ID", .help = "Only analyses older than this one"};

namespace {

constexpr std::array put_arguments{argument{
    .name = "FILE", .help = "A file with the analysis as JSON (default: standard input)", .by = completion_kind::file}};
constexpr std::array get_arguments{
    argument{.name = "ID", .help = "An id, the beginning of one, or a wallbounce: URI", .is_required = true}};
constexpr std::array rm_arguments{
    argument{.name = "ID", .help = "Ids, beginnings of ids, or wallbounce://analyses/ URIs", .is_repeatable = true}};

constexpr std::array plain_analysis_flags{&json_flag, &analysis_config_flag, &analysis_store_flag};
constexpr std::array list_analysis_flags{&analysis_session_flag, &analysis_tag_flag,   &analysis_task_flag,
                                         &analysis_limit_flag,   &analysis_after_flag, &json_flag,
                                         &analysis_config_flag,  &analysis_store_flag};
constexpr std::array remove_analysis_flags{&analysis_session_flag, &analysis_tag_flag, &analysis_context_flag,
                                           &analysis_all_flag,     &json_flag,         &analysis_config_flag,
                                           &analysis_store_flag};

constexpr std::array put_analysis_examples{
    example{"hondana analysis put analysis.json", "store an analysis that was computed elsewhere"}};
constexpr std::array get_analysis_examples{
    example{"hondana analysis get 5a3f --json", "the analysis whose id begins with 5a3f, as it was stored"}};
constexpr std::array list_analysis_examples{
    example{"hondana analysis ls --task critical -n 10", "the ten newest critical analyses"}};
constexpr std::array remove_analysis_examples{
    example{"hondana analysis rm --session review-42", "delete all analyses of a session"}};

constexpr std::string_view analysis_section = "Analyses";

}  // namespace

constexpr command_entry analysis_put_entry{
    .name = "analysis put",
    .section = analysis_section,
    .summary = "Store an analysis of several models",
    .details =
        "Reads one JSON object (docs/analyses.md lists its members) and prints the URI of the stored analysis. It writes to "
        "the store directly; a running server notifies its clients. An analysis below its thresholds is stored but never "
        "served as final; a warning says so.",
    .arguments = put_arguments,
    .flags = plain_analysis_flags,
    .examples = put_analysis_examples};
constexpr command_entry analysis_get_entry{
    .name = "analysis get",
    .section = analysis_section,
    .summary = "Print an analysis",
    .details =
        "As Markdown, or with --json as it was stored, with id, status, created and expires. A URI can also name a vote, the "
        "flow, or a prompt (wallbounce://by-prompt/DIGEST).",
    .arguments = get_arguments,
    .flags = plain_analysis_flags,
    .examples = get_analysis_examples};
constexpr command_entry analysis_ls_entry{.name = "analysis ls",
                                          .section = analysis_section,
                                          .summary = "List analyses, the newest first",
                                          .flags = list_analysis_flags,
                                          .examples = list_analysis_examples};
constexpr command_entry analysis_rm_entry{.name = "analysis rm",
                                          .section = analysis_section,
                                          .summary = "Delete analyses",
                                          .details =
                                              "Select by ids, or by one of --session, --tag, --context and --all. Prints the "
                                              "number of deleted analyses. Claims on analyses in progress are cancelled.",
                                          .arguments = rm_arguments,
                                          .flags = remove_analysis_flags,
                                          .examples = remove_analysis_examples};
constexpr command_entry analysis_stats_entry{.name = "analysis stats",
                                             .section = analysis_section,
                                             .summary = "Print hits, misses, cost and time saved, by task type",
                                             .flags = plain_analysis_flags};

}  // namespace hondana::cli
