/// Interprets typed words: resources and templates by name, and values by their JSON Schema.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/client.hpp>
#include <hondana/error.hpp>
#include <hondana/tool.hpp>
#include <hondana/value.hpp>

#include "app/cli/flags/command_line.hpp"

namespace hondana::cli {

/// Whether the text begins with a URI scheme and a colon, unlike paths and names.
[[nodiscard]] bool has_scheme(std::string_view text);

/// Finds the one listed resource with this name; if there is none, the one whose URI's path ends in these segments. Returns its
/// URI. Errors: resource_not_found; invalid_argument with the candidates if there are several; those of the list.
[[nodiscard]] result<std::string> find_resource(client& client, std::string_view word, const call_options& options);
/// Finds the one listed template with this name, and returns its URI template. A word with braces or a scheme is returned
/// itself. Errors: as `find_resource`.
[[nodiscard]] result<std::string> find_template(client& client, const std::string& word, const call_options& options);

/// Returns a typed URI as the lists of `server` spell it: canonical if the server has the versioned-resources extension,
/// otherwise unchanged. Errors: invalid_argument if it is malformed.
[[nodiscard]] result<std::string> to_listed_uri(const server_description& server, const std::string& typed);
/// Returns a typed URI, or the beginning of one, as lists spell it. Letters of any language and other characters that URIs
/// cannot contain are percent-encoded. Errors: invalid_argument if no URI can begin like this.
[[nodiscard]] result<std::string> to_listed_prefix(const std::string& typed);

/// The values of `--with`, as pairs of name and value, in order. Errors: invalid_argument for one that is not NAME=VALUE.
[[nodiscard]] result<std::vector<std::pair<std::string, std::string>>> parse_variables(const command_line& line);

/// Explains a failure for a URI. If the resource was not found because the URI is malformed, returns invalid_argument;
/// otherwise `error`.
[[nodiscard]] failure explain_uri_error(const std::string& uri, const failure& error);

/// Explains why a URI cannot be read. Many servers report three failures with one error code: a missing resource, a wrong query
/// parameter and unreadable content. Returns resource_not_found, invalid_argument or server_error for them. `reports_reasons`:
/// the server is hondana, which names the reason in the error's data; for others, words of the message decide.
[[nodiscard]] failure explain_read_error(const std::string& uri, const failure& error, bool reports_reasons);

/// A notice if contents are from a cache because their source was unavailable, with their age. Empty: none are.
[[nodiscard]] std::string cached_notice(const std::vector<received_content>& contents);

/// Converts `text` to the type that the JSON Schema `schema` gives. Without a type: JSON if the text is valid JSON, otherwise a
/// string. Errors: invalid_argument.
[[nodiscard]] result<value> parse_typed_value(std::string_view text, const value& schema);

/// Converts words of the form `name=value` to the arguments of a tool. A repeated name makes an array. Errors:
/// invalid_argument, which names the word and the known arguments.
[[nodiscard]] result<value> parse_tool_arguments(const std::vector<std::string>& words, const value& input_schema);

/// Whether the JSON Schema of an object requires the member `name`.
[[nodiscard]] bool is_required(const value& schema, std::string_view name);

/// Checks that `arguments` has everything that the input schema of `tool` requires. Errors: invalid_argument, which names the
/// missing arguments and how to pass them.
[[nodiscard]] result<void> check_required_arguments(const value& arguments, const tool& tool);

}  // namespace hondana::cli
