/// malloc with an end.
#include "sources/git/allocations.hpp"

#include <git2.h>
#include <git2/sys/alloc.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace hondana::git {
namespace {

void* no_memory() noexcept {
  git_error_set_oom();
  return nullptr;
}

void* or_no_memory(void* memory) noexcept { return memory != nullptr ? memory : no_memory(); }

bool is_allowed(std::size_t count, std::size_t size) noexcept { return size == 0 || count <= largest_allocation / size; }

void* bounded_malloc(std::size_t size, const char*, int) {
  return is_allowed(1, size) ? or_no_memory(std::malloc(size)) : no_memory();
}

void* bounded_calloc(std::size_t count, std::size_t size, const char*, int) {
  return is_allowed(count, size) ? or_no_memory(std::calloc(count, size)) : no_memory();
}

/// What was there stays where it is when this fails, as with realloc.
void* bounded_realloc(void* memory, std::size_t size, const char*, int) {
  return is_allowed(1, size) ? or_no_memory(std::realloc(memory, size)) : no_memory();
}

void* bounded_reallocarray(void* memory, std::size_t count, std::size_t size, const char* file, int line) {
  return is_allowed(count, size) ? bounded_realloc(memory, count * size, file, line) : no_memory();
}

void* bounded_mallocarray(std::size_t count, std::size_t size, const char* file, int line) {
  return bounded_reallocarray(nullptr, count, size, file, line);
}

char* bounded_copy(const char* text, std::size_t size, const char* file, int line) {
  auto* const copy = size < largest_allocation ? static_cast<char*>(bounded_malloc(size + 1, file, line)) : nullptr;
  if (copy == nullptr) return static_cast<char*>(no_memory());
  std::copy_n(text, size, copy);
  copy[size] = '\0';
  return copy;
}

char* bounded_strdup(const char* text, const char* file, int line) { return bounded_copy(text, std::strlen(text), file, line); }

char* bounded_strndup(const char* text, std::size_t most, const char* file, int line) {
  return bounded_copy(text, ::strnlen(text, most), file, line);
}

/// The members of libgit2 1.8 and later are fewer.
template <class Allocator>
Allocator bounded_allocator() {
  Allocator all{};
  all.gmalloc = bounded_malloc;
  all.grealloc = bounded_realloc;
  all.gfree = [](void* memory) { std::free(memory); };
  if constexpr (requires { all.gcalloc; }) {
    all.gcalloc = bounded_calloc;
    all.gstrdup = bounded_strdup;
    all.gstrndup = bounded_strndup;
    all.gsubstrdup = bounded_copy;
    all.greallocarray = bounded_reallocarray;
    all.gmallocarray = bounded_mallocarray;
  }
  return all;
}

}  // namespace

int bound_allocations() {
  auto all = bounded_allocator<git_allocator>();
  return git_libgit2_opts(GIT_OPT_SET_ALLOCATOR, &all);
}

}  // namespace hondana::git
