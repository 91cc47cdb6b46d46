/// What `hondana check` says of the sandbox.
#pragma once

#include <string_view>

#include <hondana/provider.hpp>

#include "app/cli/sandbox/server_sandbox.hpp"

namespace hondana::cli {

/// Prints what is in force, for people or as a JSON line.
void print_sandbox(const server_sandbox& of, bool as_json);
/// Prints what the record of requests needs; nothing where there is none.
void print_record_needs(const config::settings& of, bool as_json);
/// Prints what a source needs of the machine; nothing where it needs nothing.
void print_needs(std::string_view source, const needs& needs, bool as_json);

}  // namespace hondana::cli
