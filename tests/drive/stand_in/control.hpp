/// The stand-in is told over HTTP what a test in the same process calls.
#pragma once

#include "drive/stand_in/server.hpp"
#include "drive/stand_in/web.hpp"

namespace drive_test {

/// Any request below /_control/; README.md has them all. 400 with a text for what is wrong.
answer control(stand_in& of, const asked& from);

}  // namespace drive_test
