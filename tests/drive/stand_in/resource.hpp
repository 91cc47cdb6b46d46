/// How files, drives and people are shown: the resources of the API, whole.
#pragma once

#include <boost/json/object.hpp>

#include <string>

#include "drive/stand_in/shelf.hpp"

namespace drive_test {

/// With two members of ours for queries, "#writers" and "#readers".
boost::json::object shown_file(const shelf& in, const held_file& one, const std::string& user, const std::string& origin,
                               const resource_keys& with);
boost::json::object shown_drive(const held_drive& one);
boost::json::object shown_person(const std::string& address, const std::string& user);
/// Whether it was shared with the user and is not theirs.
bool is_shared_with(const shelf& in, const held_file& one, const std::string& user);

}  // namespace drive_test
