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

/// If this fails, the old memory stays valid, as with realloc.
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

/// libgit2 1.8 and later has fewer members.
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

namespace {

// Bytes of objects that libgit2 caches per process. Responses are cached elsewhere.
constexpr ssize_t kept_objects = ssize_t{16} << 20;
// Bytes of the largest file that is cached. By default libgit2 caches none.
constexpr std::size_t largest_kept_blob = std::size_t{512} << 10;
// Bytes of packs that are mapped at once, in all repositories together.
constexpr std::size_t mapped_packs = std::size_t{1} << 30;

int start() {
  if (const int code = bound_allocations(); code < 0) return code;
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
  if (const int code = git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, kept_objects); code < 0) return code;
  if (const int code = git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_BLOB, largest_kept_blob); code < 0)
    return code;
  // No limit of open packs: a pack that one thread closes to make room may be in use by another. Screening limits their number
  // instead.
  return git_libgit2_opts(GIT_OPT_SET_MWINDOW_MAPPED_LIMIT, mapped_packs);
}

}  // namespace

result<void> ready() {
  // Never undone: abandoned calls may still use it when the process ends.
  static const int code = start();
  if (code < 0) return failed("git repositories cannot be read: libgit2 did not start");
  return catch_torn_pages();
}

std::string last_words() {
  const git_error* const error = git_error_last();
  return error != nullptr && error->message != nullptr ? std::string(error->message) : std::string();
}

tl::unexpected<failure> failed(std::string what) {
  auto said = last_words();
  git_error_clear();
  return fail(errc::source_unavailable, std::move(what), std::move(said));
}

std::string text_of(const git_oid& id) {
  std::array<char, GIT_OID_HEXSZ + 1> text{};
  git_oid_tostr(text.data(), text.size(), &id);
  return text.data();
}

}  // namespace hondana::git
