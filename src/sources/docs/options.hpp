/// How one set of documents is served.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/rendering/rendering.hpp"

namespace hondana::docs {

struct options {
  std::string name{};  ///< The set's: 1 to 64 of a-z, 0-9 and `-`.
  std::string path{};  ///< Absolute.
  /// Patterns as in `.gitignore`. What `include` names is served whatever its name ends in, as far as it is text; when there
  /// are any, nothing else is.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  std::uint64_t max_bytes = 64ull << 20;  ///< Of one document as it stands on disk.
  bool ignore_files = true;               ///< `.gitignore` and `.hondanaignore` are obeyed.
  bool originals = true;                  ///< What is not UTF-8 text is given as it is, too.
  bool redact = true;
  bool watch = true;
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: PDF and Office files are listed and have no text.
  rendering::limits rendered{};
  std::size_t rendered_at_once = 2;
  std::size_t calls = 16;  ///< Threads that the source has.
  std::function<void(std::string_view)> log{};
  std::vector<std::string> kept_back{};  ///< Absolute paths of files that are as if they were not there.
};

}  // namespace hondana::docs
