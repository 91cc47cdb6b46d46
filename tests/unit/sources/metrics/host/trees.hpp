/// Trees that stand for /proc and /sys, and what is gathered from them.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>

#include "sources/metrics/host/collector.hpp"
#include "sources/metrics/host/proc_decoders.hpp"

namespace hondana_test {

/// A folder of its own below /tmp, which goes with it.
class kernel_tree {
 public:
  kernel_tree() {
    char name[] = "/tmp/hondana-host-XXXXXX";
    if (::mkdtemp(name) == nullptr) throw std::runtime_error("no folder for a test");
    folder_ = name;
  }
  ~kernel_tree() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  kernel_tree(const kernel_tree&) = delete;
  kernel_tree& operator=(const kernel_tree&) = delete;

  void write(const std::string& path, const std::string& text) const {
    const auto whole = std::filesystem::path(folder_) / path;
    std::filesystem::create_directories(whole.parent_path());
    std::ofstream(whole, std::ios::binary) << text;
  }
  [[nodiscard]] std::string path(const std::string& below = {}) const { return folder_ + '/' + below; }
  [[nodiscard]] hondana::host::options options() const {
    hondana::host::options out;
    out.proc = folder_ + "/proc";
    out.sys = folder_ + "/sys";
    out.root = folder_ + "/root";
    return out;
  }

 private:
  std::string folder_;
};

/// Series by their text.
inline std::map<std::string, double> values_of(const hondana::samples::batch& all) {
  std::map<std::string, double> out;
  for (const auto& entry : all.entries) out[hondana::series::to_text(entry.identity)] = entry.sample.value;
  return out;
}

template <class How>
std::map<std::string, double> decoded(How how) {
  hondana::samples::batch into;
  hondana::host::sample_sink to(0, into);
  how(to);
  return values_of(into);
}

}  // namespace hondana_test
