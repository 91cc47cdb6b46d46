/// The records of requests that a program has open, over reloads of its configuration.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <hondana/audit.hpp>
#include <hondana/error.hpp>

#include "app/cli/log.hpp"

namespace hondana::cli {

/// A record that a configuration no longer has is still written by the streams that began with it, and has one writer: put back
/// meanwhile, it is the same. Threads: one at a time.
class audit_records {
 public:
  explicit audit_records(log_function log) : log_(std::move(log)) {}

  /// The record as configured; one that is open goes on as it was opened. Null: none is configured.
  [[nodiscard]] result<std::shared_ptr<audit_file>> open(const std::optional<audit_file_options>& as);
  /// Whether it is open with other options than these.
  [[nodiscard]] bool is_open_otherwise(const std::optional<audit_file_options>& as) const;
  /// After somebody renamed files.
  void reopen();
  /// False when not all is on the disk by `until`.
  [[nodiscard]] bool flush(std::chrono::steady_clock::time_point until);

 private:
  struct opened {
    std::weak_ptr<audit_file> file;
    audit_file_options as;
  };

  log_function log_;
  std::map<std::string, opened> all_;  // by path
};

}  // namespace hondana::cli
