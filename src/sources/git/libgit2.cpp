/// Owning pointers for libgit2 objects, and the initialization of libgit2 with a cap on single allocations.
#include "sources/git/libgit2.hpp"

#include <git2.h>
#include <git2/sys/alloc.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "sources/git/mapped_packs.hpp"

namespace hondana::git {
namespace {

void* report_no_memory() noexcept {
  git_error_set_oom();
  return nullptr;
}

void* check_allocated(void* memory) noexcept { return memory != nullptr ? memory : report_no_memory(); }

bool is_allowed(std::size_t count, std::size_t size) noexcept { return size == 0 || count <= max_allocation_bytes / size; }

void* bounded_malloc(std::size_t size, const char*, int) {
  return is_allowed(1, size) ? check_allocated(std::malloc(size)) : report_no_memory();
}

void* bounded_calloc(std::size_t count, std::size_t size, const char*, int) {
  return is_allowed(count, size) ? check_allocated(std::calloc(count, size)) : report_no_memory();
}

/// If this fails, the old memory stays valid, as with realloc.
void* bounded_realloc(void* memory, std::size_t size, const char*, int) {
  return is_allowed(1, size) ? check_allocated(std::realloc(memory, size)) : report_no_memory();
}

void* bounded_reallocarray(void* memory, std::size_t count, std::size_t size, const char* file, int line) {
  return is_allowed(count, size) ? bounded_realloc(memory, count * size, file, line) : report_no_memory();
}

void* bounded_mallocarray(std::size_t count, std::size_t size, const char* file, int line) {
  return bounded_reallocarray(nullptr, count, size, file, line);
}

char* bounded_copy(const char* text, std::size_t size, const char* file, int line) {
  auto* const copy = size < max_allocation_bytes ? static_cast<char*>(bounded_malloc(size + 1, file, line)) : nullptr;
  if (copy == nullptr) return static_cast<char*>(report_no_memory());
  std::copy_n(text, size, copy);
  copy[size] = '\0';
  return copy;
}

char* bounded_strdup(const char* text, const char* file, int line) { return bounded_copy(text, std::strlen(text), file, line); }

char* bounded_strndup(const char* text, std::size_t max_length, const char* file, int line) {
  return bounded_copy(text, ::strnlen(text, max_length), file, line);
}

/// libgit2 1.8 and later has fewer members.
template <class Allocator>
Allocator bounded_allocator() {
  Allocator allocator{};
  allocator.gmalloc = bounded_malloc;
  allocator.grealloc = bounded_realloc;
  allocator.gfree = [](void* memory) { std::free(memory); };
  if constexpr (requires { allocator.gcalloc; }) {
    allocator.gcalloc = bounded_calloc;
    allocator.gstrdup = bounded_strdup;
    allocator.gstrndup = bounded_strndup;
    allocator.gsubstrdup = bounded_copy;
    allocator.greallocarray = bounded_reallocarray;
    allocator.gmallocarray = bounded_mallocarray;
  }
  return allocator;
}

}  // namespace

int limit_allocations() {
  auto allocator = bounded_allocator<git_allocator>();
  return git_libgit2_opts(GIT_OPT_SET_ALLOCATOR, &allocator);
}

namespace {

// Bytes of objects that libgit2 caches per process. Responses are cached elsewhere.
constexpr ssize_t max_cached_bytes = ssize_t{16} << 20;
// Bytes of the largest file that is cached. By default libgit2 caches none.
constexpr std::size_t max_cached_blob_bytes = std::size_t{512} << 10;
// Bytes of packs that are mapped at once, in all repositories together.
constexpr std::size_t max_mapped_bytes = std::size_t{1} << 30;

int start_libgit2() {
  if (const int code = limit_allocations(); code < 0) return code;
  if (const int code = git_libgit2_init(); code < 0) return code;
  for (const int level :
       {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL}) {
    if (const int code = git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, ""); code < 0) return code;
  }
  if (const int code = git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1); code < 0) return code;
  // An id is the version of a content, which is cached by it for a day. So bytes with another id must never be served under it.
  // Checksums in packs and loose objects do not say which object it is. Verification triples the cost of reading a blob from a
  // pack. For 5 KiB it rises from 8.6 to 34 us, and the rate falls from 600 to 150 MB/s. Therefore recently read blobs are
  // cached after verification.
  if (const int code = git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1); code < 0) return code;
  if (const int code = git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, max_cached_bytes); code < 0) return code;
  if (const int code = git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_BLOB, max_cached_blob_bytes); code < 0)
    return code;
  // No limit of open packs: a pack that one thread closes to make room may be in use by another. Screening limits their number
  // instead.
  return git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, max_mapped_bytes);
}

}  // namespace

result<void> initialize_libgit2() {
  // Never undone: abandoned calls may still use it when the process ends.
  static const int code = start_libgit2();
  if (code < 0) return libgit2_failure("git repositories cannot be read: libgit2 did not start");
  return install_sigbus_handler();
}

std::string last_error_message() {
  const git_error* const error = git_error_last();
  return error != nullptr && error->message != nullptr ? std::string(error->message) : std::string();
}

tl::unexpected<failure> libgit2_failure(std::string message) {
  auto details = last_error_message();
  git_error_clear();
  return fail(errc::source_unavailable, std::move(message), std::move(details));
}

std::string to_hex(const git_oid& id) {
  std::array<char, GIT_OID_HEXSZ + 1> text{};
  git_oid_tostr(text.data(), text.size(), &id);
  return text.data();
}

}  // namespace hondana::git
