/// What a client asks, spelled alike in all revisions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client.hpp>

namespace hondana::wire::asking {

struct speech;

/// A request before it is known in which revision and under which id it goes out.
struct request {
  std::string method{};
  std::string params{};         ///< Members, without braces: `"uri":"file:///a"`.
  std::string target{};         ///< The URI or name it is about: for errors and headers.
  bool repeats_target = false;  ///< In the header `Mcp-Name`.
  bool may_be_asked = false;    ///< The answer may be a question, after which the request is made again.
};

using cursor = std::optional<std::string>;
using named_texts = std::vector<std::pair<std::string, std::string>>;

/// `wanted`: for servers of the versioned dialect; null for all.
[[nodiscard]] request list_resources(const cursor& from, const entry_filter* wanted);
[[nodiscard]] request list_templates(const cursor& from);
[[nodiscard]] request list_folder(std::string_view uri, const cursor& from);
[[nodiscard]] request list_tools(const cursor& from);
[[nodiscard]] request list_prompts(const cursor& from);
[[nodiscard]] request list_skills(const cursor& from);
/// `version`: the one that is there already, for servers of the versioned dialect; or empty.
[[nodiscard]] request read(std::string_view uri, std::string_view version);
/// Of the versioned dialect: entry and content.
[[nodiscard]] request get_resource(std::string_view uri);
[[nodiscard]] request get_skill(std::string_view uri);
[[nodiscard]] request get_prompt(std::string_view name, const named_texts& arguments);
/// `arguments`: an object, or null for none.
[[nodiscard]] request call_tool(std::string_view name, const value& arguments);
/// `chosen`: what the other variables are; revisions before 2025-06-18 ignore it.
[[nodiscard]] request complete_template(std::string_view uri_template, std::string_view variable, std::string_view typed,
                                        const named_texts& chosen);
[[nodiscard]] request complete_prompt(std::string_view name, std::string_view argument, std::string_view typed,
                                      const named_texts& chosen);
/// With sessions, one URI at a time.
[[nodiscard]] request subscribe(std::string_view uri);
[[nodiscard]] request unsubscribe(std::string_view uri);
/// With sessions and the versioned dialect: changes come with their entries.
[[nodiscard]] request subscribe_entries(const std::vector<std::string>& uris);
[[nodiscard]] request unsubscribe_entries(const std::vector<std::string>& uris);
/// Without sessions: a stream of changes. `entries`: they come with their entries, by the versioned dialect.
[[nodiscard]] request listen(const watch_request& what, bool entries);
/// With sessions: the least level of log messages that are wanted.
[[nodiscard]] request set_level(log_level least);
[[nodiscard]] request ping();
/// What a server without sessions speaks and has.
[[nodiscard]] request discover();
/// Opens a session in `in`.
[[nodiscard]] request initialize(const client_options& options, const speech& in);
/// A method that this client knows nothing of. `params`: an object, or null for none.
[[nodiscard]] request any(std::string_view method, const value& params);

/// Whole messages that expect no answer.
[[nodiscard]] std::string initialized();
[[nodiscard]] std::string roots_changed();

}  // namespace hondana::wire::asking
