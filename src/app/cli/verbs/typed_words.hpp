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

/// Whether the text begins with a scheme, unlike paths and names.
[[nodiscard]] bool has_scheme(std::string_view text);

/// The URI of the one listed resource that a word names: by its whole name, or by the last segments of its URI's path. Errors:
/// resource_not_found; invalid_argument with the candidates if there are several; those of the list.
[[nodiscard]] result<std::string> find_resource(client& client, std::string_view word, const call_options& options);
/// The one listed template with this name. A word with braces or a scheme is a template itself. Errors: as `find_resource`.
[[nodiscard]] result<std::string> find_template(client& client, const std::string& word, const call_options& options);

/// A typed URI as the lists of `server` spell it: canonical if the server has the versioned-resources extension, otherwise
/// unchanged. Errors: invalid_argument if it is malformed.
[[nodiscard]] result<std::string> to_listed_uri(const server_description& server, const std::string& typed);
/// A typed URI or the beginning of one, as lists spell it: letters of any language and other characters that URIs cannot
/// contain are percent-encoded. Errors: invalid_argument if no URI can begin like this.
[[nodiscard]] result<std::string> to_listed_prefix(const std::string& typed);

/// The values of `--with`, in order. Errors: invalid_argument for one that is not NAME=VALUE.
[[nodiscard]] result<std::vector<std::pair<std::string, std::string>>> parse_variables(const command_line& line);

/// Explains why a URI does not work: invalid_argument if it is malformed, otherwise the failure from the server.
[[nodiscard]] failure explain_uri_error(const std::string& uri, const failure& error);

/// Explains why a URI cannot be read. Many servers use one error code for a missing resource (resource_not_found), a wrong
/// query parameter (invalid_argument) and unreadable content (refused). hondana's own servers name the reason in the error's
/// data (`reports_reasons`); for others, words of the message decide.
[[nodiscard]] failure explain_read_error(const std::string& uri, const failure& error, bool reports_reasons);

/// The notice for contents from a cache whose source was unavailable, with their age; empty: no content is from a cache.
[[nodiscard]] std::string cached_notice(const std::vector<received_content>& contents);

/// Converts `text` to the type that `schema` gives. Without a type: JSON if the text is valid JSON, otherwise a string. Errors:
/// invalid_argument.
[[nodiscard]] result<value> parse_typed_value(std::string_view text, const value& schema);

/// Converts `name=value` words to the arguments of a tool with this input schema. A repeated name makes an array. Errors:
/// invalid_argument, which names the word and the known arguments.
[[nodiscard]] result<value> parse_tool_arguments(const std::vector<std::string>& words, const value& input_schema);

/// Whether an object schema requires the member.
[[nodiscard]] bool is_required(const value& schema, std::string_view name);

/// Checks that the required arguments are present. Errors: invalid_argument, which names what the input schema of `tool`
/// requires and `arguments` lacks, and how to pass it.
[[nodiscard]] result<void> check_required_arguments(const value& arguments, const tool& tool);

}  // namespace hondana::cli
