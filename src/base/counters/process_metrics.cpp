/// Metrics of the whole process: CPU time, memory, file descriptors, and bytes per transport.
#include "base/counters/process_metrics.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <system_error>

namespace hondana::counters {
namespace {

/// The procfs files that each collection reads. They are opened once, because a sandbox may deny access to the paths later.
class open_files {
 public:
  explicit open_files(const std::string& proc)
      : stat_(::open((proc + "/self/stat").c_str(), O_RDONLY | O_CLOEXEC)),
        descriptors_(::opendir((proc + "/self/fd").c_str())),
        boot_(text_of(proc + "/stat")) {}
  ~open_files() {
    if (stat_ >= 0) ::close(stat_);
    if (descriptors_ != nullptr) ::closedir(descriptors_);
  }
  open_files(const open_files&) = delete;
  open_files& operator=(const open_files&) = delete;

  [[nodiscard]] std::string stat() const {
    std::array<char, 4096> text{};
    const auto size = stat_ >= 0 ? ::pread(stat_, text.data(), text.size(), 0) : -1;
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  /// The number of open file descriptors; nothing if they cannot be listed.
  [[nodiscard]] std::optional<double> descriptors() {
    if (descriptors_ == nullptr) return std::nullopt;
    const std::lock_guard lock(listing_);
    ::rewinddir(descriptors_);
    double out = 0;
    while (const auto* one = ::readdir(descriptors_)) out += one->d_name[0] == '.' ? 0 : 1;
    return out;
  }
  [[nodiscard]] const std::string& boot() const noexcept { return boot_; }

 private:
  static std::string text_of(const std::string& path) {
    std::ifstream from(path);
    return {std::istreambuf_iterator<char>(from), {}};
  }

  const int stat_;
  std::mutex listing_;
  DIR* const descriptors_;
  const std::string boot_;
};

/// The fields after the program name, which can contain any character. Spec: proc(5); the first one is field 3.
std::vector<std::string> stat_fields(const open_files& from) {
  std::vector<std::string> out;
  const auto all = from.stat();
  const auto end = all.rfind(')');
  if (end == std::string::npos) return out;
  std::string one;
  for (const char c : all.substr(end + 1)) {
    if (c != ' ' && c != '\n') {
      one += c;
    } else if (!one.empty()) {
      out.push_back(std::move(one));
      one.clear();
    }
  }
  return out;
}

std::optional<double> number_in(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  return problem == std::errc() ? std::optional(static_cast<double>(out)) : std::nullopt;
}

/// `field`: the number of the field in proc(5).
std::optional<double> stat_field(const open_files& from, std::size_t field) {
  const auto all = stat_fields(from);
  return field - 3 < all.size() ? number_in(all[field - 3]) : std::nullopt;
}

std::optional<double> boot_time(const open_files& from) {
  const auto& all = from.boot();
  constexpr std::string_view name = "\nbtime ";
  const auto at = all.find(name);
  return at == std::string::npos ? std::nullopt : number_in(std::string_view(all).substr(at + name.size()));
}

double ticks_a_second() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

std::optional<double> cpu_seconds(open_files& from) {
  const auto user = stat_field(from, 14);
  const auto system = stat_field(from, 15);
  if (!user || !system) return std::nullopt;
  return (*user + *system) / ticks_a_second();
}

std::optional<double> start_time(open_files& from) {
  const auto since_boot = stat_field(from, 22);
  const auto boot = boot_time(from);
  if (!since_boot || !boot) return std::nullopt;
  return *boot + *since_boot / ticks_a_second();
}

std::optional<double> resident_bytes(open_files& from) {
  const auto pages = stat_field(from, 24);
  return pages ? std::optional(*pages * static_cast<double>(::sysconf(_SC_PAGESIZE))) : std::nullopt;
}

std::optional<double> virtual_bytes(open_files& from) { return stat_field(from, 23); }
std::optional<double> thread_count(open_files& from) { return stat_field(from, 20); }

std::optional<double> open_descriptors(open_files& from) { return from.descriptors(); }

std::optional<double> most_descriptors(open_files&) {
  rlimit within{};
  if (::getrlimit(RLIMIT_NOFILE, &within) != 0 || within.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<double>(within.rlim_cur);
}

struct one_figure {
  head of;
  std::optional<double> (*read)(open_files& from);
};

constexpr std::array<one_figure, 7> all_figures{{
    {{"process_cpu_seconds", kind::counter, "seconds", "Total user and system CPU time spent."}, cpu_seconds},
    {{"process_resident_memory_bytes", kind::gauge, "bytes", "Resident memory size."}, resident_bytes},
    {{"process_virtual_memory_bytes", kind::gauge, "bytes", "Virtual memory size."}, virtual_bytes},
    {{"process_open_fds", kind::gauge, "", "Number of open file descriptors."}, open_descriptors},
    {{"process_max_fds", kind::gauge, "", "Maximum number of open file descriptors."}, most_descriptors},
    {{"process_threads", kind::gauge, "", "Number of threads."}, thread_count},
    {{"process_start_time_seconds", kind::gauge, "seconds", "Start time of the process since the Unix epoch."}, start_time},
}};

}  // namespace

std::vector<std::shared_ptr<const part>> of_process(const std::string& proc, registry& at) {
  const auto files = std::make_shared<open_files>(proc);
  std::vector<std::shared_ptr<const part>> out;
  out.reserve(all_figures.size());
  for (const auto& one : all_figures) {
    out.push_back(asked(
        one.of,
        [read = one.read, suffix = one.of.kind == kind::counter ? "_total" : "", files](const part::teller& to) {
          if (const auto now = read(*files)) to(suffix, {}, *now);
        },
        at));
  }
  return out;
}

std::shared_ptr<const part> of_build(std::string_view version, registry& at) {
  return asked(
      {"hondana_build", kind::info, "", "The version of the server."},
      [version = std::string(version)](const part::teller& to) {
        const std::array labels{label{"version", version}};
        to("_info", labels, 1);
      },
      at);
}

traffic& traffic::here() {
  // Never destroyed, like the registry.
  static auto& all = *new traffic;
  return all;
}

traffic::traffic()
    : received_(sums::make({"hondana_received_bytes", kind::counter, "bytes", "Bytes received from peers."},
                           {{"transport", {"stdio", "http"}}})),
      sent_(sums::make({"hondana_sent_bytes", kind::counter, "bytes", "Bytes sent to peers."},
                       {{"transport", {"stdio", "http"}}})) {}

}  // namespace hondana::counters
