/// Masks what comes line by line, where a private key takes many of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::secrets {

/// Masks the lines of one source, such as a program's standard error. Threads: one at a time.
class line_masker {
 public:
  /// What `redact_text` masks, and whole lines between the first and the last one of a private key. A key without a last line
  /// ends where something else begins that has words in it, or when it is longer than any.
  [[nodiscard]] std::string masked(std::string_view line);

 private:
  std::size_t lines_left_ = 0;  ///< Of a key.
};

}  // namespace hondana::secrets
