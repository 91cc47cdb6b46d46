/// How many files may be open at once because somebody is still being sent them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <hondana/error.hpp>

namespace hondana::files {

/// Places for answers that are read while they are sent, each with an open file: an eighth of the descriptors this process may
/// open, and of those a quarter for the callers of one address (of IPv6: one /64; those of this machine have all), so that slow
/// readers leave enough for everybody's small files and for connections. Threads: any.
class reader_set {
 public:
  /// `most`: instead of what the descriptor limit allows; 0: that.
  explicit reader_set(std::size_t most = 0);

  /// A place, given up with the last copy of the pointer, which may outlive the set. Errors: overloaded.
  [[nodiscard]] result<std::shared_ptr<void>> enter(const std::string& address);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::files
