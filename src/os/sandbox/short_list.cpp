/// The calls of a process that only computes, as libseccomp knows them.
#include <fcntl.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "os/sandbox/system_calls.hpp"

namespace hondana::sandbox {
namespace {

/// Names that this architecture or kernel does not have are passed over. What they open and read is Landlock's business.
constexpr std::array listed{
    // Reading and writing what is open.
    "read", "readv", "pread64", "preadv", "write", "writev", "lseek", "_llseek", "close", "fstat", "fstat64", "fadvise64",
    "fadvise64_64", "arm_fadvise64_64", "dup", "dup2", "dup3", "poll", "ppoll", "ppoll_time64",
    // Looking for files.
    "stat", "stat64", "lstat", "lstat64", "newfstatat", "fstatat64", "statx", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "getdents", "getdents64", "getcwd", "statfs", "fstatfs", "statfs64", "fstatfs64",
    // Memory.
    "brk", "mmap", "mmap2", "munmap", "mremap", "mprotect", "madvise", "mincore", "membarrier",
    // Locks within the process, signals to itself, its end.
    "futex", "futex_time64", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "sigreturn", "restart_syscall",
    "exit", "exit_group",
    // What the C library sets up at a program's start.
    "arch_prctl", "set_thread_area", "set_tls", "set_tid_address", "set_robust_list", "rseq", "getrandom",
    // Who, where and when it is.
    "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getuid32", "geteuid32", "getgid32", "getegid32",
    "uname", "sysinfo", "getrlimit", "ugetrlimit", "getrusage", "times", "sched_getaffinity", "sched_yield", "getcpu",
    "clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64", "gettimeofday", "time", "nanosleep",
    "clock_nanosleep", "clock_nanosleep_time64"};

using short_filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

tl::unexpected<failure> no_list(const std::string& what, int error) {
  return fail(errc::source_unavailable, "system calls cannot be filtered: " + what + ": " + std::strerror(error));
}

result<void> allow(const short_filter& to, const char* name) {
  const int call = ::seccomp_syscall_resolve_name(name);
  if (call == __NR_SCMP_ERROR) return {};
  const int done = ::seccomp_rule_add(to.get(), SCMP_ACT_ALLOW, call, 0);
  // One that only another architecture has, or a family of calls that it numbers otherwise.
  if (done != 0 && done != -EDOM && done != -EINVAL) return no_list(name, -done);
  return {};
}

result<void> allow_if(const short_filter& to, int call, const char* name, const scmp_arg_cmp& argument) {
  const int done = ::seccomp_rule_add_array(to.get(), SCMP_ACT_ALLOW, call, 1, &argument);
  if (done != 0) return no_list(name, -done);
  return {};
}

/// Files are opened for reading, also where there is no Landlock.
result<void> allow_opening(const short_filter& to) {
  constexpr scmp_datum_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  HONDANA_TRY(allow_if(to, SCMP_SYS(openat), "openat", {2, SCMP_CMP_MASKED_EQ, writing, 0}));
  // Newer architectures have no open, which is a number of no call then.
  const int call = ::seccomp_syscall_resolve_name("open");
  if (call < 0) return {};
  return allow_if(to, call, "open", {1, SCMP_CMP_MASKED_EQ, writing, 0});
}

result<void> allow_all(const short_filter& to) {
  for (const auto* one : listed) {
    HONDANA_TRY(allow(to, one));
  }
  // Its own limits are lowered, and nobody else's.
  HONDANA_TRY(allow_if(to, SCMP_SYS(prlimit64), "prlimit64", {0, SCMP_CMP_EQ, 0, 0}));
  // An abort is a signal to itself.
  const auto self = static_cast<scmp_datum_t>(::getpid());
  for (const auto& [call, name] : {std::pair{SCMP_SYS(tgkill), "tgkill"}, std::pair{SCMP_SYS(kill), "kill"}}) {
    HONDANA_TRY(allow_if(to, call, name, {0, SCMP_CMP_EQ, self, 0}));
  }
  // Whether a descriptor is a terminal is asked of each stream.
  HONDANA_TRY(allow_if(to, SCMP_SYS(ioctl), "ioctl", {1, SCMP_CMP_MASKED_EQ, 0xffff'ffffu, TCGETS}));
  for (const auto what : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC}) {
    const auto number = static_cast<scmp_datum_t>(what);
    HONDANA_TRY(allow_if(to, SCMP_SYS(fcntl), "fcntl", {1, SCMP_CMP_EQ, number, 0}));
  }
  return {};
}

}  // namespace

result<void> apply_short_list(const permissions& to) {
  const short_filter all(::seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), [](scmp_filter_ctx one) { ::seccomp_release(one); });
  if (!all) return no_list("no memory", ENOMEM);
  if (const int done = ::seccomp_attr_set(all.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS)); done != 0)
    return no_list("other architectures", -done);
  HONDANA_TRY(allow_all(all));
  if (!to.paths.empty()) {
    HONDANA_TRY(allow_opening(all));
  }
  const bool becomes_another =
      std::any_of(to.paths.begin(), to.paths.end(), [](const auto& one) { return one.may == access::execute; });
  if (becomes_another) {
    HONDANA_TRY(allow(all, "execve"));
  }
  if (const int done = ::seccomp_load(all.get()); done != 0) return no_list("the kernel", -done);
  return {};
}

}  // namespace hondana::sandbox
