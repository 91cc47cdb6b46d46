/// How much libgit2 may ask for at once.
#pragma once

#include <cstddef>

namespace hondana::git {

/// The largest object of the room, 512 MiB, with what libgit2 puts behind it. It allocates what a pack says an object has, and
/// every object that one is a difference to, before it reads a byte of it.
constexpr std::size_t largest_allocation = std::size_t{513} << 20;

/// Has libgit2 take its memory from malloc, but never more than `largest_allocation` at once: then it is told that there is
/// none, and the call fails. Before `git_libgit2_init`. A code of libgit2.
[[nodiscard]] int bound_allocations();

}  // namespace hondana::git
