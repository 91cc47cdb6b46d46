/// What other threads want of the one that watches.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "sources/files/root.hpp"

namespace hondana::files {

struct errand {
  enum class kind { attach, detach, look_below } what = kind::attach;
  std::string uri;
  std::shared_ptr<const root> of;
  std::string path;
  std::int64_t since = 0;  ///< By `disk::wall_clock`.
};

}  // namespace hondana::files
