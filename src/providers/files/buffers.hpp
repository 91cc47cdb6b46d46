/// The bounded set of buffers that whole reads go into.
#pragma once

#include <cstddef>
#include <memory>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

namespace hondana::files {

/// The most a whole read takes; what is larger is streamed.
inline constexpr std::size_t whole_bytes = 1 << 20;

/// Lends at most `count` buffers at a time; whoever comes when all are lent waits. Threads: any, at once.
class buffer_set {
 public:
  explicit buffer_set(std::size_t count = 64);

  /// A buffer of `size` bytes of unspecified content, which may be made larger. It goes back when the last copy of the pointer
  /// dies, which may be after the set itself; what is much larger than `whole_bytes` is then freed.
  /// Errors: timed_out at the call's deadline, cancelled.
  [[nodiscard]] result<std::shared_ptr<std::string>> borrow(std::size_t size, const call& by);

 private:
  struct state;
  struct loan;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::files
