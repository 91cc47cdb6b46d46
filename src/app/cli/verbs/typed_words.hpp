/// The meaning of typed words: resources and templates by name, and values by their JSON Schema.
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

/// Whether it begins with a scheme, as URIs do and paths and names do not.
[[nodiscard]] bool has_scheme(std::string_view text);

/// The URI of the one listed resource that a word names: by its whole name, or else by the last parts of its URI's path.
/// Errors: resource_not_found; invalid_argument where there are several, naming them; those of the list.
[[nodiscard]] result<std::string> resource_named(client& of, std::string_view word, const call_options& how);
/// The one listed template of that name; a word with braces or a scheme is a template itself. Errors: as above.
[[nodiscard]] result<std::string> template_named(client& of, const std::string& word, const call_options& how);

/// A typed URI as the lists of `server` spell it: canonically, where it lists in our dialect; else as it was typed. Errors:
/// invalid_argument for one that is malformed.
[[nodiscard]] result<std::string> as_listed(const server_description& server, const std::string& typed);
/// The typed beginning of a URI, or all of it, as lists spell it: letters of any language, and what no URI has as it is, are
/// escaped. Errors: invalid_argument for what no URI begins with.
[[nodiscard]] result<std::string> beginning_as_listed(const std::string& typed);

/// The values of `--with`, in order. Errors: invalid_argument for one that is no NAME=VALUE.
[[nodiscard]] result<std::vector<std::pair<std::string, std::string>>> given_values(const command_line& line);

/// Why a URI leads nowhere: a malformed one because it is (invalid_argument), any other because of what the server said.
[[nodiscard]] failure blamed_on(const std::string& uri, const failure& why);

/// Why a URI cannot be read. Many servers use one error number for a missing resource (resource_not_found), a wrong query
/// parameter (invalid_argument) and unreadable content (refused). Our own servers name the reason in the error's data
/// (`names_reasons`); for others, words of the message decide.
[[nodiscard]] failure why_not_read(const std::string& uri, const failure& why, bool names_reasons);

/// What is said of contents that come from what is kept, since their source could not be asked, with their age; empty: there
/// are none such.
[[nodiscard]] std::string told_of_kept(const std::vector<read_item>& items);

/// `text` as what `schema` says of its type; without a type: JSON if it is, else a string. Errors: invalid_argument.
[[nodiscard]] result<value> typed_value(std::string_view text, const value& schema);

/// `name=value` words as the arguments of a tool with this input schema. A name that comes several times makes an array.
/// Errors: invalid_argument, naming the word, and the arguments there are.
[[nodiscard]] result<value> typed_arguments(const std::vector<std::string>& words, const value& input_schema);

/// Whether an object schema wants the member.
[[nodiscard]] bool is_required(const value& schema, std::string_view name);

/// Errors: invalid_argument, naming what the input schema of `called` requires and `arguments` lacks, and how it is given.
[[nodiscard]] result<void> has_all_required(const value& arguments, const tool& called);

}  // namespace hondana::cli
