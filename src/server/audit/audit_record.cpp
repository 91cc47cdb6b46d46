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
#include "base/threads/thread_variable.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::audit {
namespace {

// Limits of texts that clients choose, in bytes.
constexpr std::size_t longest_word = 300;
constexpr std::size_t longest_uri = 2000;
constexpr std::size_t longest_uris = 4096;  // of all URIs of a request, so that it cannot fill a file
constexpr int format = 1;

void append_padded(std::string& out, std::int64_t number, int digits) {
  std::array<char, 20> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  for (auto have = static_cast<int>(end - text.data()); have < digits; ++have) out += '0';
  out.append(text.data(), end);
}

/// RFC 3339 in UTC up to the seconds, with a final dot.
std::string text_of_seconds(std::chrono::sys_seconds when) {
  const auto day = std::chrono::floor<std::chrono::days>(when);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(when - day);
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

struct written_second {
  std::optional<std::chrono::sys_seconds> which;
  std::string text;
};

/// RFC 3339 in UTC with microseconds. The calendar part is cached, because thousands of records have the same second.
std::string time_text(std::chrono::system_clock::time_point when) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(when);
  auto* const last = threads::own<written_second>();
  if (last != nullptr && last->which != whole) *last = {whole, text_of_seconds(whole)};
  auto out = last != nullptr ? last->text : text_of_seconds(whole);
  out += "000000Z";
  auto left = std::chrono::floor<std::chrono::microseconds>(when - whole).count();
  for (auto at = out.size() - 2; left != 0; --at, left /= 10) out[at] = static_cast<char>('0' + left % 10);
  return out;
}

/// The first bytes of a text, cut at a whole character.
std::string_view beginning(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string_view name_of(audit_outcome how) {
  switch (how) {
    case audit_outcome::answered:
      return "answered";
    case audit_outcome::cut:
      return "cut";
    case audit_outcome::cancelled:
      return "cancelled";
    case audit_outcome::gone:
      return "gone";
  }
  return "unknown";
}

/// If URIs are cut or left out, adds the digest of all, each followed by a newline.
void write_uris(json::writer& to, const std::vector<std::string>& uris) {
  if (uris.empty()) return;
  to.key("uris").begin_array();
  std::size_t written = 0;
  std::size_t length = 0;
  bool is_cut = false;
  for (; written < uris.size() && length < longest_uris; ++written) {
    const auto shown = beginning(uris[written], std::min(longest_uri, longest_uris - length));
    length += shown.size();
    const bool is_whole = shown.size() == uris[written].size();
    to.string(is_whole ? uris[written] : std::string(shown) + "...");
    is_cut = is_cut || !is_whole;
  }
  to.end_array();
  if (written < uris.size()) to.key("more_uris").unsigned_integer(uris.size() - written);
  if (written == uris.size() && !is_cut) return;
  bytes::sha256 all;
  for (const auto& one : uris) {
    all.feed(one);
    all.feed("\n");
  }
  to.member("uris_sha256", bytes::to_hex(all.finish_raw()));
}

/// The text of a record. The opening brace is written with its position in the chain.
template <class Fill>
std::string text_of(std::string_view kind, std::chrono::system_clock::time_point when, Fill fill) {
  std::string out;
  out.reserve(384);
  json::writer to(out);
  to.begin_object().member("record", kind).member("time", time_text(when));
  fill(to);
  to.end_object();
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

std::string decision_text(std::uint64_t request, const audit_decision& what, std::uint64_t times) {
  return text_of("decision", what.time, [&](json::writer& to) {
    to.key("request").unsigned_integer(request);
    to.member_if("identity", beginning(what.identity, longest_word));
    to.member_if("address", beginning(what.address, longest_word));
    to.member_if("client", beginning(what.client, longest_word));
    to.member_if("method", beginning(what.method, longest_word));
    write_uris(to, what.uris);
    to.member_if("name", beginning(what.name, longest_word));
    to.key("allowed").boolean(what.is_allowed);
    to.member_if("why", what.why);
    if (what.http_status != 0) to.key("status").integer(what.http_status);
    if (times != 1) to.key("times").unsigned_integer(times);
    to.member_if("trace", what.trace);
  });
}

std::string completion_text(std::uint64_t request, const audit_completion& how) {
  return text_of("completion", how.time, [&](json::writer& to) {
    to.key("request").unsigned_integer(request).member("outcome", name_of(how.how));
    if (how.error != 0) to.key("error").integer(how.error);
    to.key("bytes").unsigned_integer(how.bytes).key("microseconds").integer(how.took.count());
    to.member_if("trace", how.trace);
  });
}

std::string opening_text(std::string_view because, std::string_view run, std::uint64_t torn_bytes, std::uint64_t unsynced) {
  return text_of("opened", std::chrono::system_clock::now(), [&](json::writer& to) {
    to.key("format").integer(format).member("because", because).member("run", run);
    if (torn_bytes != 0) to.key("torn_bytes").unsigned_integer(torn_bytes);
    if (unsynced != 0) to.key("unsynced").unsigned_integer(unsynced);
  });
}

std::string closing_text() {
  return text_of("closed", std::chrono::system_clock::now(), [](json::writer&) {});
}

std::string loss_text(std::uint64_t requests) {
  return text_of("lost", std::chrono::system_clock::now(),
                 [requests](json::writer& to) { to.key("requests").unsigned_integer(requests); });
}

void append_record(std::string& out, chain& at, std::string_view text) {
  const auto begins = out.size();
  out += "{\"number\":";
  append_padded(out, static_cast<std::int64_t>(++at.number), 1);
  out.append(",\"previous\":\"").append(bytes::to_hex(at.hash)).append("\",").append(text);
  at.hash = bytes::sha256_of(std::string_view(out).substr(begins));
  out += '\n';
}

tl::expected<chain, std::string> read_record(std::string_view line, const chain* before) {
  const auto wrong = [](std::string what) { return tl::unexpected(std::move(what)); };
  if (line.size() > longest_record) return wrong("the record is longer than the maximum");
  const auto document = json::document::parse(line);
  if (!document) return wrong("it is not JSON");
  const auto record = document->root().as_object("");
  if (!record) return wrong("it is not a record");
  const auto member = record->get("number");
  const auto number = member ? member->as_integer("number") : tl::unexpected(member.error());
  const auto text = record->get_string("previous");
  if (!number || *number < 1 || !text) return wrong("it is not a record of an audit log");
  const auto previous = read_hash(*text);
  if (!previous) return wrong("it has no hash of the previous record");
  if (before != nullptr) {
    if (static_cast<std::uint64_t>(*number) != before->number + 1) {
      return wrong("record " + std::to_string(before->number + 1) + " is missing: found record " + std::to_string(*number));
    }
    if (*previous != before->hash) {
      return wrong("its hash of the previous record does not match: record " + std::to_string(before->number) +
                   " or this one was changed");
    }
  }
  if (*number == 1 && *previous != bytes::sha256_bytes{}) return wrong("a first record cannot follow another");
  return chain{static_cast<std::uint64_t>(*number), bytes::sha256_of(line)};
}

std::string failure_told_by(std::string_view line) {
  // In a string value, these quotes would be escaped.
  if (line.find("\"because\":\"unsynced\"") == std::string_view::npos) return {};
  constexpr std::string_view key = "\"unsynced\":";
  const auto at = line.find(key);
  const auto digits = at == std::string_view::npos ? std::string_view() : line.substr(at + key.size());
  const auto count = digits.substr(0, digits.find_first_not_of("0123456789"));
  return "the disk failed to sync the previous file; records before this one that were written again here: " +
         (count.empty() ? "none" : std::string(count));
}

}  // namespace hondana::audit

namespace hondana::inline v0 {
namespace {

constexpr std::size_t piece_bytes = 256 * 1024;

/// Reads the lines of a file, with a limit of each line's length.
class lines {
 public:
  static result<lines> open(const std::string& path) {
    disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat facts{};
    if (!file.is_open() || ::fstat(file.get(), &facts) != 0) return cannot(path, std::strerror(errno));
    if (!S_ISREG(facts.st_mode)) return cannot(path, "it is not a file");
    return lines(path, std::move(file));
  }

  enum class found { line, torn, nothing };
  /// Reads the next line. torn: text after the last newline, or a line longer than any record.
  [[nodiscard]] result<found> next(std::string& line) {
    for (;;) {
      const auto end = have_.find('\n', at_);
      if (end != std::string::npos) {
        line.assign(have_, at_, end - at_);
        at_ = end + 1;
        return found::line;
      }
      have_.erase(0, std::exchange(at_, 0));
      if (have_.size() > audit::longest_record) return found::torn;
      const auto before = have_.size();
      have_.resize(before + piece_bytes);
      const auto count = ::read(file_.get(), have_.data() + before, piece_bytes);
      const int error = errno;
      have_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
      if (count < 0 && error != EINTR) return cannot(path_, std::strerror(error));
      if (count == 0) return have_.empty() ? found::nothing : found::torn;
    }
  }

 private:
  lines(std::string path, disk::handle file) : path_(std::move(path)), file_(std::move(file)) {}
  static tl::unexpected<failure> cannot(const std::string& path, const std::string& why) {
    return fail(errc::invalid_argument, "Cannot read " + path + ": " + why + ". Give the files of an audit log.");
  }

  std::string path_;
  disk::handle file_;
  std::string have_;
  std::size_t at_ = 0;
};

/// A file with the number of its first record. 0: unreadable, or none.
struct numbered {
  std::string path;
  std::uint64_t first = 0;
};

result<std::vector<numbered>> in_order(const std::vector<std::string>& files) {
  std::vector<numbered> all;
  for (const auto& path : files) {
    HONDANA_TRY(auto from, lines::open(path));
    std::string line;
    HONDANA_TRY(from.next(line));
    const auto first = audit::read_record(line, nullptr);
    all.push_back({path, first ? first->number : 0});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

}  // namespace

result<audit_report> verify_audit(const std::vector<std::string>& files) {
  const auto ordered = in_order(files);
  if (!ordered) return tl::unexpected(ordered.error());
  audit_report out;
  audit::chain at;
  for (const auto& [path, begins] : *ordered) {
    HONDANA_TRY(auto from, lines::open(path));
    std::string line;
    for (std::uint64_t number = 1;; ++number) {
      const auto found = from.next(line);
      if (!found) return tl::unexpected(found.error());
      if (*found == lines::found::nothing) break;
      const auto broken = [&](std::string what) {
        out.broken = audit_report::fault{path, number, std::move(what)};
        return out;
      };
      if (*found == lines::found::torn)
        return broken("the record is incomplete: writing it was interrupted, or the file was truncated");
      auto read = audit::read_record(line, out.records == 0 ? nullptr : &at);
      if (!read) return broken(std::move(read.error()));
      at = *read;
      if (auto told = audit::failure_told_by(line); !told.empty()) out.failures.push_back({path, number, std::move(told)});
      if (out.records++ == 0) out.first = at.number;
      out.last = at.number;
      out.hash = bytes::to_hex(at.hash);
    }
  }
  return out;
}

}  // namespace hondana::inline v0
