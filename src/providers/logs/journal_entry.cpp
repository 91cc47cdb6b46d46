/// Fields of entries.
#include "providers/logs/journal_entry.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "json/utf8.hpp"
#include "records/severity.hpp"
#include "secrets/redactor.hpp"

namespace hondana::logs {
namespace {

/// The value of a field as it is; nothing when the entry has none that can be read.
std::optional<std::string_view> datum(const journal_library& by, sd_journal* from, const char* field) {
  const void* data = nullptr;
  std::size_t size = 0;
  if (by.get_data(from, field, &data, &size) < 0 || data == nullptr) return std::nullopt;
  std::string_view all(static_cast<const char*>(data), size);
  const auto sign = all.find('=');
  if (sign == std::string_view::npos) return std::nullopt;
  return all.substr(sign + 1);
}

/// Well-formed, without NUL and without line ends behind.
std::string clean_text(std::string_view raw) {
  while (!raw.empty() && (raw.back() == '\n' || raw.back() == '\r')) raw.remove_suffix(1);
  std::string out;
  out.reserve(raw.size());
  while (!raw.empty()) {
    const auto piece = raw.substr(0, raw.find('\0'));
    json::append_replacing(out, piece);
    raw.remove_prefix(piece.size());
    if (raw.empty()) break;
    out += "\xEF\xBF\xBD";
    raw.remove_prefix(1);
  }
  return out;
}

std::size_t stretches_of_asterisks(std::string_view before, std::string_view after) {
  std::size_t count = 0;
  bool was = false;
  for (std::size_t i = 0; i < after.size(); ++i) {
    const bool is = after[i] == '*' && before[i] != '*';
    if (is && !was) ++count;
    was = is || (was && after[i] == '*');
  }
  return count;
}

}  // namespace

bool is_journal_field(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 64 && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

journal_entry read_entry(const journal_library& by, sd_journal* from, const journal_fields& asked, bool redact) {
  journal_entry out;
  std::uint64_t time = 0;
  if (by.get_realtime_usec(from, &time) >= 0) out.time = static_cast<records::instant>(time);
  // Data are valid until the next call.
  if (const auto pid = datum(by, from, "_PID")) out.process = *pid;
  if (const auto priority = datum(by, from, "PRIORITY")) {
    int number = -1;
    const auto [end, problem] = std::from_chars(priority->data(), priority->data() + priority->size(), number);
    if (problem == std::errc() && end == priority->data() + priority->size()) out.level = records::severity_of_priority(number);
  }
  for (const auto* field : {"_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "_COMM", "_TRANSPORT"}) {
    if (!out.source.empty()) break;
    if (const auto value = datum(by, from, field)) out.source = clean_text(*value);
  }
  // What systemd says about a unit.
  if (out.source == "init.scope")
    if (const auto unit = datum(by, from, "UNIT")) out.source = clean_text(*unit);
  if (redact) out.source = secrets::redact_text(out.source);
  for (const auto& [name, wanted] : asked) {
    const auto raw = datum(by, from, name.c_str());
    auto value = raw ? name + '=' + clean_text(*raw) : std::string();
    if (redact) value = secrets::redact_text(value);
    out.has_fields = out.has_fields && value == name + '=' + wanted;
  }
  if (const auto message = datum(by, from, "MESSAGE")) out.message = clean_text(*message);
  return out;
}

std::string cursor_at(const journal_library& by, sd_journal* from) {
  char* raw = nullptr;
  if (by.get_cursor(from, &raw) < 0 || raw == nullptr) return {};
  std::string out(raw);
  std::free(raw);
  return out;
}

secrets::line_masker& entry_masker::lines_of(const std::string& process) {
  if (const auto found = recent_.find(process); found != recent_.end()) return found->second;
  if (recent_.size() >= most_processes) {
    former_ = std::move(recent_);
    recent_.clear();
  }
  const auto known = former_.find(process);
  return recent_.emplace(process, known == former_.end() ? secrets::line_masker() : known->second).first->second;
}

std::size_t entry_masker::mask(journal_entry& one) {
  auto whole = secrets::redact_text(one.message);
  auto& lines = lines_of(one.process);
  for (std::size_t at = 0; at <= one.message.size();) {
    const auto end = std::min(one.message.find('\n', at), one.message.size());
    const auto masked = lines.masked(std::string_view(one.message).substr(at, end - at));
    for (std::size_t i = 0; i < masked.size() && at + i < whole.size(); ++i)
      if (masked[i] != one.message[at + i]) whole[at + i] = masked[i];
    at = end + 1;
  }
  const auto count = stretches_of_asterisks(one.message, whole);
  // Asterisks may have taken the place of a part of a letter.
  if (!json::is_utf8(whole)) {
    std::string sound;
    json::append_replacing(sound, whole);
    whole = std::move(sound);
  }
  one.message = std::move(whole);
  return count;
}

}  // namespace hondana::logs
