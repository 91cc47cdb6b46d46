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

/// The decision about one request or rejected message, before it is executed. Never contains contents, arguments or secrets.
/// Unknown texts are empty.
struct audit_decision {
  std::chrono::system_clock::time_point time;
  std::string identity;  ///< Identity of the caller.
  std::string address;   ///< Address of the client.
  std::string client;    ///< The program that sends the request, if the token names it.
  /// The MCP method, such as "resources/read". With the reason "rejected_over_http": the HTTP method.
  std::string method;
  /// The resources concerned, with passwords and tokens masked. For a completion, the template.
  std::vector<std::string> uris;
  std::string name;      ///< Name of the tool or prompt.
  std::string trace_id;  ///< The trace id of `_meta.traceparent`, 32 hexadecimal digits.
  bool is_allowed = true;
  /// Why it is not allowed: the name of an `errc`, "hidden_by_access_rules", "malformed", "oversized", "rejected_over_http".
  std::string reason;
  std::optional<int> http_status;  ///< Status of the answer if `reason` is "rejected_over_http".
  /// False: rejected before it was a valid request (malformed, oversized, or rejected over HTTP). `record_completion` is not
  /// called for it.
  bool is_request = true;
};

/// How a request ended.
enum class audit_outcome : std::uint8_t {
  answered,      ///< The whole answer was sent: a result, or the error in `audit_completion::error_code`.
  truncated,     ///< The answer was cut off, because the source failed or the client was too slow.
  cancelled,     ///< The client cancelled the request, so there is no answer.
  disconnected,  ///< The client disconnected before it had the whole answer.
};

/// The end of a request.
struct audit_completion {
  std::chrono::system_clock::time_point time;
  audit_outcome outcome = audit_outcome::answered;
  std::optional<int> error_code;  ///< Code of the JSON-RPC error in the answer. nullopt: a result, or no answer.
  std::uint64_t bytes = 0;        ///< Bytes of the answer's JSON that were sent.
  std::chrono::microseconds duration{};
  std::string trace_id;  ///< As in `audit_decision`.
};

/// Receives audit records. Threads: any, several calls at once. Calls must not wait for a disk.
class auditor {
 public:
  auditor() = default;
  auditor(const auditor&) = delete;
  auditor& operator=(const auditor&) = delete;
  virtual ~auditor() = default;

  /// Records a decision, before the request is executed. Returns an id for `record_completion`. Errors: any failure to record.
  /// A request that would have been allowed is then not executed, but answered with this error.
  [[nodiscard]] virtual result<std::uint64_t> record_decision(const audit_decision& decision) = 0;
  /// Records the end of a request. Called once for each successful `record_decision` with `audit_decision::is_request`, also if
  /// the request was rejected. `decision_id`: the result of that call.
  virtual void record_completion(std::uint64_t decision_id, const audit_completion& completion) = 0;
  /// Returns false while `record_decision` fails for requests that would be allowed. The server then reports that it is not
  /// ready (`/readyz`).
  [[nodiscard]] virtual bool can_record() const { return true; }
};

/// Options of the audit log in files.
struct audit_file_options {
  /// Absolute path. Missing folders are created (0700). Older files are next to it: `path.1` is the youngest of them.
  std::string path;
  std::uint64_t max_bytes = 64ull << 20;          ///< Size at which the next file is started.
  std::optional<unsigned> max_old_files = 8;      ///< How many older files stay. nullopt: all.
  std::chrono::milliseconds sync_interval{1000};  ///< Longest time until written records are synced to disk (fdatasync).
  std::size_t max_unsynced_records = 1000;        ///< How many records may be written before they are synced.
  std::size_t buffer_bytes = 8u << 20;            ///< Records that may wait to be written; half of it for rejections.
  /// What happens while decisions cannot be recorded: the buffer is full, or writing or syncing fails. False: requests are
  /// rejected. True: they are served, and a later record says how many decisions are missing.
  bool serves_when_full = false;
  std::function<void(std::string_view)> log{};  ///< One line per problem; may be empty. Threads: any.

  /// Whether two options are equal, except for `log`.
  [[nodiscard]] friend bool is_equivalent(const audit_file_options& a, const audit_file_options& b) {
    return a.path == b.path && a.max_bytes == b.max_bytes && a.max_old_files == b.max_old_files &&
           a.sync_interval == b.sync_interval && a.max_unsynced_records == b.max_unsynced_records &&
           a.buffer_bytes == b.buffer_bytes && a.serves_when_full == b.serves_when_full;
  }
};

/// The audit log in files: JSON lines, written by a thread of its own. A lock file admits one process at a time.
class audit_file final : public auditor {
 public:
  /// Opens or creates the file (0600). An incomplete last record, left by a crash, is moved to another file and logged, and the
  /// chain continues. Errors: invalid_argument for an invalid path or file, or if another process uses the log;
  /// source_unavailable for errors of the file system.
  [[nodiscard]] static result<std::shared_ptr<audit_file>> open(audit_file_options options);
  /// Writes and syncs all waiting records.
  ~audit_file() override;

  /// Records a decision; see `auditor`. Without `audit_decision::is_request`, it records the first rejection with the same
  /// network, identity, reason and status. Those of the next second become one record with their number.
  /// Returns 0 if the decision has no record of its own. Errors: overloaded, with `failure::retry_after`, while records cannot
  /// be buffered, written or synced.
  [[nodiscard]] result<std::uint64_t> record_decision(const audit_decision& decision) override;
  void record_completion(std::uint64_t decision_id, const audit_completion& completion) override;
  /// Returns false from the first record that could not be buffered, written or synced, until records are written again. Always
  /// true with `serves_when_full`.
  [[nodiscard]] bool can_record() const override;

  /// Starts a new file at the path if the current file was renamed, for example by logrotate. Returns at once; the writing
  /// thread does it.
  void reopen();
  /// Waits until all records so far are on disk. Returns false if they are not by `deadline`.
  [[nodiscard]] bool flush(std::chrono::steady_clock::time_point deadline);

 private:
  struct state;
  explicit audit_file(std::unique_ptr<state> state) noexcept;
  std::unique_ptr<state> state_;
};

/// The result of a verification.
struct audit_report {
  std::uint64_t records = 0;                  ///< How many records are intact. If 0, the next three members are not set.
  std::optional<std::uint64_t> first_record;  ///< The member `number` of the first record: 1 if no older files are missing.
  std::optional<std::uint64_t> last_record;   ///< The member `number` of the last intact record.
  /// Hash of the last intact record, 64 hexadecimal digits. If you store `last_record` and this hash elsewhere, they prove
  /// later that no records were removed from the end.
  std::optional<std::string> last_hash;
  /// A line with a defect, or a line that reports a disk failure.
  struct fault {
    std::string file;
    std::uint64_t line = 0;  ///< From 1.
    std::string description;
  };
  std::optional<fault> first_fault;  ///< The first line with a defect; nothing after it was checked. nullopt: none.
  std::vector<fault> disk_failures;  ///< Intact lines that report that the disk failed to sync.
};

/// Verifies the files of one log, given in any order. Errors: invalid_argument for a file that cannot be read. Defects of
/// records are not errors, but in the report.
[[nodiscard]] result<audit_report> verify_audit(const std::vector<std::string>& files);

}  // namespace hondana::inline v0
