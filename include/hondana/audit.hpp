/// The audit log: its interface, and an implementation in files with a hash chain (docs/audit.md).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// The decision about one request, before it is executed. Never contains contents, arguments or secrets.
struct audit_decision {
  std::chrono::system_clock::time_point time;
  std::string identity;  ///< Identity of the caller. Empty: unknown.
  std::string address;   ///< Address of the client. Empty: none.
  std::string client;    ///< The program that sends the request, if the token names it.
  std::string method;    ///< As the client wrote it, "resources/read". Empty: unreadable.
  /// The resources concerned, with passwords and tokens masked. For a completion, the template.
  std::vector<std::string> uris;
  std::string name;   ///< Name of the tool or prompt.
  std::string trace;  ///< The trace id of `_meta.traceparent`, 32 hexadecimal digits. Empty: none.
  bool is_allowed = true;
  /// Reason of a rejection: an `errc`, "hidden by access rules", "malformed", "oversized", "refused over HTTP".
  std::string why;
  int http_status = 0;  ///< Status of a rejection over HTTP before a message was read; otherwise 0.
  /// False: rejected before it became a request (malformed, oversized, refused over HTTP). `complete` is not called for it.
  bool is_request = true;
};

/// How a request ended.
enum class audit_outcome : std::uint8_t {
  answered,   ///< The answer was sent: a result, or the error in `audit_completion::error`.
  cut,        ///< The answer was cut off.
  cancelled,  ///< The client cancelled the request, so there is no answer.
  gone,       ///< The client disconnected before it had the whole answer.
};

/// The end of a request.
struct audit_completion {
  std::chrono::system_clock::time_point time;
  audit_outcome how = audit_outcome::answered;
  int error = 0;            ///< Code of the JSON-RPC error in the answer. 0: a result, or no answer.
  std::uint64_t bytes = 0;  ///< Bytes of the answer's JSON that were written.
  std::chrono::microseconds took{};
  std::string trace;  ///< As in the decision.
};

/// Receives audit records. Threads: any, several calls at once. Calls only take a note; they do not wait for a disk.
class auditor {
 public:
  auditor() = default;
  auditor(const auditor&) = delete;
  auditor& operator=(const auditor&) = delete;
  virtual ~auditor() = default;

  /// Records a decision before the first byte of an answer. Returns its number, for `complete`. Errors: any failure to record.
  /// A request that would have been allowed is then answered with this error, and not executed.
  [[nodiscard]] virtual result<std::uint64_t> decide(const audit_decision& what) = 0;
  /// Records the end of a request. Called once for each recorded decision with `audit_decision::is_request`.
  virtual void complete(std::uint64_t decision, const audit_completion& how) = 0;
  /// False while `decide` fails for requests that would be allowed. The server then reports that it is not ready (`/readyz`).
  [[nodiscard]] virtual bool takes_records() const { return true; }
};

/// Options of the audit log in files.
struct audit_file_options {
  /// Absolute path. Its folder is created if necessary (0700). Older files are next to it: `path.1` is the youngest of them.
  std::string path;
  std::uint64_t max_bytes = 64ull << 20;       ///< Size at which the next file is started.
  unsigned keep = 8;                           ///< Number of older files; further ones are deleted. 0: all are retained.
  std::chrono::milliseconds sync_every{1000};  ///< Longest time until written records are synced to disk (fdatasync).
  std::size_t sync_records = 1000;             ///< Largest number of records until they are synced.
  std::size_t buffer = 8u << 20;               ///< Bytes of records that may wait to be written.
  /// What happens if a decision cannot be recorded because the buffer or the disk is full. False: the request is rejected.
  /// True: it is served, and a later record has the number of missing records.
  bool serves_when_full = false;
  std::function<void(std::string_view)> log{};  ///< One line per problem; may be empty. Threads: any.

  /// Whether two options are equal, except for `log`.
  [[nodiscard]] friend bool says_the_same(const audit_file_options& a, const audit_file_options& b) {
    return a.path == b.path && a.max_bytes == b.max_bytes && a.keep == b.keep && a.sync_every == b.sync_every &&
           a.sync_records == b.sync_records && a.buffer == b.buffer && a.serves_when_full == b.serves_when_full;
  }
};

/// The audit log in files: JSON lines, written by a thread of its own. A lock next to the file admits one process at a time.
class audit_file final : public auditor {
 public:
  /// Opens or creates the file (0600). An incomplete last record, left by a crash, is moved aside and logged, and the chain
  /// continues. Errors: invalid_argument and source_unavailable, with the defect of the path or the process that holds the
  /// lock.
  [[nodiscard]] static result<std::shared_ptr<audit_file>> open(audit_file_options with);
  /// Writes and syncs all waiting records.
  ~audit_file() override;

  /// Combines rejections of messages that are not requests: one record per second for the same caller, reason and status, with
  /// a count.
  /// Errors: overloaded, with `failure::retry`, if the buffer or the disk is full.
  [[nodiscard]] result<std::uint64_t> decide(const audit_decision& what) override;
  void complete(std::uint64_t decision, const audit_completion& how) override;
  /// False from the first record that could not be written, synced or buffered, until records are written again. Always true
  /// with `serves_when_full`.
  [[nodiscard]] bool takes_records() const override;

  /// Checks whether the current file was renamed, for example by logrotate, and then starts a new one.
  void reopen();
  /// Waits until all records so far are on disk. Returns false if that takes longer than `until`.
  [[nodiscard]] bool flush(std::chrono::steady_clock::time_point until);

 private:
  struct state;
  explicit audit_file(std::unique_ptr<state> state) noexcept;
  std::unique_ptr<state> state_;
};

/// The result of a verification.
struct audit_report {
  std::uint64_t records = 0;  ///< Number of intact records.
  std::uint64_t first = 0;    ///< Number of the first record; 1 unless older files are missing.
  std::uint64_t last = 0;     ///< Number of the last intact record.
  /// Hash of the last intact record, 64 hexadecimal digits. A copy stored elsewhere proves later that no records were removed
  /// from the end.
  std::string hash;
  struct fault {
    std::string file;
    std::uint64_t line = 0;  ///< From 1.
    std::string what;        ///< The present or former defect in this line.
  };
  std::optional<fault> broken;  ///< The first fault; nothing after it was checked.
  std::vector<fault> failures;  ///< Disk failures that intact records of the log report.
};

/// Verifies the files of one log, in any order. Errors: invalid_argument for a file that cannot be read.
[[nodiscard]] result<audit_report> verify_audit(const std::vector<std::string>& files);

}  // namespace hondana::inline v0
