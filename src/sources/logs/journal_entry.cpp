/// Fields of entries.
#include "sources/logs/journal_entry.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/json/utf8.hpp"
#include "sources/logs/records/answerable.hpp"
#include "sources/logs/records/hidden_secrets.hpp"
#include "sources/logs/records/severity.hpp"
#include "text/secrets/redactor.hpp"

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

/// Without line ends behind.
std::string clean_text(std::string_view raw) {
  while (!raw.empty() && (raw.back() == '\n' || raw.back() == '\r')) raw.remove_suffix(1);
  return records::answerable(raw);
}

/// Behind what is answered, so that a secret that is cut there is known.
constexpr std::size_t deciding_bytes = 4u << 10;

void take_message(std::string_view raw, std::size_t record_bytes, entry_part part, journal_entry& into) {
  const auto front = std::max(record_bytes, tail_bytes) + deciding_bytes;
  if (raw.size() <= tail_bytes || part == entry_part::all) {
    auto kept = raw.substr(0, front);
    if (kept.size() < raw.size()) kept.remove_suffix(json::incomplete_tail(kept));
    into.cut = raw.size() - kept.size();
    into.message = into.cut == 0 ? clean_text(kept) : records::answerable(kept);
  }
  if (raw.size() > tail_bytes) into.tail = clean_text(raw.substr(raw.size() - tail_bytes));
}

template <class Each>
void each_line(std::string_view text, const Each& each) {
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    each(text.substr(at, end - at), at);
    at = end + 1;
  }
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

journal_entry read_entry(const journal_library& by, sd_journal* from, const journal_fields& asked, bool redact,
                         std::size_t record_bytes, entry_part part) {
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
  if (const auto message = datum(by, from, "MESSAGE")) take_message(*message, record_bytes, part, out);
  return out;
}

void add_fields(const journal_library& by, sd_journal* from, std::string_view name, bool redact, journal_fields& into) {
  constexpr int most_of_entry = 256;  // of one entry
  by.restart_data(from);
  const void* data = nullptr;
  std::size_t size = 0;
  for (int count = 0; count < most_of_entry && by.enumerate_data(from, &data, &size) > 0; ++count) {
    const std::string_view all(static_cast<const char*>(data), size);
    const auto sign = std::min(all.find('='), all.size());
    const auto called = all.substr(0, sign);
    if (!is_journal_field(called) || called == "MESSAGE" || (!name.empty() && called != name)) continue;
    std::string value;
    if (!name.empty()) {
      // As filters compare it.
      value = std::string(called) + '=' + clean_text(all.substr(std::min(sign + 1, all.size())));
      if (redact) value = secrets::redact_text(value);
      value.erase(0, std::min(value.size(), called.size() + 1));
    }
    into.emplace_back(called, std::move(value));
  }
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

void entry_masker::pass(const journal_entry& one) {
  auto& lines = lines_of(one.process);
  each_line(one.tail.empty() ? one.message : one.tail,
            [&lines](std::string_view line, std::size_t) { static_cast<void>(lines.masked(line)); });
}

std::size_t entry_masker::mask(journal_entry& one) {
  auto whole = secrets::redact_text(one.message);
  auto lines = lines_of(one.process);
  each_line(one.message, [&](std::string_view line, std::size_t at) {
    const auto masked = lines.masked(line);
    for (std::size_t i = 0; i < masked.size() && at + i < whole.size(); ++i)
      if (masked[i] != line[i]) whole[at + i] = masked[i];
  });
  // Whoever masks only what comes next must come to the same.
  if (one.tail.empty())
    lines_of(one.process) = lines;
  else
    pass(one);
  const auto count = stretches_of_asterisks(one.message, whole);
  // Asterisks may have taken the place of a part of a letter.
  if (!json::is_utf8(whole)) {
    std::string sound;
    json::append_replacing(sound, whole);
    whole = std::move(sound);
  }
  one.message = std::move(whole);
  return count + (records::may_hide(one.message) ? records::mask_hidden(one.message, false) : 0);
}

}  // namespace hondana::logs
