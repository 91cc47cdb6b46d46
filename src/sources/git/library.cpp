/// Starts libgit2 with as little of the machine as it can do with.
#include "sources/git/library.hpp"

#include <array>
#include <utility>

#include "sources/git/allocations.hpp"
#include "sources/git/torn_files.hpp"

namespace hondana::git {
namespace {

// Of objects that libgit2 keeps in memory for each process; what we serve is cached behind us.
constexpr ssize_t kept_objects = ssize_t{16} << 20;
// Of files that are small enough to be among them; libgit2 keeps none by default.
constexpr std::size_t largest_kept_blob = std::size_t{512} << 10;
// Of packs that are mapped at once, in all repositories together.
constexpr std::size_t mapped_packs = std::size_t{1} << 30;

int start() {
  if (const int code = bound_allocations(); code < 0) return code;
  if (const int code = git_libgit2_init(); code < 0) return code;
  for (const int level :
       {GIT_CONFIG_LEVEL_PROGRAMDATA, GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG, GIT_CONFIG_LEVEL_GLOBAL}) {
    if (const int code = git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, level, ""); code < 0) return code;
  }
  if (const int code = git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 1); code < 0) return code;
  // An id is the version of what is read, which is kept for a day by it: bytes that are not those of the id must never go by
  // it, and checksums within packs and loose objects say nothing about which object it is. This triples what reading a blob
  // from a pack costs (8.6 to 34 us for one of 5 KiB, 600 to 150 MB/s), so that those read last are kept, as they were
  // verified.
  if (const int code = git_libgit2_opts(GIT_OPT_ENABLE_STRICT_HASH_VERIFICATION, 1); code < 0) return code;
  if (const int code = git_libgit2_opts(GIT_OPT_SET_CACHE_MAX_SIZE, kept_objects); code < 0) return code;
  if (const int code = git_libgit2_opts(GIT_OPT_SET_CACHE_OBJECT_LIMIT, GIT_OBJECT_BLOB, largest_kept_blob); code < 0)
    return code;
  // No limit of open packs: one that another thread closes for it may just be gone. Screening counts packs instead.
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
