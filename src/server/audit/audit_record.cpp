/// Audit records as text, the hash chain between them, and its verification.
#include "server/audit/audit_record.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <hondana/audit.hpp>

#include "base/json/reader.hpp"
#include "base/json/writer.hpp"
#include "base/threads/thread_instance.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::audit {
namespace {

// Limits of texts that clients choose, in bytes.
constexpr std::size_t max_text_bytes = 300;
constexpr std::size_t max_logged_uri_bytes = 2000;
constexpr std::size_t max_logged_uris_bytes = 4096;  // of all URIs of a request, so that it cannot fill a file
constexpr int format_version = 1;

void append_padded(std::string& out, std::int64_t number, int digits) {
  std::array<char, 20> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  for (auto length = static_cast<int>(end - text.data()); length < digits; ++length) out += '0';
  out.append(text.data(), end);
}

/// RFC 3339 in UTC up to the seconds, with a final dot.
std::string format_seconds(std::chrono::sys_seconds timestamp) {
  const auto day = std::chrono::floor<std::chrono::days>(timestamp);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(timestamp - day);
  std::string out;
  append_padded(out, static_cast<int>(date.year()), 4);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_padded(out, time.hours().count(), 2);
  out += ':';
  append_padded(out, time.minutes().count(), 2);
  out += ':';
  append_padded(out, time.seconds().count(), 2);
  return out += '.';
}

struct cached_second {
  std::optional<std::chrono::sys_seconds> second;
  std::string text;
};

/// RFC 3339 in UTC with microseconds. The calendar part is cached, because thousands of records have the same second.
std::string format_time(std::chrono::system_clock::time_point timestamp) {
  const auto second = std::chrono::floor<std::chrono::seconds>(timestamp);
  auto* const cache = threads::thread_instance<cached_second>();
  if (cache != nullptr && cache->second != second) *cache = {second, format_seconds(second)};
  auto out = cache != nullptr ? cache->text : format_seconds(second);
  out += "000000Z";
  auto micros = std::chrono::floor<std::chrono::microseconds>(timestamp - second).count();
  for (auto position = out.size() - 2; micros != 0; --position, micros /= 10)
    out[position] = static_cast<char>('0' + micros % 10);
  return out;
}

/// The first bytes of a text, cut at a whole character.
std::string_view truncate(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && (static_cast<unsigned char>(text[max_bytes]) & 0xC0) == 0x80) --max_bytes;
  return text.substr(0, max_bytes);
}

std::string_view name_of(audit_outcome outcome) {
  switch (outcome) {
    case audit_outcome::answered:
      return "answered";
    case audit_outcome::truncated:
      return "truncated";
    case audit_outcome::cancelled:
      return "cancelled";
    case audit_outcome::disconnected:
      return "disconnected";
  }
  return "unknown";
}

/// If URIs are cut or left out, adds the digest of all, each followed by a newline.
void write_uris(json::writer& writer, const std::vector<std::string>& uris) {
  if (uris.empty()) return;
  writer.key("uris").begin_array();
  std::size_t written = 0;
  std::size_t length = 0;
  bool is_cut = false;
  for (; written < uris.size() && length < max_logged_uris_bytes; ++written) {
    const auto prefix = truncate(uris[written], std::min(max_logged_uri_bytes, max_logged_uris_bytes - length));
    length += prefix.size();
    const bool is_complete = prefix.size() == uris[written].size();
    writer.string(is_complete ? uris[written] : std::string(prefix) + "...");
    is_cut = is_cut || !is_complete;
  }
  writer.end_array();
  if (written < uris.size()) writer.key("omitted_uris").unsigned_integer(uris.size() - written);
  if (written == uris.size() && !is_cut) return;
  bytes::sha256 digest;
  for (const auto& uri : uris) {
    digest.update(uri);
    digest.update("\n");
  }
  writer.member("uris_sha256", bytes::to_hex(digest.finish_raw()));
}

/// The text of a record. The opening brace is written with its position in the chain.
template <class Fill>
std::string record_text(std::string_view kind, std::chrono::system_clock::time_point timestamp, Fill fill) {
  std::string out;
  out.reserve(384);
  json::writer writer(out);
  writer.begin_object().member("type", kind).member("time", format_time(timestamp));
  fill(writer);
  writer.end_object();
  return out.erase(0, 1);
}

std::optional<bytes::sha256_bytes> read_hash(std::string_view hex) {
  bytes::sha256_bytes out{};
  if (hex.size() != 2 * out.size()) return {};
  const auto value_of = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = value_of(hex[2 * i]);
    const int low = value_of(hex[2 * i + 1]);
    if (high < 0 || low < 0) return {};
    out[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return out;
}

}  // namespace

std::string decision_text(std::uint64_t request, const audit_decision& decision, std::uint64_t count) {
  return record_text("decision", decision.time, [&](json::writer& writer) {
    writer.key("request").unsigned_integer(request);
    writer.member_if("identity", truncate(decision.identity, max_text_bytes));
    writer.member_if("address", truncate(decision.address, max_text_bytes));
    writer.member_if("client", truncate(decision.client, max_text_bytes));
    writer.member_if("method", truncate(decision.method, max_text_bytes));
    write_uris(writer, decision.uris);
    writer.member_if("name", truncate(decision.name, max_text_bytes));
    writer.key("allowed").boolean(decision.is_allowed);
    writer.member_if("reason", decision.reason);
    if (decision.http_status) writer.key("http_status").integer(*decision.http_status);
    if (count != 1) writer.key("count").unsigned_integer(count);
    writer.member_if("trace_id", decision.trace_id);
  });
}

std::string completion_text(std::uint64_t request, const audit_completion& completion) {
  return record_text("completion", completion.time, [&](json::writer& writer) {
    writer.key("request").unsigned_integer(request).member("outcome", name_of(completion.outcome));
    if (completion.error_code) writer.key("error_code").integer(*completion.error_code);
    writer.key("bytes").unsigned_integer(completion.bytes).key("duration_us").integer(completion.duration.count());
    writer.member_if("trace_id", completion.trace_id);
  });
}

std::string opening_text(std::string_view reason, std::string_view run_id, std::uint64_t incomplete_bytes,
                         std::uint64_t repeated_records) {
  return record_text("opened", std::chrono::system_clock::now(), [&](json::writer& writer) {
    writer.key("format").integer(format_version).member("reason", reason).member("run_id", run_id);
    if (incomplete_bytes != 0) writer.key("incomplete_bytes").unsigned_integer(incomplete_bytes);
    if (repeated_records != 0) writer.key("repeated_records").unsigned_integer(repeated_records);
  });
}

std::string closing_text() {
  return record_text("closed", std::chrono::system_clock::now(), [](json::writer&) {});
}

std::string loss_text(std::uint64_t requests) {
  return record_text("lost", std::chrono::system_clock::now(),
                     [requests](json::writer& writer) { writer.key("requests").unsigned_integer(requests); });
}

void append_record(std::string& out, chain_position& position, std::string_view text) {
  const auto start = out.size();
  out += "{\"number\":";
  append_padded(out, static_cast<std::int64_t>(++position.number), 1);
  out.append(",\"previous\":\"").append(bytes::to_hex(position.hash)).append("\",").append(text);
  position.hash = bytes::sha256_of(std::string_view(out).substr(start));
  out += '\n';
}

tl::expected<chain_position, std::string> read_record(std::string_view line, const chain_position* predecessor) {
  const auto invalid = [](std::string description) { return tl::unexpected(std::move(description)); };
  if (line.size() > max_record_bytes) return invalid("the record is longer than the maximum");
  const auto document = json::document::parse(line);
  if (!document) return invalid("it is not JSON");
  const auto record = document->root().as_object("");
  if (!record) return invalid("it is not a record");
  const auto member = record->get("number");
  const auto number = member ? member->as_integer("number") : tl::unexpected(member.error());
  const auto text = record->get_string("previous");
  if (!number || *number < 1 || !text) return invalid("it is not a record of an audit log");
  const auto previous = read_hash(*text);
  if (!previous) return invalid("it has no hash of the previous record");
  if (predecessor != nullptr) {
    if (static_cast<std::uint64_t>(*number) != predecessor->number + 1) {
      return invalid("record " + std::to_string(predecessor->number + 1) + " is missing: found record " +
                     std::to_string(*number));
    }
    if (*previous != predecessor->hash) {
      return invalid("its hash of the previous record does not match: record " + std::to_string(predecessor->number) +
                     " or this one was changed");
    }
  }
  if (*number == 1 && *previous != bytes::sha256_bytes{}) return invalid("a first record cannot follow another");
  return chain_position{static_cast<std::uint64_t>(*number), bytes::sha256_of(line)};
}

std::string reported_failure(std::string_view line) {
  // In a string value, these quotes would be escaped.
  if (line.find("\"reason\":\"sync_failed\"") == std::string_view::npos) return {};
  constexpr std::string_view key = "\"repeated_records\":";
  const auto position = line.find(key);
  const auto digits = position == std::string_view::npos ? std::string_view() : line.substr(position + key.size());
  const auto count = digits.substr(0, digits.find_first_not_of("0123456789"));
  return "the disk failed to sync the previous file; records before this one that were written again here: " +
         (count.empty() ? "none" : std::string(count));
}

}  // namespace hondana::audit

namespace hondana::inline v0 {
namespace {

constexpr std::size_t read_chunk_bytes = 256 * 1024;

/// Reads the lines of a file, with a limit of each line's length.
class line_reader {
 public:
  static result<line_reader> open(const std::string& path) {
    disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat attributes{};
    if (!file.is_open() || ::fstat(file.get(), &attributes) != 0) return read_failure(path, std::strerror(errno));
    if (!S_ISREG(attributes.st_mode)) return read_failure(path, "it is not a file");
    return line_reader(path, std::move(file));
  }

  enum class outcome { line, incomplete, end_of_file };
  /// Reads the next line. `incomplete`: text after the last newline, or a line longer than any record.
  [[nodiscard]] result<outcome> next(std::string& line) {
    for (;;) {
      const auto end = buffer_.find('\n', position_);
      if (end != std::string::npos) {
        line.assign(buffer_, position_, end - position_);
        position_ = end + 1;
        return outcome::line;
      }
      buffer_.erase(0, std::exchange(position_, 0));
      if (buffer_.size() > audit::max_record_bytes) return outcome::incomplete;
      const auto buffered = buffer_.size();
      buffer_.resize(buffered + read_chunk_bytes);
      const auto count = ::read(file_.get(), buffer_.data() + buffered, read_chunk_bytes);
      const int error = errno;
      buffer_.resize(buffered + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (count < 0 && error != EINTR) return read_failure(path_, std::strerror(error));
      if (count == 0) return buffer_.empty() ? outcome::end_of_file : outcome::incomplete;
    }
  }

 private:
  line_reader(std::string path, disk::handle file) : path_(std::move(path)), file_(std::move(file)) {}
  static tl::unexpected<failure> read_failure(const std::string& path, const std::string& reason) {
    return fail(errc::invalid_argument, "Cannot read " + path + ": " + reason + ". Give the files of an audit log.");
  }

  std::string path_;
  disk::handle file_;
  std::string buffer_;
  std::size_t position_ = 0;
};

/// A file with the number of its first record. 0: unreadable, or none.
struct numbered_file {
  std::string path;
  std::uint64_t first = 0;
};

result<std::vector<numbered_file>> sort_by_number(const std::vector<std::string>& files) {
  std::vector<numbered_file> ordered;
  for (const auto& path : files) {
    HONDANA_TRY(auto reader, line_reader::open(path));
    std::string line;
    HONDANA_TRY(reader.next(line));
    const auto first = audit::read_record(line, nullptr);
    ordered.push_back({path, first ? first->number : 0});
  }
  std::sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return ordered;
}

}  // namespace

result<audit_report> verify_audit(const std::vector<std::string>& files) {
  const auto ordered = sort_by_number(files);
  if (!ordered) return tl::unexpected(ordered.error());
  audit_report out;
  audit::chain_position position;
  for (const auto& [path, first_number] : *ordered) {
    HONDANA_TRY(auto reader, line_reader::open(path));
    std::string line;
    for (std::uint64_t number = 1;; ++number) {
      const auto outcome = reader.next(line);
      if (!outcome) return tl::unexpected(outcome.error());
      if (*outcome == line_reader::outcome::end_of_file) break;
      const auto broken = [&](std::string defect) {
        out.first_fault = audit_report::fault{path, number, std::move(defect)};
        return out;
      };
      if (*outcome == line_reader::outcome::incomplete)
        return broken("the record is incomplete: writing it was interrupted, or the file was truncated");
      auto record = audit::read_record(line, out.records == 0 ? nullptr : &position);
      if (!record) return broken(std::move(record.error()));
      position = *record;
      if (auto reported = audit::reported_failure(line); !reported.empty())
        out.disk_failures.push_back({path, number, std::move(reported)});
      if (out.records++ == 0) out.first_record = position.number;
      out.last_record = position.number;
      out.last_hash = bytes::to_hex(position.hash);
    }
  }
  return out;
}

}  // namespace hondana::inline v0
