/// What the tools have in common: filters among their arguments, and entries in their answers.
#pragma once

#include <hondana/error.hpp>
#include <hondana/resource.hpp>
#include <hondana/value.hpp>

#include "protocol/model/filter.hpp"

namespace hondana::tools {

/// The properties `uriPrefix`, `mimeType`, `minPriority` and `modifiedSince` of an input schema.
[[nodiscard]] value::object filter_properties();
/// Those arguments. Errors: invalid_argument, naming the argument and what was expected.
[[nodiscard]] result<model::resource_filter> filter_of(const value& arguments);

/// The members of an entry that its schema below names; what an entry does not have is left out.
[[nodiscard]] value::object members_of(const resource& entry);
[[nodiscard]] value::object entry_properties();

/// `{"type":TYPE,"description":DESCRIPTION}` and further members.
[[nodiscard]] value property(const char* type, const char* description, value::object more = {});

}  // namespace hondana::tools
