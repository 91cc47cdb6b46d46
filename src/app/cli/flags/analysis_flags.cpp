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
    .help = "The configuration whose source of analyses is meant (default ~/.config/hondana/config.toml)",
    .details = "Where there is no such file, it is the store that a source without store = would have.",
    .by = completion_kind::file};
constexpr flag analysis_store_flag{
    .name = "store", .value = "FILE", .help = "The store itself, whatever the configuration says", .by = completion_kind::file};
constexpr flag analysis_session_flag{.name = "session", .value = "NAME", .help = "Those of this session"};
constexpr flag analysis_tag_flag{.name = "tag", .value = "TAG", .help = "Those with this tag"};

namespace {

constexpr std::array<std::string_view, 3> task_choices{"basic", "premium", "critical"};

}  // namespace

constexpr flag analysis_task_flag{.name = "task",
                                  .value = "TYPE",
                                  .help = "Those of this task type: basic, premium or critical",
                                  .by = completion_kind::choice,
                                  .choices = task_choices};
constexpr flag analysis_context_flag{.name = "context", .value = "URI", .help = "Those based on this resource"};
constexpr flag analysis_all_flag{.name = "all", .help = "All there are"};
constexpr flag analysis_limit_flag{.name = "limit",
                                   .letter = 'n',
                                   .value = "N",
                                   .help = "At most so many (default 50)",
                                   .number = number_bounds{1, 1'000'000, true}};
constexpr flag analysis_after_flag{.name = "after", .value = "ID", .help = "Those older than this one"};

namespace {

constexpr std::array put_arguments{argument{
    .name = "FILE", .help = "A file with the analysis as JSON (default: standard input)", .by = completion_kind::file}};
constexpr std::array get_arguments{argument{
    .name = "ID", .help = "An id or the beginning of one, or a URI that begins with wallbounce:", .is_required = true}};
constexpr std::array rm_arguments{argument{
    .name = "ID", .help = "Ids, beginnings of ids, or URIs that begin with wallbounce://analyses/", .is_repeatable = true}};

constexpr std::array plain_analysis_flags{&json_flag, &analysis_config_flag, &analysis_store_flag};
constexpr std::array list_analysis_flags{&analysis_session_flag, &analysis_tag_flag,   &analysis_task_flag,
                                         &analysis_limit_flag,   &analysis_after_flag, &json_flag,
                                         &analysis_config_flag,  &analysis_store_flag};
constexpr std::array remove_analysis_flags{&analysis_session_flag, &analysis_tag_flag, &analysis_context_flag,
                                           &analysis_all_flag,     &json_flag,         &analysis_config_flag,
                                           &analysis_store_flag};

constexpr std::array put_analysis_examples{
    example{"hondana analysis put analysis.json", "keep one that was computed elsewhere"}};
constexpr std::array get_analysis_examples{
    example{"hondana analysis get 5a3f --json", "the one whose id begins so, as it went in"}};
constexpr std::array list_analysis_examples{
    example{"hondana analysis ls --task critical -n 10", "the ten newest that much depended on"}};
constexpr std::array remove_analysis_examples{example{"hondana analysis rm --session review-42", "forget all of one session"}};

constexpr std::string_view analysis_section = "Analyses";

}  // namespace

constexpr command_entry analysis_put_entry{
    .name = "analysis put",
    .section = analysis_section,
    .summary = "Keep an analysis of several models",
    .details =
        "Reads one JSON object, whose members docs/analyses.md has, and prints the URI under which it is kept. The store is "
        "written to directly; a server that has it open tells its clients. Below its thresholds an analysis is kept, and never "
        "served as final: that is said, and no error.",
    .arguments = put_arguments,
    .flags = plain_analysis_flags,
    .examples = put_analysis_examples};
constexpr command_entry analysis_get_entry{
    .name = "analysis get",
    .section = analysis_section,
    .summary = "Print an analysis",
    .details =
        "As Markdown, or with --json as it was put, with id, status, created and expires. A URI may name a vote or the flow "
        "of one, or its prompt (wallbounce://by-prompt/DIGEST).",
    .arguments = get_arguments,
    .flags = plain_analysis_flags,
    .examples = get_analysis_examples};
constexpr command_entry analysis_ls_entry{.name = "analysis ls",
                                          .section = analysis_section,
                                          .summary = "List analyses, the newest first",
                                          .flags = list_analysis_flags,
                                          .examples = list_analysis_examples};
constexpr command_entry analysis_rm_entry{
    .name = "analysis rm",
    .section = analysis_section,
    .summary = "Forget analyses",
    .details =
        "By ids, or by one of --session, --tag, --context and --all. Prints how many there were. Whoever computes one of "
        "them loses the claim.",
    .arguments = rm_arguments,
    .flags = remove_analysis_flags,
    .examples = remove_analysis_examples};
constexpr command_entry analysis_stats_entry{.name = "analysis stats",
                                             .section = analysis_section,
                                             .summary = "Print hits, misses, cost and time saved, by task type",
                                             .flags = plain_analysis_flags};

}  // namespace hondana::cli
