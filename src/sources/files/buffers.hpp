/// The bounded memory that whole reads go into.
#pragma once

#include <cstddef>
#include <memory>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

namespace hondana::files {

/// The most a whole read takes; what is larger is streamed.
inline constexpr std::size_t whole_bytes = 1 << 20;

/// Lends buffers of at most `byte_cap` together, until what is in them has been sent. Nobody waits: the threads that read are
/// few, and slow peers hold buffers for long. Small buffers are always lent, since they are encoded and given back at once.
/// Threads: any, at once.
class buffer_set {
 public:
  explicit buffer_set(std::size_t byte_cap = 128u << 20);

  /// A buffer of `size` bytes of unspecified content. One that grows later counts as large as it was here, or as `room` says.
  /// It goes back when the last copy of the pointer dies, which may be after the set itself; what is much larger than
  /// `whole_bytes` is then freed. Errors: overloaded when too much is lent.
  [[nodiscard]] result<std::shared_ptr<std::string>> borrow(std::size_t size, std::size_t room = 0);

 private:
  struct state;
  struct loan;
  std::shared_ptr<state> state_;
};

}  // namespace hondana::files
