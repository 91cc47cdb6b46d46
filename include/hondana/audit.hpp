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
  std::string name;      ///< Name of the tool or prompt.
  std::string trace_id;  ///< The trace id of `_meta.traceparent`, 32 hexadecimal digits. Empty: none.
  bool is_allowed = true;
  /// Reason of a rejection: an `errc`, "hidden by access rules", "malformed", "oversized", "refused over HTTP".
  std::string reason;
  int http_status = 0;  ///< Status of a rejection over HTTP before a message was read; otherwise 0.
  /// False: rejected before it became a request (malformed, oversized, refused over HTTP). `record_completion` is not called
  /// for it.
  bool is_request = true;
};

/// How a request ended.
enum class audit_outcome : std::uint8_t {
  answered,      ///< The answer was sent: a result, or the error in `audit_completion::error_code`.
  truncated,     ///< The answer was cut off.
  cancelled,     ///< The client cancelled the request, so there is no answer.
  disconnected,  ///< The client disconnected before it had the whole answer.
};

/// The end of a request.
struct audit_completion {
  std::chrono::system_clock::time_point time;
  audit_outcome outcome = audit_outcome::answered;
  int error_code = 0;       ///< Code of the JSON-RPC error in the answer. 0: a result, or no answer.
  std::uint64_t bytes = 0;  ///< Bytes of the answer's JSON that were written.
  std::chrono::microseconds duration{};
  std::string trace_id;  ///< As in the decision.
};

/// Receives audit records. Threads: any, several calls at once. Calls only take a note; they do not wait for a disk.
class auditor {
 public:
  auditor() = default;
  auditor(const auditor&) = delete;
  auditor& operator=(const auditor&) = delete;
  virtual ~auditor() = default;

  /// Records a decision before the first byte of an answer. Returns its number, for `record_completion`. Errors: any failure to
  /// record. A request that would have been allowed is then answered with this error, and not executed.
  [[nodiscard]] virtual result<std::uint64_t> record_decision(const audit_decision& decision) = 0;
  /// Records the end of a request. Called once for each recorded decision with `audit_decision::is_request`.
  virtual void record_completion(std::uint64_t decision_id, const audit_completion& completion) = 0;
  /// False while `record_decision` fails for requests that would be allowed. The server then reports that it is not ready
  /// (`/readyz`).
  [[nodiscard]] virtual bool can_record() const { return true; }
};

/// Options of the audit log in files.
struct audit_file_options {
  /// Absolute path. Its folder is created if necessary (0700). Older files are next to it: `path.1` is the youngest of them.
  std::string path;
  std::uint64_t max_bytes = 64ull << 20;          ///< Size at which the next file is started.
  unsigned max_old_files = 8;                     ///< Number of older files; further ones are deleted. 0: all are retained.
  std::chrono::milliseconds sync_interval{1000};  ///< Longest time until written records are synced to disk (fdatasync).
  std::size_t max_unsynced_records = 1000;        ///< Largest number of records until they are synced.
  std::size_t buffer_bytes = 8u << 20;            ///< Bytes of records that may wait to be written.
  /// What happens if a decision cannot be recorded because the buffer or the disk is full. False: the request is rejected.
  /// True: it is served, and a later record has the number of missing records.
  bool serves_when_full = false;
  std::function<void(std::string_view)> log{};  ///< One line per problem; may be empty. Threads: any.

  /// Whether two options are equal, except for `log`.
  [[nodiscard]] friend bool is_equivalent(const audit_file_options& a, const audit_file_options& b) {
    return a.path == b.path && a.max_bytes == b.max_bytes && a.max_old_files == b.max_old_files &&
           a.sync_interval == b.sync_interval && a.max_unsynced_records == b.max_unsynced_records &&
           a.buffer_bytes == b.buffer_bytes && a.serves_when_full == b.serves_when_full;
  }
};

/// The audit log in files: JSON lines, written by a thread of its own. A lock next to the file admits one process at a time.
class audit_file final : public auditor {
 public:
  /// Opens or creates the file (0600). An incomplete last record, left by a crash, is moved aside and logged, and the chain
  /// continues. Errors: invalid_argument and source_unavailable, with the defect of the path or the process that holds the
  /// lock.
  [[nodiscard]] static result<std::shared_ptr<audit_file>> open(audit_file_options options);
  /// Writes and syncs all waiting records.
  ~audit_file() override;

  /// Combines rejections of messages that are not requests: one record per second for the same caller, reason and status, with
  /// a count.
  /// Errors: overloaded, with `failure::retry_after`, if the buffer or the disk is full.
  [[nodiscard]] result<std::uint64_t> record_decision(const audit_decision& decision) override;
  void record_completion(std::uint64_t decision_id, const audit_completion& completion) override;
  /// False from the first record that could not be written, synced or buffered, until records are written again. Always true
  /// with `serves_when_full`.
  [[nodiscard]] bool can_record() const override;

  /// Checks whether the current file was renamed, for example by logrotate, and then starts a new one.
  void reopen();
  /// Waits until all records so far are on disk. Returns false if that takes longer than `deadline`.
  [[nodiscard]] bool flush(std::chrono::steady_clock::time_point deadline);

 private:
  struct state;
  explicit audit_file(std::unique_ptr<state> state) noexcept;
  std::unique_ptr<state> state_;
};

/// The result of a verification.
struct audit_report {
  std::uint64_t records = 0;       ///< Number of intact records.
  std::uint64_t first_record = 0;  ///< Number of the first record; 1 unless older files are missing.
  std::uint64_t last_record = 0;   ///< Number of the last intact record.
  /// Hash of the last intact record, 64 hexadecimal digits. A copy stored elsewhere proves later that no records were removed
  /// from the end.
  std::string last_hash;
  struct fault {
    std::string file;
    std::uint64_t line = 0;   ///< From 1.
    std::string description;  ///< The present or former defect in this line.
  };
  std::optional<fault> first_fault;  ///< The first fault; nothing after it was checked.
  std::vector<fault> disk_failures;  ///< Disk failures that intact records of the log report.
};

/// Verifies the files of one log, in any order. Errors: invalid_argument for a file that cannot be read.
[[nodiscard]] result<audit_report> verify_audit(const std::vector<std::string>& files);

}  // namespace hondana::inline v0
