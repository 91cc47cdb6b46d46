/// Reads entries of a journal, masks them, and collects them into pages, newest first.
#include "sources/logs/journal_reader.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include <hondana/clock.hpp>

#include "base/bytes/digest.hpp"
#include "base/json/base64.hpp"
#include "base/json/utf8.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/logs/journal_library.hpp"
#include "sources/logs/records/masking.hpp"
#include "sources/logs/records/severity.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::logs {
namespace {

/// The raw value of a field. Nothing if the entry does not have it, or it cannot be read.
std::optional<std::string_view> read_field(const journal_library& library, sd_journal* journal, const char* field) {
  const void* data = nullptr;
  std::size_t size = 0;
  if (library.get_data(journal, field, &data, &size) < 0 || data == nullptr) return std::nullopt;
  std::string_view field_text(static_cast<const char*>(data), size);
  const auto separator = field_text.find('=');
  if (separator == std::string_view::npos) return std::nullopt;
  return field_text.substr(separator + 1);
}

/// Removes line ends at the end of the text.
std::string sanitize_value(std::string_view raw) {
  while (!raw.empty() && (raw.back() == '\n' || raw.back() == '\r')) raw.remove_suffix(1);
  return records::sanitize(raw);
}

/// Extra bytes after the returned part, so that a secret that is cut there is recognized.
constexpr std::size_t context_bytes = 4u << 10;

void set_message(std::string_view raw, std::size_t max_bytes, entry_part part, journal_entry& entry) {
  const auto max_front_bytes = std::max(max_bytes, tail_bytes) + context_bytes;
  if (raw.size() <= tail_bytes || part == entry_part::full) {
    auto text = raw.substr(0, max_front_bytes);
    if (text.size() < raw.size()) text.remove_suffix(json::incomplete_tail(text));
    entry.cut_bytes = raw.size() - text.size();
    entry.message = entry.cut_bytes == 0 ? sanitize_value(text) : records::sanitize(text);
  }
  if (raw.size() > tail_bytes) entry.tail = sanitize_value(raw.substr(raw.size() - tail_bytes));
}

template <class Visitor>
void for_each_line(std::string_view text, const Visitor& visit) {
  for (std::size_t offset = 0; offset <= text.size();) {
    const auto end = std::min(text.find('\n', offset), text.size());
    visit(text.substr(offset, end - offset), offset);
    offset = end + 1;
  }
}

std::size_t count_new_masks(std::string_view original, std::string_view masked) {
  std::size_t count = 0;
  bool was_masked = false;
  for (std::size_t i = 0; i < masked.size(); ++i) {
    const bool is_masked = masked[i] == '*' && original[i] != '*';
    if (is_masked && !was_masked) ++count;
    was_masked = is_masked || (was_masked && masked[i] == '*');
  }
  return count;
}

}  // namespace

bool is_journal_field(std::string_view name) noexcept {
  return !name.empty() && name.size() <= 64 && !(name.front() >= '0' && name.front() <= '9') &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; });
}

journal_entry read_entry(const journal_library& library, sd_journal* journal, const journal_fields& filters, bool redact,
                         std::size_t max_bytes, entry_part part) {
  journal_entry entry;
  std::uint64_t time = 0;
  if (library.get_realtime_usec(journal, &time) >= 0) entry.time = static_cast<records::instant>(time);
  // Data is valid until the next call only.
  if (const auto pid = read_field(library, journal, "_PID")) entry.process = *pid;
  if (const auto priority = read_field(library, journal, "PRIORITY")) {
    int number = -1;
    const auto [end, error] = std::from_chars(priority->data(), priority->data() + priority->size(), number);
    if (error == std::errc() && end == priority->data() + priority->size()) entry.level = records::severity_of_priority(number);
  }
  for (const auto* field : {"_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "_COMM", "_TRANSPORT"}) {
    if (!entry.source.empty()) break;
    if (const auto value = read_field(library, journal, field)) entry.source = sanitize_value(*value);
  }
  // A message of systemd about a unit.
  if (entry.source == "init.scope")
    if (const auto unit = read_field(library, journal, "UNIT")) entry.source = sanitize_value(*unit);
  if (redact) entry.source = secrets::redact_text(entry.source);
  for (const auto& [name, expected] : filters) {
    const auto raw = read_field(library, journal, name.c_str());
    auto value = raw ? name + '=' + sanitize_value(*raw) : std::string();
    if (redact) value = secrets::redact_text(value);
    entry.matches_fields = entry.matches_fields && value == name + '=' + expected;
  }
  if (const auto message = read_field(library, journal, "MESSAGE")) set_message(*message, max_bytes, part, entry);
  return entry;
}

void add_fields(const journal_library& library, sd_journal* journal, std::string_view name, bool redact,
                journal_fields& fields) {
  constexpr int max_entry_fields = 256;  // of one entry
  library.restart_data(journal);
  const void* data = nullptr;
  std::size_t size = 0;
  for (int count = 0; count < max_entry_fields && library.enumerate_data(journal, &data, &size) > 0; ++count) {
    const std::string_view field_text(static_cast<const char*>(data), size);
    const auto separator = std::min(field_text.find('='), field_text.size());
    const auto field_name = field_text.substr(0, separator);
    if (!is_journal_field(field_name) || field_name == "MESSAGE" || (!name.empty() && field_name != name)) continue;
    std::string value;
    if (!name.empty()) {
      // In the form that filters compare.
      value = std::string(field_name) + '=' + sanitize_value(field_text.substr(std::min(separator + 1, field_text.size())));
      if (redact) value = secrets::redact_text(value);
      value.erase(0, std::min(value.size(), field_name.size() + 1));
    }
    fields.emplace_back(field_name, std::move(value));
  }
}

std::string read_cursor(const journal_library& library, sd_journal* journal) {
  char* raw = nullptr;
  if (library.get_cursor(journal, &raw) < 0 || raw == nullptr) return {};
  std::string out(raw);
  std::free(raw);
  return out;
}

secrets::line_masker& entry_masker::masker_for(const std::string& process) {
  if (const auto match = recent_.find(process); match != recent_.end()) return match->second;
  if (recent_.size() >= max_processes) {
    older_ = std::move(recent_);
    recent_.clear();
  }
  const auto older = older_.find(process);
  return recent_.emplace(process, older == older_.end() ? secrets::line_masker() : older->second).first->second;
}

void entry_masker::observe(const journal_entry& entry) {
  auto& masker = masker_for(entry.process);
  for_each_line(entry.tail.empty() ? entry.message : entry.tail,
                [&masker](std::string_view line, std::size_t) { static_cast<void>(masker.mask(line)); });
}

std::size_t entry_masker::mask(journal_entry& entry) {
  auto text = secrets::redact_text(entry.message);
  auto masker = masker_for(entry.process);
  for_each_line(entry.message, [&](std::string_view line, std::size_t offset) {
    const auto masked = masker.mask(line);
    for (std::size_t i = 0; i < masked.size() && offset + i < text.size(); ++i)
      if (masked[i] != line[i]) text[offset + i] = masked[i];
  });
  // A page that reads only the tail of this entry must get the same state.
  if (entry.tail.empty())
    masker_for(entry.process) = masker;
  else
    observe(entry);
  const auto count = count_new_masks(entry.message, text);
  // Asterisks may have replaced part of a UTF-8 character.
  if (!json::is_utf8(text)) {
    std::string valid;
    json::append_replacing(valid, text);
    text = std::move(valid);
  }
  entry.message = std::move(text);
  return count + (records::may_hide_secrets(entry.message) ? records::mask_hidden_secrets(entry.message, false) : 0);
}

namespace {

constexpr std::size_t max_cursor_bytes = 1024;
/// Estimated size of an entry without its message.
constexpr std::uint64_t entry_overhead = 512;
constexpr std::size_t entries_per_check = 64;
/// Of the messages in memory at the same time.
constexpr std::size_t max_memory_bytes = std::size_t{8} << 20;
/// After this many consecutive entries before `since`, all older ones are assumed to be too.
constexpr std::size_t max_too_old = 64;

using clock = monotonic_clock;

std::string format_size(std::uint64_t bytes) {
  return bytes >= (1u << 20) ? std::to_string(bytes >> 20) + " MiB" : std::to_string(bytes >> 10) + " KiB";
}

/// Collects one page.
class page_reader {
 public:
  page_reader(const journal_library& library, sd_journal* journal, const journal_query& query, bool redact,
              const records::read_budget& budget, const request_context& context)
      : library_(library), journal_(journal), query_(query), redact_(redact), budget_(budget), context_(context) {}

  result<records::log_page> run() {
    HONDANA_TRY(seek_start());
    std::vector<journal_entry> block;
    HONDANA_TRY(read_entries(block, false));
    while (!block.empty() && !is_full_) {
      std::vector<journal_entry> older_entries;
      // Older entries influence the masking, even if there is no time for more records.
      HONDANA_TRY(read_entries(older_entries, true));
      add_block(block, older_entries);
      if (!is_full_ && !page_.early_end_reason.empty()) {
        // The next page starts with the entries that only influenced the masking.
        return take_page(true);
      }
      HONDANA_TRY(rewind_to_complete(older_entries));
      block = std::move(older_entries);
    }
    return take_page(is_full_);
  }

 private:
  result<void> seek_start() {
    int code = 0;
    if (!query_.query.cursor.empty()) {
      HONDANA_TRY(auto cursor, decode_cursor(query_, query_.query.cursor));
      if (library_.seek_cursor(journal_, cursor.c_str()) < 0) return foreign_cursor_error();
      resume_cursor_ = std::move(cursor);
      last_cursor_ = resume_cursor_;
    } else {
      code = query_.query.until ? library_.seek_realtime_usec(
                                      journal_, static_cast<std::uint64_t>(std::max<records::instant>(*query_.query.until, 0)))
                                : library_.seek_tail(journal_);
    }
    if (code < 0) return tl::unexpected(journal_failure("searched", code));
    return {};
  }
  static tl::unexpected<failure> foreign_cursor_error() {
    return fail(errc::invalid_argument, "cursor: not a cursor of this query. Leave it out to begin with the newest records.");
  }

  /// Reads up to `context_entries` older entries. If they take much memory or the time is up, stops. With `reads_all`, reads
  /// the rest in part instead, since these entries may only influence the masking of others.
  result<void> read_entries(std::vector<journal_entry>& entries, bool reads_all) {
    std::size_t held_bytes = 0;
    complete_count_ = 0;
    while (entries.size() < context_entries && !is_at_beginning_) {
      if (read_count_++ % entries_per_check == 0) HONDANA_TRY(check_cancellation(context_));
      const bool is_large = held_bytes >= max_memory_bytes || (!entries.empty() && clock::now() >= budget_.deadline);
      if (is_large && !reads_all) return {};
      const int code = library_.previous(journal_);
      if (code < 0) {
        page_.notes.emplace_back("The journal is damaged: older records could not be read.");
        is_at_beginning_ = true;
      }
      if (code == 0) is_at_beginning_ = true;
      if (code <= 0) return {};
      if (!resume_cursor_.empty() && library_.test_cursor(journal_, resume_cursor_.c_str()) > 0) {
        resume_cursor_.clear();
        continue;
      }
      resume_cursor_.clear();
      auto entry = read_entry(library_, journal_, query_.fields, redact_, budget_.max_record_bytes,
                              is_large ? entry_part::tail : entry_part::full);
      entry.cursor = read_cursor(library_, journal_);
      held_bytes += entry.memory_bytes() + entry_overhead;
      if (!is_large) {
        scanned_bytes_ += entry.message.size() + entry.cut_bytes + entry_overhead;
        complete_count_ = entries.size() + 1;
      }
      entries.push_back(std::move(entry));
    }
    return {};
  }

  /// Drops entries that were read in part, and moves back so that they are read again.
  result<void> rewind_to_complete(std::vector<journal_entry>& entries) {
    if (complete_count_ >= entries.size()) return {};
    entries.resize(complete_count_);
    resume_cursor_ = entries.back().cursor;
    is_at_beginning_ = false;
    if (const int code = library_.seek_cursor(journal_, resume_cursor_.c_str()); code < 0)
      return tl::unexpected(journal_failure("searched", code));
    return {};
  }

  /// Masks a block, for which the entries before it are needed, and adds the matching ones to the page.
  void add_block(std::vector<journal_entry>& block, const std::vector<journal_entry>& older) {
    if (redact_) mask_block(block, older);
    for (std::size_t i = 0; i < block.size() && !is_full_; ++i) {
      auto& entry = block[i];
      last_cursor_ = entry.cursor;
      if (query_.query.since && entry.time < *query_.query.since) {
        if (++too_old_ >= max_too_old) return stop();
        continue;
      }
      too_old_ = 0;
      add_entry(std::move(entry), redact_ ? masked_counts_[i] : 0);
    }
    if (is_full_) return;
    if (scanned_bytes_ >= budget_.max_scanned_bytes)
      page_.early_end_reason = format_size(budget_.max_scanned_bytes) + " were searched, the limit of one answer";
    else if (clock::now() >= budget_.deadline)
      page_.early_end_reason = "the time limit of one answer was reached";
  }

  void add_entry(journal_entry entry, std::size_t masked) {
    const bool has_fields = entry.matches_fields;
    auto record = to_record(std::move(entry), budget_.max_record_bytes);
    if (!has_fields || !query_.matcher.accepts(record)) return;
    text_bytes_ += record.text.size();
    page_.masked_count += masked;
    page_.records.push_back(std::move(record));
    if (page_.records.size() >= query_.query.lines) is_full_ = true;
    if (!is_full_ && text_bytes_ >= budget_.max_answer_bytes) {
      page_.early_end_reason = format_size(budget_.max_answer_bytes) + " of records are the limit of one answer";
      is_full_ = true;
    }
  }

  void mask_block(std::vector<journal_entry>& block, const std::vector<journal_entry>& older) {
    entry_masker masker;
    for (auto observed = older.rbegin(); observed != older.rend(); ++observed) masker.observe(*observed);
    masked_counts_.assign(block.size(), 0);
    for (std::size_t i = block.size(); i-- > 0;) masked_counts_[i] = masker.mask(block[i]);
  }

  void stop() {
    is_full_ = true;
    is_finished_ = true;
  }

  result<records::log_page> take_page(bool has_more) {
    if (has_more && !is_finished_ && !last_cursor_.empty()) page_.next = encode_cursor(query_, last_cursor_);
    return std::move(page_);
  }

  const journal_library& library_;
  sd_journal* journal_;
  const journal_query& query_;
  const bool redact_;
  const records::read_budget& budget_;
  const request_context& context_;
  records::log_page page_;
  std::string resume_cursor_;  // end of the previous page, until the journal has passed it
  std::string last_cursor_;    // the last entry that was checked
  std::vector<std::size_t> masked_counts_;
  std::size_t complete_count_ = 0;  // of the entries that were read last: the number read completely
  std::size_t read_count_ = 0, too_old_ = 0, text_bytes_ = 0;
  std::uint64_t scanned_bytes_ = 0;
  bool is_at_beginning_ = false, is_full_ = false, is_finished_ = false;
};

}  // namespace

result<journal_query> journal_query::compile(const records::log_query& full_query) {
  auto record_query = full_query;
  journal_fields fields;
  std::erase_if(record_query.fields, [&fields](const auto& field) {
    if (!is_journal_field(field.first)) return false;
    fields.push_back(field);
    return true;
  });
  HONDANA_TRY(auto compiled, records::record_matcher::compile(record_query));
  bytes::digester digester;
  const auto add_part = [&digester](std::string_view part) {
    digester.update(std::to_string(part.size()) + ':');
    digester.update(part);
  };
  add_part(full_query.since ? std::to_string(*full_query.since) : "");
  add_part(full_query.until ? std::to_string(*full_query.until) : "");
  add_part(full_query.min_level ? records::name_of(*full_query.min_level) : "");
  add_part(full_query.grep);
  for (const auto& [path, value] : full_query.fields) {
    add_part(path);
    add_part(value);
  }
  constexpr std::size_t digest_size = 16;
  return journal_query{std::move(record_query), std::move(fields), std::move(compiled),
                       bytes::to_hex(digester.value()).substr(0, digest_size)};
}

std::string encode_cursor(const journal_query& query, std::string_view cursor) {
  return query.digest + '.' + json::encode_base64url(cursor);
}

result<std::string> decode_cursor(const journal_query& query, std::string_view text) {
  const auto separator = text.find('.');
  auto raw = separator == std::string_view::npos || text.size() > max_cursor_bytes || text.substr(0, separator) != query.digest
                 ? std::nullopt
                 : json::decode_base64url(text.substr(separator + 1));
  if (!raw || raw->empty() || raw->find('\0') != std::string::npos)
    return fail(errc::invalid_argument,
                "cursor: not a cursor of this query. Leave it out to begin with the newest records, or repeat the query that "
                "returned it.");
  return std::move(*raw);
}

records::log_record to_record(journal_entry&& entry, std::size_t max_bytes) {
  records::log_record out;
  out.time = entry.time;
  out.has_own_time = true;
  out.level = entry.level;
  out.source = std::move(entry.source);
  out.text = std::move(entry.message);
  out.cut_bytes = entry.cut_bytes;
  if (out.text.size() > max_bytes) {
    const auto full_size = out.text.size();
    out.text.resize(max_bytes);
    out.text.resize(max_bytes - json::incomplete_tail(out.text));
    out.cut_bytes += full_size - out.text.size();
  }
  return out;
}

result<records::log_page> read_page(const journal_library& library, sd_journal* journal, const journal_query& query,
                                    bool redact, const records::read_budget& budget, const request_context& context) {
  return page_reader(library, journal, query, redact, budget, context).run();
}

}  // namespace hondana::logs
