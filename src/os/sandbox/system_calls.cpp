/// The list of calls, as libseccomp knows them.
#include "os/sandbox/system_calls.hpp"

#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

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

/// Calls that fail whatever their arguments are. Names that this architecture or kernel does not have are passed over.
constexpr std::array denied{
    // Other processes' memory and descriptors.
    "process_vm_readv", "process_vm_writev", "kcmp", "pidfd_getfd", "process_madvise", "migrate_pages", "move_pages", "shmget",
    "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open",
    "mq_unlink",
    // What is said of files, by their paths, which Landlock lets be; by descriptors only those are reached that may be opened.
    "chown", "chown32", "setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "utime", "utimes",
    "futimesat", "utimensat", "utimensat_time64",
    // Other programs. A server's are started by a process that was there before the filter.
    "execve", "execveat",
    // Another view of files than the one it has been given; files without their paths.
    "mount", "umount", "umount2", "pivot_root", "chroot", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick",
    "mount_setattr", "open_by_handle_at", "unshare", "setns", "swapon", "swapoff", "quotactl", "quotactl_fd",
    // The kernel's larger surfaces.
    "bpf", "perf_event_open", "keyctl", "add_key", "request_key", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "lookup_dcookie", "nfsservctl", "vm86", "vm86old", "modify_ldt", "uselib", "fanotify_init",
    // The machine.
    "init_module", "finit_module", "create_module", "delete_module", "query_module", "get_kernel_syms", "kexec_load",
    "kexec_file_load", "reboot", "iopl", "ioperm", "personality", "acct", "syslog", "settimeofday", "stime", "clock_settime",
    "clock_settime64", "adjtimex", "clock_adjtime", "clock_adjtime64", "sethostname", "setdomainname", "vhangup", "_sysctl",
    "sysfs"};

/// Who may use a file, by its path: what a Unix socket needs that is for others, too.
constexpr std::array modes{"chmod", "fchmodat", "lchown", "lchown32", "fchownat"};

struct numbered {
  const char* name;
  int number;
};
/// Calls that libraries in use do not know; on every architecture they have the same number.
/// Source: scripts/syscall.tbl of Linux 6.18.
constexpr std::array<numbered, 4> newer{
    {{"setxattrat", 463}, {"removexattrat", 466}, {"open_tree_attr", 467}, {"file_setattr", 469}}};
/// Another of `modes`.
constexpr numbered newer_mode{"fchmodat2", 452};

/// Flags of clone(2) that make namespaces.
constexpr std::array<std::uint64_t, 8> namespaces{CLONE_NEWNS,  CLONE_NEWUTS, CLONE_NEWIPC,    CLONE_NEWUSER,
                                                  CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWCGROUP, 0x80 /* CLONE_NEWTIME */};
/// What types into the terminal of whoever started this.
constexpr std::array<std::uint64_t, 2> typing{TIOCSTI, TIOCLINUX};

tl::unexpected<failure> unfiltered(const std::string& what, int error) {
  return fail(errc::source_unavailable, "system calls cannot be filtered: " + what + ": " + std::strerror(error));
}

using filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

result<void> deny(const filter& to, const numbered& one, int error = EPERM) {
  // A call that another architecture has and this one has not gets a number that the library skips.
  const int done = ::seccomp_rule_add(to.get(), SCMP_ACT_ERRNO(static_cast<std::uint32_t>(error)), one.number, 0);
  if (done != 0 && done != -EDOM) return unfiltered(one.name, -done);
  return {};
}

result<void> deny(const filter& to, const char* name, int error = EPERM) {
  const int call = ::seccomp_syscall_resolve_name(name);
  if (call == __NR_SCMP_ERROR) return {};
  return deny(to, numbered{name, call}, error);
}

result<void> deny_if(const filter& to, int call, const char* name, const scmp_arg_cmp& argument) {
  const int done = ::seccomp_rule_add_array(to.get(), SCMP_ACT_ERRNO(EPERM), call, 1, &argument);
  if (done != 0) return unfiltered(name, -done);
  return {};
}

template <class calls>
result<void> deny_each(const filter& to, const calls& all) {
  for (const auto& one : all) {
    HONDANA_TRY(deny(to, one));
  }
  return {};
}

result<void> deny_all(const filter& to) {
  HONDANA_TRY(deny_each(to, denied));
  HONDANA_TRY(deny_each(to, newer));
  // The C library asks for its own limits by 0.
  HONDANA_TRY(deny_if(to, SCMP_SYS(prlimit64), "prlimit64", {0, SCMP_CMP_NE, 0, 0}));
  // Leaks are looked for by a tracer.
  if (!looks_for_leaks) {
    HONDANA_TRY(deny(to, "ptrace"));
  }
  // Its flags lie in memory, where no filter sees them; told that it is not there, the C library takes clone.
  HONDANA_TRY(deny(to, "clone3", ENOSYS));
  for (const auto flag : namespaces) {
    HONDANA_TRY(deny_if(to, SCMP_SYS(clone), "clone", {0, SCMP_CMP_MASKED_EQ, flag, flag}));
  }
  for (const auto request : typing) {
    // The kernel looks at the lower half alone.
    const scmp_arg_cmp is_request{1, SCMP_CMP_MASKED_EQ, 0xffff'ffffu, request};
    HONDANA_TRY(deny_if(to, SCMP_SYS(ioctl), "ioctl", is_request));
  }
  return {};
}

}  // namespace

result<void> apply_filter(const permissions& to) {
  const filter all(::seccomp_init(SCMP_ACT_ALLOW), [](scmp_filter_ctx one) { ::seccomp_release(one); });
  if (!all) return unfiltered("no memory", ENOMEM);
  // Calls of another architecture's numbering, too, are answered and not punished.
  if (const int done = ::seccomp_attr_set(all.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM)); done != 0)
    return unfiltered("other architectures", -done);
  HONDANA_TRY(deny_all(all));
  if (!to.changes_modes) {
    HONDANA_TRY(deny_each(all, modes));
    HONDANA_TRY(deny(all, newer_mode));
  }
  if (const int done = ::seccomp_load(all.get()); done != 0) return unfiltered("the kernel", -done);
  return {};
}

}  // namespace hondana::sandbox
