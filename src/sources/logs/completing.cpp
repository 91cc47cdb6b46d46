/// What has been seen lately.
#include "sources/logs/completing.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/completion.hpp>

#include "sources/logs/address.hpp"
#include "sources/logs/moment.hpp"
#include "sources/logs/records/fields.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/telling_names.hpp"

namespace hondana::logs {
namespace {

constexpr std::size_t looked_at_records = 500;
constexpr std::size_t most_names = 1000;
constexpr std::size_t longest_shown_value = 200;
constexpr int deepest_path = 4;

using tally = std::map<std::string, std::size_t, std::less<>>;

/// Names of fields, those of objects inside with dots.
void count_names(tally& names, std::string_view text, const std::string& above, int depth) {
  records::each_field(text, [&](std::string_view name, std::string_view raw) {
    const auto path = above + std::string(name);
    if (name.empty() || path.find_first_of(":=") != std::string::npos) return true;
    if (raw.starts_with('{') && depth < deepest_path) {
      count_names(names, raw, path + '.', depth + 1);
    } else if (!raw.starts_with('[') && (names.size() < most_names || names.contains(path))) {
      ++names[path];
    }
    return true;
  });
}

/// The most frequent first; of equal ones by name.
std::vector<std::string> by_frequency(const tally& of) {
  std::vector<std::pair<std::string_view, std::size_t>> all(of.begin(), of.end());
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const auto& [text, count] : all) out.emplace_back(text);
  return out;
}

/// What is mostly asked for, before what else the entries of journals have.
const std::vector<std::string>& usual_journal_fields() {
  static const std::vector<std::string> all{"_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "PRIORITY",   "_PID", "_COMM", "_UID",
                                            "_HOSTNAME",     "_BOOT_ID",          "_TRANSPORT", "_EXE", "UNIT"};
  return all;
}

/// Whether a path of a field says that what is there is a secret.
bool tells_secret(std::string_view path) {
  if (secrets::told_by(path) != secrets::telling::nothing) return true;
  while (!path.empty()) {
    const auto name = path.substr(0, path.find('.'));
    if (secrets::told_by(name) == secrets::telling::strong) return true;
    path.remove_prefix(std::min(path.size(), name.size() + 1));
  }
  return false;
}

/// Counts what is there, or the values of one field.
class field_tally {
 public:
  explicit field_tally(std::optional<std::string> of) : of_(std::move(of)) {}

  void add(const records::record& one) {
    if (!of_) return count_names(seen_, one.text, {}, 0);
    const auto value = records::field_of(one.text, *of_);
    if (value) add_value(*value);
  }
  void add_own(const std::pair<std::string, std::string>& one) {
    if (of_) return add_value(one.second);
    if (own_.size() < most_names || own_.contains(one.first)) ++own_[one.first];
  }
  [[nodiscard]] std::vector<std::string> all() {
    auto out = by_frequency(seen_);
    for (const auto& one : usual_journal_fields())
      if (own_.erase(one) != 0) out.push_back(one);
    const auto others = by_frequency(own_);
    out.insert(out.end(), others.begin(), others.end());
    return out;
  }

 private:
  void add_value(const std::string& value) {
    // Objects and lists hold fields with names of their own.
    const bool is_shown = !value.empty() && value.size() <= longest_shown_value && value.find(',') == std::string::npos &&
                          value.front() != '{' && value.front() != '[' && secrets::redact_text(value) == value;
    if (is_shown && (seen_.size() < most_names || seen_.contains(value))) ++seen_[value];
  }

  const std::optional<std::string> of_;
  tally seen_, own_;
};

result<complete_result> complete_field(const complete_request& request, const completing_source& from) {
  complete_result nothing{{}, 0, false};
  if (!from.newest) return nothing;
  // Only the last one of a list is typed at.
  const auto comma = request.value.rfind(',');
  const auto front = comma == std::string::npos ? std::string() : request.value.substr(0, comma + 1);
  const auto typed = request.value.substr(front.size());
  const auto sign = typed.find_first_of(":=");
  const auto of = sign == std::string::npos ? std::nullopt : std::optional(typed.substr(0, sign));
  // What masking let pass is not to be listed either.
  if (of && (of->empty() || tells_secret(*of))) return nothing;
  field_tally seen(of);
  const auto page = from.newest(looked_at_records);
  if (!page) return tl::unexpected(page.error());
  for (const auto& one : page->records) seen.add(one);
  if (from.own_fields) {
    const auto own = from.own_fields(of.value_or(""), looked_at_records);
    if (!own) return tl::unexpected(own.error());
    for (const auto& one : *own) seen.add_own(one);
  }
  auto values = seen.all();
  for (auto& one : values) one = front + (of ? typed.substr(0, sign + 1) + one : one + ':');
  return complete_from(request.value, values);
}

std::vector<std::string> usual_times(records::instant now, bool is_until) {
  const auto today = text_of(now - ((now % day) + day) % day);
  const auto yesterday = text_of(now - ((now % day) + day) % day - day);
  constexpr std::size_t date_size = 10;
  std::vector<std::string> out{"15m", "1h", "6h", "1d", "7d", today.substr(0, date_size), yesterday.substr(0, date_size)};
  if (is_until) out.insert(out.begin(), "now");
  return out;
}

}  // namespace

result<complete_result> complete_parameter(const complete_request& request, const completing_source& from) {
  const auto fixed = [&](const std::vector<std::string>& values) { return complete_from(request.value, values); };
  if (request.argument == "level") return fixed({"error", "warning", "critical", "notice", "info", "debug", "trace"});
  if (request.argument == "since" || request.argument == "until")
    return fixed(usual_times(from.now, request.argument == "until"));
  if (request.argument == "lines") return fixed({"100", "20", "500", "1000", "10000"});
  if (request.argument == "format")
    return request.uriTemplate.find("/summary") != std::string::npos ? fixed({"markdown", "json"}) : fixed({"text", "json"});
  if (request.argument == "field") return complete_field(request, from);
  return complete_result{{}, 0, false};
}

}  // namespace hondana::logs
