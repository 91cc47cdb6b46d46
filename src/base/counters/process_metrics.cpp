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
class procfs_files {
 public:
  explicit procfs_files(const std::string& proc)
      : stat_(::open((proc + "/self/stat").c_str(), O_RDONLY | O_CLOEXEC)),
        descriptors_(::opendir((proc + "/self/fd").c_str())),
        boot_(read_file(proc + "/stat")) {}
  ~procfs_files() {
    if (stat_ >= 0) ::close(stat_);
    if (descriptors_ != nullptr) ::closedir(descriptors_);
  }
  procfs_files(const procfs_files&) = delete;
  procfs_files& operator=(const procfs_files&) = delete;

  [[nodiscard]] std::string stat() const {
    std::array<char, 4096> text{};
    const auto size = stat_ >= 0 ? ::pread(stat_, text.data(), text.size(), 0) : -1;
    return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0))};
  }
  /// The number of open file descriptors; nothing if they cannot be listed.
  [[nodiscard]] std::optional<double> count_descriptors() {
    if (descriptors_ == nullptr) return std::nullopt;
    const std::lock_guard lock(listing_mutex_);
    ::rewinddir(descriptors_);
    double out = 0;
    while (const auto* entry = ::readdir(descriptors_)) out += entry->d_name[0] == '.' ? 0 : 1;
    return out;
  }
  [[nodiscard]] const std::string& boot() const noexcept { return boot_; }

 private:
  static std::string read_file(const std::string& path) {
    std::ifstream input(path);
    return {std::istreambuf_iterator<char>(input), {}};
  }

  const int stat_;
  std::mutex listing_mutex_;
  DIR* const descriptors_;
  const std::string boot_;
};

/// The fields after the program name, which can contain any character. Spec: proc(5); the first one is field 3.
std::vector<std::string> stat_fields(const procfs_files& files) {
  std::vector<std::string> out;
  const auto text = files.stat();
  const auto end = text.rfind(')');
  if (end == std::string::npos) return out;
  std::string field;
  for (const char c : text.substr(end + 1)) {
    if (c != ' ' && c != '\n') {
      field += c;
    } else if (!field.empty()) {
      out.push_back(std::move(field));
      field.clear();
    }
  }
  return out;
}

std::optional<double> parse_number(std::string_view text) {
  std::uint64_t out = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  return problem == std::errc() ? std::optional(static_cast<double>(out)) : std::nullopt;
}

/// `field`: the number of the field in proc(5).
std::optional<double> stat_field(const procfs_files& files, std::size_t field) {
  const auto fields = stat_fields(files);
  return field - 3 < fields.size() ? parse_number(fields[field - 3]) : std::nullopt;
}

std::optional<double> boot_time(const procfs_files& files) {
  const auto& text = files.boot();
  constexpr std::string_view name = "\nbtime ";
  const auto position = text.find(name);
  return position == std::string::npos ? std::nullopt : parse_number(std::string_view(text).substr(position + name.size()));
}

double ticks_per_second() { return static_cast<double>(::sysconf(_SC_CLK_TCK)); }

std::optional<double> cpu_seconds(procfs_files& files) {
  const auto user = stat_field(files, 14);
  const auto system = stat_field(files, 15);
  if (!user || !system) return std::nullopt;
  return (*user + *system) / ticks_per_second();
}

std::optional<double> start_time(procfs_files& files) {
  const auto since_boot = stat_field(files, 22);
  const auto boot = boot_time(files);
  if (!since_boot || !boot) return std::nullopt;
  return *boot + *since_boot / ticks_per_second();
}

std::optional<double> resident_bytes(procfs_files& files) {
  const auto pages = stat_field(files, 24);
  return pages ? std::optional(*pages * static_cast<double>(::sysconf(_SC_PAGESIZE))) : std::nullopt;
}

std::optional<double> virtual_bytes(procfs_files& files) { return stat_field(files, 23); }
std::optional<double> thread_count(procfs_files& files) { return stat_field(files, 20); }

std::optional<double> open_descriptors(procfs_files& files) { return files.count_descriptors(); }

std::optional<double> max_descriptors(procfs_files&) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

struct process_metric {
  metric_family family;
  std::optional<double> (*read)(procfs_files& files);
};

constexpr std::array<process_metric, 7> process_metrics{{
    {{"process_cpu_seconds", kind::counter, "seconds", "Total user and system CPU time spent."}, cpu_seconds},
    {{"process_resident_memory_bytes", kind::gauge, "bytes", "Resident memory size."}, resident_bytes},
    {{"process_virtual_memory_bytes", kind::gauge, "bytes", "Virtual memory size."}, virtual_bytes},
    {{"process_open_fds", kind::gauge, "", "Number of open file descriptors."}, open_descriptors},
    {{"process_max_fds", kind::gauge, "", "Maximum number of open file descriptors."}, max_descriptors},
    {{"process_threads", kind::gauge, "", "Number of threads."}, thread_count},
    {{"process_start_time_seconds", kind::gauge, "seconds", "Start time of the process since the Unix epoch."}, start_time},
}};

}  // namespace

std::vector<std::shared_ptr<const collector>> register_process_metrics(const std::string& proc, registry& target) {
  const auto files = std::make_shared<procfs_files>(proc);
  std::vector<std::shared_ptr<const collector>> out;
  out.reserve(process_metrics.size());
  for (const auto& metric : process_metrics) {
    out.push_back(register_collector(
        metric.family,
        [read = metric.read, suffix = metric.family.kind == kind::counter ? "_total" : "",
         files](const collector::sample_callback& on_sample) {
          if (const auto value = read(*files)) on_sample(suffix, {}, *value);
        },
        target));
  }
  return out;
}

std::shared_ptr<const collector> register_build_info(std::string_view version, registry& target) {
  return register_collector(
      {"hondana_build", kind::info, "", "The version of the server."},
      [version = std::string(version)](const collector::sample_callback& on_sample) {
        const std::array labels{label{"version", version}};
        on_sample("_info", labels, 1);
      },
      target);
}

traffic_counters& traffic_counters::global() {
  // Never destroyed, like the registry.
  static auto& instance = *new traffic_counters;
  return instance;
}

traffic_counters::traffic_counters()
    : received_(counter_family::make({"hondana_received_bytes", kind::counter, "bytes", "Bytes received from peers."},
                                     {{"transport", {"stdio", "http"}}})),
      sent_(counter_family::make({"hondana_sent_bytes", kind::counter, "bytes", "Bytes sent to peers."},
                                 {{"transport", {"stdio", "http"}}})) {}

}  // namespace hondana::counters
