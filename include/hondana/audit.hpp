/// Keeping a record of who asked for what, and what became of it: the interface, and a log in files whose every record has the
/// hash of the one before (docs/audit.md).
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

/// What was decided about one request, before anything is done for it. Never has contents, arguments or secrets.
struct audit_decision {
  std::chrono::system_clock::time_point time;
  std::string identity;           ///< Who asks; empty: that is not known.
  std::string address;            ///< From where; empty: there is none.
  std::string client;             ///< The program that asks, where its token names it.
  std::string method;             ///< As the peer wrote it, "resources/read"; empty: it could not be read.
  std::vector<std::string> uris;  ///< What it is about, with passwords and tokens masked; of a completion the template.
  std::string name;               ///< Of the tool or prompt.
  std::string trace;              ///< The trace id of `_meta.traceparent`, 32 hexadecimal digits; empty: none.
  bool is_allowed = true;
  std::string why;      ///< Why not: an `errc`, "hidden by access rules", "malformed", "oversized", "refused over HTTP".
  int http_status = 0;  ///< Of what was refused over HTTP before any message was read; else 0.
  /// False: it was refused before it was a request (malformed, oversized, refused over HTTP), and is never completed.
  bool is_request = true;
};

/// How a request ended.
enum class audit_outcome : std::uint8_t {
  answered,   ///< The answer has left: a result, or the error in `audit_completion::error`.
  cut,        ///< It had to be cut off half-way.
  cancelled,  ///< The peer withdrew the request, which then has no answer.
  gone,       ///< The peer left before it had all of the answer.
};

struct audit_completion {
  std::chrono::system_clock::time_point time;
  audit_outcome how = audit_outcome::answered;
  int error = 0;            ///< The code of the JSON-RPC error that was the answer; 0: a result, or none.
  std::uint64_t bytes = 0;  ///< Of the answer's JSON, as far as it was written.
  std::chrono::microseconds took{};
  std::string trace;  ///< As in the decision.
};

/// Where the records go. Threads: any, several at once; calls take a note and return, without waiting for a disk.
class auditor {
 public:
  auditor() = default;
  auditor(const auditor&) = delete;
  auditor& operator=(const auditor&) = delete;
  virtual ~auditor() = default;

  /// Takes a decision, before the first byte of an answer, and returns the number by which `complete` names it. Errors: it
  /// cannot be kept; a request that was to be allowed is then answered with this error and nothing is done for it.
  [[nodiscard]] virtual result<std::uint64_t> decide(const audit_decision& what) = 0;
  /// Called once for each decision that was taken about a request that got as far as a session; for those refused before,
  /// there is no more to be told.
  virtual void complete(std::uint64_t decision, const audit_completion& how) = 0;
  /// Whether requests are let through now, as far as is known: false while `decide` has errors for those that were to be
  /// allowed. Then the server says that it is not ready (`/readyz`).
  [[nodiscard]] virtual bool takes_records() const { return true; }
};

/// How the log in files is kept.
struct audit_file_options {
  std::string
      path;  ///< Absolute. Its folder is made if need be (0700); older files stand beside it, `path.1` the youngest of them.
  std::uint64_t max_bytes = 64ull << 20;       ///< A file that has reached this is followed by another.
  unsigned keep = 8;                           ///< Older files; more are deleted. 0: all.
  std::chrono::milliseconds sync_every{1000};  ///< Until what is written is on the disk (fdatasync),
  std::size_t sync_records = 1000;             ///< and with how many records at the latest.
  std::size_t buffer = 8u << 20;               ///< Bytes of records that may wait to be written.
  /// What happens to requests whose decision cannot be kept, since the buffer or the disk is full: they are refused, or else
  /// served, and the record says later how many were not recorded.
  bool serves_when_full = false;
  std::function<void(std::string_view)> log{};  ///< One line for each thing that goes wrong; may be empty. Threads: any.

  [[nodiscard]] friend bool says_the_same(const audit_file_options& a, const audit_file_options& b) {
    return a.path == b.path && a.max_bytes == b.max_bytes && a.keep == b.keep && a.sync_every == b.sync_every &&
           a.sync_records == b.sync_records && a.buffer == b.buffer && a.serves_when_full == b.serves_when_full;
  }
};

/// The log in files: JSON lines, written by a thread of its own, one process at a time (a lock beside the file).
class audit_file final : public auditor {
 public:
  /// Opens or makes the file (0600). What a crash left of a last record is moved aside, said, and the chain goes on. Errors:
  /// invalid_argument and source_unavailable, saying what is wrong with the path or who has the log.
  [[nodiscard]] static result<std::shared_ptr<audit_file>> open(audit_file_options with);
  /// Writes and syncs what waits.
  ~audit_file() override;

  /// Of what was refused before it was a request, all of one caller, reason and status within a second is one record with a
  /// count.
  /// Errors: overloaded, with `failure::retry`, when the buffer or the disk is full.
  [[nodiscard]] result<std::uint64_t> decide(const audit_decision& what) override;
  void complete(std::uint64_t decision, const audit_completion& how) override;
  /// False from the first record that could not be written, synced or kept waiting, until records are written again; always
  /// true with `serves_when_full`.
  [[nodiscard]] bool takes_records() const override;

  /// Looks whether another file is to be written by now: after somebody renamed the present one.
  void reopen();
  /// Waits until everything taken so far is on the disk; false when it was not by `until`.
  [[nodiscard]] bool flush(std::chrono::steady_clock::time_point until);

 private:
  struct state;
  explicit audit_file(std::unique_ptr<state> state) noexcept;
  std::unique_ptr<state> state_;
};

/// What checking found.
struct audit_report {
  std::uint64_t records = 0;  ///< Sound ones.
  std::uint64_t first = 0;    ///< The number of the first; 1 unless older files are missing.
  std::uint64_t last = 0;     ///< Of the last: up to it everything is as it was written.
  std::string hash;           ///< Of the last, 64 hexadecimal digits: kept elsewhere, it shows later that nothing was cut off.
  struct fault {
    std::string file;
    std::uint64_t line = 0;  ///< From 1.
    std::string what;        ///< What is or was wrong there.
  };
  std::optional<fault> broken;  ///< The first fault, after which nothing was looked at.
  std::vector<fault> failures;  ///< What the log says of disks that failed it: of records that are sound.
};

/// Checks files of one log, given in any order. Errors: invalid_argument for a file that cannot be read.
[[nodiscard]] result<audit_report> verify_audit(const std::vector<std::string>& files);

}  // namespace hondana::inline v0
