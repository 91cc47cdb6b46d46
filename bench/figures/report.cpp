/// Writing tables.
#include "report.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace bench {
namespace {

/// Three digits that count, more where there are more before the point.
std::string short_number(double value) {
  std::array<char, 48> text{};
  const int behind = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
  std::snprintf(text.data(), text.size(), "%.*f", behind, value);
  return text.data();
}

std::string shown(const std::optional<double>& value) { return value ? short_number(*value) : "–"; }

double held_value(const line& of) { return of.ratio ? *of.ratio : of.ours.value_or(0); }

std::string limit_of(const line& one) {
  if (!one.wanted) return "";
  if (!one.wanted->text.empty()) return one.wanted->text;
  std::array<char, 48> text{};
  std::snprintf(text.data(), text.size(), "%s %g", one.wanted->which == aim::sense::at_most ? "≤" : "≥", one.wanted->limit);
  return text.data();
}

std::optional<bool> is_reached(const line& one) {
  if (!one.wanted || !one.ours || (!one.peer.empty() && !one.ratio)) return std::nullopt;
  const auto value = held_value(one);
  return one.wanted->which == aim::sense::at_most ? value <= one.wanted->limit : value >= one.wanted->limit;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// One JSON object, member by member.
class object {
 public:
  object& text(std::string_view name, std::string_view value) { return raw(name, quoted(value)); }
  object& number(std::string_view name, std::optional<double> value) {
    std::array<char, 48> digits{};
    if (value) std::snprintf(digits.data(), digits.size(), "%.6g", *value);
    return raw(name, value ? digits.data() : "null");
  }
  object& truth(std::string_view name, std::optional<bool> value) {
    return raw(name, !value ? "null" : *value ? "true" : "false");
  }
  [[nodiscard]] std::string whole() const { return "{" + members_ + "}"; }

 private:
  object& raw(std::string_view name, std::string_view value) {
    members_ += (members_.empty() ? "" : ", ") + quoted(name) + ": " + std::string(value);
    return *this;
  }
  std::string members_;
};

std::string json_of(const line& one) {
  return object()
      .text("work", one.work)
      .text("unit", one.unit)
      .number("hondana", one.ours)
      .text("peer", one.peer)
      .number("theirs", one.theirs)
      .number("ratio", one.ratio)
      .text("to_reach", limit_of(one))
      .truth("reached", is_reached(one))
      .text("remark", one.remark)
      .whole();
}

std::string json_of(const detail& one) {
  return object()
      .text("work", one.work)
      .text("who", one.who)
      .number("bytes", static_cast<double>(one.bytes))
      .number("at_once", one.at_once)
      .number("answers_per_second", one.rate)
      .number("processor_us", one.cost)
      .number("p50_us", one.p50)
      .number("p99_us", one.p99)
      .number("peak_mib", one.peak_mebibytes)
      .whole();
}

template <class Item, class Write>
std::string array_of(const std::vector<Item>& items, Write write) {
  std::string out;
  for (const auto& one : items) out += (out.empty() ? "\n  " : ",\n  ") + write(one);
  return "[" + out + "\n]";
}

}  // namespace

void report::amount(std::string work, std::string unit, double ours, std::string remark, std::optional<aim> wanted) {
  add({std::move(work), std::move(unit), ours, {}, {}, {}, std::move(wanted), std::move(remark)});
}

void report::compare(std::string work, std::string unit, const figures& ours, std::string peer, const figures* theirs,
                     std::vector<double> figures::* kind, aim wanted) {
  line one{std::move(work), std::move(unit), median(ours.*kind), std::move(peer)};
  one.wanted = std::move(wanted);
  if (theirs != nullptr) {
    one.theirs = median(theirs->*kind);
    one.ratio = median_ratio(ours.*kind, theirs->*kind);
  }
  add(std::move(one));
}

void report::add(std::string work, std::string who, std::size_t bytes, unsigned at_once, const figures& got) {
  details_.push_back({std::move(work), std::move(who), bytes, at_once, median(got.rates), median(got.costs), median(got.p50),
                      median(got.p99), static_cast<double>(got.peak_kib) / 1024});
}

void report::print_markdown() const {
  std::printf("%s\n\n", how_.c_str());
  for (const auto& what : left_out_) std::printf("Left out: %s.\n\n", what.c_str());
  std::printf("| work | unit | hondana | beside | theirs | ratio | to reach | reached |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const auto& one : lines_) {
    const auto reached = is_reached(one);
    std::printf("| %s | %s | %s | %s | %s | %s | %s | %s |\n", one.work.c_str(), one.unit.c_str(), shown(one.ours).c_str(),
                one.peer.empty() ? one.remark.c_str() : one.peer.c_str(), shown(one.theirs).c_str(), shown(one.ratio).c_str(),
                limit_of(one).c_str(),
                !reached   ? ""
                : *reached ? "yes"
                           : "no");
  }
  if (details_.empty()) return;
  std::printf("\n| work | who | bytes | at once | answers/s | µs CPU an answer | p50, µs | p99, µs | peak, MiB |\n");
  std::printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (const auto& one : details_) {
    std::printf("| %s | %s | %zu | %u | %.0f | %s | %s | %s | %.1f |\n", one.work.c_str(), one.who.c_str(), one.bytes,
                one.at_once, one.rate, short_number(one.cost).c_str(), short_number(one.p50).c_str(),
                short_number(one.p99).c_str(), one.peak_mebibytes);
  }
}

void report::write_json(const std::string& path) const {
  std::ofstream out(path);
  out << "{\"how\": " << quoted(how_) << ",\n\"left_out\": " << array_of(left_out_, [](const auto& one) { return quoted(one); })
      << ",\n\"lines\": " << array_of(lines_, [](const auto& one) { return json_of(one); })
      << ",\n\"details\": " << array_of(details_, [](const auto& one) { return json_of(one); }) << "}\n";
  if (!out.flush()) throw std::runtime_error("cannot write " + path);
}

}  // namespace bench
