/// Reading and checking the table `[audit]`.
#include "sources/config/audit_settings.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "sources/config/collector.hpp"

namespace hondana::config {
namespace {

constexpr std::uint64_t least_file = 4096;
constexpr std::size_t least_buffer = 64 * 1024;

}  // namespace

result<audit_file_options> read_audit(section from) {
  audit_file_options out;
  collector errors;
  std::string path;
  std::string when_full = "refuse";
  errors.take(from.string("path"), path);
  errors.take(from.bytes("max_file"), out.max_bytes);
  errors.take(from.integer("keep", 0, 100'000), out.keep);
  errors.take_time(from, "sync_ms", out.sync_every);
  errors.take(from.integer("sync_records", 1, 1'000'000), out.sync_records);
  errors.take(from.bytes("buffer"), out.buffer);
  errors.take(from.string("when_full"), when_full);
  if (path.empty() || path.ends_with('/')) {
    errors.note(from.wrong("path", "missing; name the file for the record, e.g. path = \"/var/log/hondana/audit.jsonl\""));
  }
  if (out.max_bytes < least_file) errors.note(from.wrong("max_file", "expected at least 4KiB"));
  if (out.buffer < least_buffer) errors.note(from.wrong("buffer", "expected at least 64KiB"));
  if (when_full != "refuse" && when_full != "serve") {
    errors.note(from.wrong("when_full", "expected \"refuse\" (reject requests that cannot be recorded) or \"serve\""));
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  std::error_code problem;
  out.path = std::filesystem::absolute(from.path_from(path), problem).lexically_normal().string();
  if (problem) return tl::unexpected(from.wrong("path", "cannot be made absolute: " + problem.message()));
  out.serves_when_full = when_full == "serve";
  return out;
}

}  // namespace hondana::config
