/// A wall clock that stands still.
#pragma once

#include "os/disk/file_stamp.hpp"

namespace hondana::disk {

/// While it exists, files that change count as changed just now, however long ago that is. At most one in a process.
class stopped_wall_clock {
 public:
  stopped_wall_clock() noexcept { set_wall_clock_for_tests(wall_clock()); }
  ~stopped_wall_clock() { set_wall_clock_for_tests(0); }
  stopped_wall_clock(const stopped_wall_clock&) = delete;
  stopped_wall_clock& operator=(const stopped_wall_clock&) = delete;
};

}  // namespace hondana::disk
