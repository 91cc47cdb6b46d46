/// Configuration as JSON.
#pragma once

#include <string>

#include <hondana/value.hpp>

#include "text/located/node.hpp"

namespace hondana::located {

/// The JSON text of a tree, without white space; members in the order of the table, numbers with the digits they have.
[[nodiscard]] std::string json_text(const node& of);
void append_json(std::string& out, const node& of);

/// The same as a value, where an integer of more than 64 bits is a number, and one beyond all doubles null.
[[nodiscard]] value json_of(const node& of);

}  // namespace hondana::located
