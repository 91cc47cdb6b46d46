/// System call filters: a denylist for servers, and an allowlist for processes that only compute.

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "os/sandbox/sandbox.hpp"

namespace hondana::sandbox {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool looks_for_leaks = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool looks_for_leaks = true;
#else
constexpr bool looks_for_leaks = false;
#endif
#else
constexpr bool looks_for_leaks = false;
#endif

/// System calls that always fail, regardless of their arguments. Names unknown to this architecture or kernel are skipped.
constexpr std::array denied{
    // Memory and descriptors of other processes.
    "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise", "migrate_pages", "move_pages", "shmget",
    "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open",
    "mq_unlink",
    // Attributes of files by path, which Landlock does not restrict. Calls by descriptor only reach files that may be opened.
    "chown", "chown32", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utime", "utimes",
    "futimesat", "utimensat", "utimensat_time64",
    // Execution of programs. A server's programs are started by a process that exists before the filter.
    "execve", "execveat",
    // Other views of the file system, and files without their paths.
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick",
    "mount_setattr", "open_by_handle_at", "unshare", "setns", "swapon", "swapoff", "quotactl", "quotactl_fd",
    // Large attack surfaces of the kernel.
    "bpf", "perf_event_open", "keyctl", "add_key", "request_key", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "lookup_dcookie", "nfsservctl", "vm86", "vm86old", "modify_ldt", "uselib", "fanotify_init",
    // Administration of the machine.
    "init_module", "finit_module", "create_module", "delete_module", "query_module", "get_kernel_syms", "kexec_load",
    "kexec_file_load", "reboot", "iopl", "ioperm", "personality", "acct", "syslog", "settimeofday", "stime", "clock_settime",
    "clock_settime64", "adjtimex", "clock_adjtime", "clock_adjtime64", "sethostname", "setdomainname", "vhangup", "_sysctl",
    "sysfs"};

/// File modes and owners by path, which Unix sockets for other users need.
constexpr std::array mode_calls{"chmod", "fchmodat", "lchown", "lchown32", "fchownat"};

struct numbered_call {
  const char* name;
  int number;
};
/// Calls that the seccomp library does not know yet. Their numbers are the same on every architecture.
/// Source: scripts/syscall.tbl of Linux 6.18.
constexpr std::array<numbered_call, 4> newer_calls{
    {{"setxattrat", 463}, {"removexattrat", 466}, {"open_tree_attr", 467}, {"file_setattr", 469}}};
/// A newer call that belongs to `mode_calls`.
constexpr numbered_call newer_mode_call{"fchmodat2", 452};

/// Flags of clone(2) that create namespaces.
constexpr std::array<std::uint64_t, 8> namespaces{CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,    CLONE_NEWUSER,
                                                  CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP, 0x80 /* CLONE_NEWTIME */};
/// ioctl requests that inject input into the controlling terminal.
constexpr std::array<std::uint64_t, 2> input_injection_requests{TIOCSTI, TIOCLINUX};

tl::unexpected<failure> filter_failure(const std::string& step, int error) {
  return fail(errc::source_unavailable, "system calls cannot be filtered: " + step + ": " + std::strerror(error));
}

using denylist = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

result<void> deny(const denylist& filter, const numbered_call& call, int error = EPERM) {
  // A call that only exists on another architecture has a number that the library skips.
  const int code = ::seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)), call.number, 0);
  if (code != 0 && code != -EDOM) return filter_failure(call.name, -code);
  return {};
}

result<void> deny(const denylist& filter, const char* name, int error = EPERM) {
  const int call = ::seccomp_syscall_resolve_name(name);
  if (call == __NR_SCMP_ERROR) return {};
  return deny(filter, numbered_call{name, call}, error);
}

result<void> deny_if(const denylist& filter, int call, const char* name, const scmp_arg_cmp& argument) {
  const int code = ::seccomp_rule_add_array(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 1, &argument);
  if (code != 0) return filter_failure(name, -code);
  return {};
}

template <class Calls>
result<void> deny_each(const denylist& filter, const Calls& calls) {
  for (const auto& call : calls) {
    HONDANA_TRY(deny(filter, call));
  }
  return {};
}

result<void> deny_all(const denylist& filter) {
  HONDANA_TRY(deny_each(filter, denied));
  HONDANA_TRY(deny_each(filter, newer_calls));
  // The C library queries its own limits with process id 0.
  HONDANA_TRY(deny_if(filter, SCMP_SYS(prlimit64), "prlimit64", {0, SCMP_CMP_NE, 0, 0}));
  // Leak detection uses ptrace.
  if (!looks_for_leaks) {
    HONDANA_TRY(deny(filter, "ptrace"));
  }
  // Its flags are in memory, which filters cannot read. After ENOSYS, the C library uses clone.
  HONDANA_TRY(deny(filter, "clone3", ENOSYS));
  for (const auto flag : namespaces) {
    HONDANA_TRY(deny_if(filter, SCMP_SYS(clone), "clone", {0, SCMP_CMP_MASKED_EQ, flag, flag}));
  }
  for (const auto request : input_injection_requests) {
    // The kernel only uses the lower 32 bits.
    const scmp_arg_cmp is_request{1, SCMP_CMP_MASKED_EQ, 0xffff'ffffu, request};
    HONDANA_TRY(deny_if(filter, SCMP_SYS(ioctl), "ioctl", is_request));
  }
  return {};
}

}  // namespace

result<void> apply_filter(const permissions& granted) {
  const denylist filter(::seccomp_init(SCMP_ACT_ALLOW), [](scmp_filter_ctx context) { ::seccomp_release(context); });
  if (!filter) return filter_failure("no memory", ENOMEM);
  // Calls of other architectures fail with an error and do not kill the process.
  if (const int attribute_code = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
      attribute_code != 0)
    return filter_failure("other architectures", -attribute_code);
  HONDANA_TRY(deny_all(filter));
  if (!granted.changes_file_modes) {
    HONDANA_TRY(deny_each(filter, mode_calls));
    HONDANA_TRY(deny(filter, newer_mode_call));
  }
  if (const int load_code = ::seccomp_load(filter.get()); load_code != 0) return filter_failure("the kernel", -load_code);
  return {};
}

namespace {

/// Allowed system calls. Names unknown to this architecture or kernel are skipped. Landlock restricts which files they open and
/// read.
constexpr std::array allowed_calls{
    // Reading and writing open files.
    "read", "readv", "pread64", "preadv", "write", "writev", "lseek", "_llseek", "close", "fstat", "fstat64", "fadvise64",
    "fadvise64_64", "arm_fadvise64_64", "dup", "dup2", "dup3", "poll", "ppoll", "ppoll_time64",
    // Finding files.
    "stat", "stat64", "lstat", "lstat64", "newfstatat", "fstatat64", "statx", "access", "faccessat", "faccessat2", "readlink",
    "readlinkat", "getdents", "getdents64", "getcwd", "statfs", "fstatfs", "statfs64", "fstatfs64",
    // Memory.
    "brk", "mmap", "mmap2", "munmap", "mremap", "mprotect", "madvise", "mincore", "membarrier",
    // Locks within the process, signals to itself, and its exit.
    "futex", "futex_time64", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "sigreturn", "restart_syscall",
    "exit", "exit_group",
    // Program startup in the C library.
    "arch_prctl", "set_thread_area", "set_tls", "set_tid_address", "set_robust_list", "rseq", "getrandom",
    // Identity, system information and time.
    "getpid", "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getuid32", "geteuid32", "getgid32", "getegid32",
    "uname", "sysinfo", "getrlimit", "ugetrlimit", "getrusage", "times", "sched_getaffinity", "sched_yield", "getcpu",
    "clock_gettime", "clock_gettime64", "clock_getres", "clock_getres_time64", "gettimeofday", "time", "nanosleep",
    "clock_nanosleep", "clock_nanosleep_time64"};

using allowlist = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

tl::unexpected<failure> allowlist_failure(const std::string& step, int error) {
  return fail(errc::source_unavailable, "system calls cannot be filtered: " + step + ": " + std::strerror(error));
}

result<void> allow(const allowlist& filter, const char* name) {
  const int call = ::seccomp_syscall_resolve_name(name);
  if (call == __NR_SCMP_ERROR) return {};
  const int code = ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
  // A call that only exists on another architecture, or that is multiplexed there.
  if (code != 0 && code != -EDOM && code != -EINVAL) return allowlist_failure(name, -code);
  return {};
}

result<void> allow_if(const allowlist& filter, int call, const char* name, const scmp_arg_cmp& argument) {
  const int code = ::seccomp_rule_add_array(filter.get(), SCMP_ACT_ALLOW, call, 1, &argument);
  if (code != 0) return allowlist_failure(name, -code);
  return {};
}

/// Allows opening files for reading, also without Landlock.
result<void> allow_opening(const allowlist& filter) {
  constexpr scmp_datum_t write_flags = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC;
  HONDANA_TRY(allow_if(filter, SCMP_SYS(openat), "openat", {2, SCMP_CMP_MASKED_EQ, write_flags, 0}));
  // Newer architectures have no `open`; its number is then negative.
  const int call = ::seccomp_syscall_resolve_name("open");
  if (call < 0) return {};
  return allow_if(filter, call, "open", {1, SCMP_CMP_MASKED_EQ, write_flags, 0});
}

result<void> allow_all(const allowlist& filter) {
  for (const auto* allowed : allowed_calls) {
    HONDANA_TRY(allow(filter, allowed));
  }
  // It may lower its own limits only.
  HONDANA_TRY(allow_if(filter, SCMP_SYS(prlimit64), "prlimit64", {0, SCMP_CMP_EQ, 0, 0}));
  // abort() sends a signal to the process itself.
  const auto own_pid = static_cast<scmp_datum_t>(::getpid());
  for (const auto& [call, name] : {std::pair{SCMP_SYS(tgkill), "tgkill"}, std::pair{SCMP_SYS(kill), "kill"}}) {
    HONDANA_TRY(allow_if(filter, call, name, {0, SCMP_CMP_EQ, own_pid, 0}));
  }
  // The C library checks for each stream whether it is a terminal.
  HONDANA_TRY(allow_if(filter, SCMP_SYS(ioctl), "ioctl", {1, SCMP_CMP_MASKED_EQ, 0xffff'ffffu, TCGETS}));
  for (const auto command : {F_GETFD, F_SETFD, F_GETFL, F_DUPFD_CLOEXEC}) {
    const auto number = static_cast<scmp_datum_t>(command);
    HONDANA_TRY(allow_if(filter, SCMP_SYS(fcntl), "fcntl", {1, SCMP_CMP_EQ, number, 0}));
  }
  return {};
}

}  // namespace

result<void> apply_allowlist(const permissions& granted) {
  const allowlist filter(::seccomp_init(SCMP_ACT_ERRNO(ENOSYS)), [](scmp_filter_ctx context) { ::seccomp_release(context); });
  if (!filter) return allowlist_failure("no memory", ENOMEM);
  if (const int attribute_code = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
      attribute_code != 0)
    return allowlist_failure("other architectures", -attribute_code);
  HONDANA_TRY(allow_all(filter));
  if (!granted.paths.empty()) {
    HONDANA_TRY(allow_opening(filter));
  }
  const bool may_execute = std::any_of(granted.paths.begin(), granted.paths.end(),
                                       [](const auto& permission) { return permission.mode == access::execute; });
  if (may_execute) {
    HONDANA_TRY(allow(filter, "execve"));
  }
  if (const int load_code = ::seccomp_load(filter.get()); load_code != 0) return allowlist_failure("the kernel", -load_code);
  return {};
}

}  // namespace hondana::sandbox
