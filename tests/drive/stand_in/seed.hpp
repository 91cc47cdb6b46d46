/// Files as a JSON text has them.
#pragma once

#include <boost/json/object.hpp>

#include <string_view>

#include "drive/stand_in/server.hpp"

namespace drive_test {

/// Adds what {"drives": [...], "files": [...], "generate": {...}} has. Throws std::runtime_error for what is malformed.
void plant(stand_in& into, std::string_view json);
/// One of "files".
file file_of(stand_in& into, const boost::json::object& from);
/// Sets what `from` has, and leaves the rest.
void take(file& into, const boost::json::object& from);
permission permission_of(const boost::json::object& from);
fault fault_of(const boost::json::object& from);
void take(setup& into, const boost::json::object& from);
std::string text_in(const boost::json::object& from, std::string_view name);

}  // namespace drive_test
