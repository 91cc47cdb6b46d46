/// Limits first, then the sandbox, which lets none be raised.
#include "os/process/shut_in.hpp"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "os/sandbox/sandbox.hpp"

namespace hondana::process {
namespace {

// Sanitizers keep more address space than any limit leaves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool limits_memory = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool limits_memory = false;
#else
constexpr bool limits_memory = true;
#endif
#else
constexpr bool limits_memory = true;
#endif

/// False when the kernel refuses it. A hard limit that is lower already stays.
bool limit(int resource, rlim_t soft, rlim_t hard) {
  rlimit now{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &now) != 0) return false;
  const rlimit next{std::min(soft, now.rlim_max), std::min(hard, now.rlim_max)};
  return ::setrlimit(static_cast<__rlimit_resource_t>(resource), &next) == 0;
}

}  // namespace

result<std::string> shut_in(sandbox::permissions to, const limits& most) {
  // Also a program that nobody waits for any more ends, and one that is started by another than this library.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_DUMPABLE, 0);
  const auto seconds = static_cast<rlim_t>((most.time.count() + 999) / 1000);
  constexpr rlim_t descriptors = 64;
  bool is_limited = limit(RLIMIT_CPU, seconds, seconds + 1) && limit(RLIMIT_FSIZE, 0, 0) && limit(RLIMIT_CORE, 0, 0) &&
                    limit(RLIMIT_NOFILE, descriptors, descriptors) && limit(RLIMIT_NPROC, 0, 0);
  to.only_computes = true;
  HONDANA_TRY(auto confined, sandbox::confine(to));
  auto lacks = std::move(confined.lacks);
  // Last: what was set up till now may have needed more than its limit leaves.
  if (limits_memory) is_limited = limit(RLIMIT_AS, most.memory, most.memory) && is_limited;
  if (!is_limited) lacks += lacks.empty() ? "resource limits cannot be set" : "; resource limits cannot be set";
  return lacks;
}

}  // namespace hondana::process
