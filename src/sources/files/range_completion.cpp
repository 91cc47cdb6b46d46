/// Completing `lines` and `bytes`.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <hondana/uri.hpp>

#include "base/bytes/form.hpp"
#include "protocol/model/still_wanted.hpp"
#include "sources/files/completion.hpp"
#include "sources/files/open_file.hpp"
#include "sources/files/window.hpp"

namespace hondana::files {
namespace {

constexpr std::size_t ranges_offered = 100;
constexpr std::uint64_t counted_bytes = 8ull << 20;
constexpr std::uint64_t lines_a_page = 200;
constexpr std::uint64_t bytes_a_page = 64 * 1024;
constexpr std::uint64_t page_limit = 10'000;

/// The positions there are: from `first` to `last`.
struct extremes {
  std::uint64_t first;
  std::uint64_t last;
};

class offer {
 public:
  explicit offer(std::string_view typed) : typed_(typed) {}

  void add(const std::string& value) {
    if (!value.starts_with(typed_)) return;
    auto& values = answer_.values;
    // Only the first few are no pages, and no page comes twice.
    const auto first_few = values.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(values.size(), 4));
    if (std::find(values.begin(), first_few, value) != first_few) return;
    ++count_;
    if (values.size() < ranges_offered) values.push_back(value);
  }
  void add(std::uint64_t first, std::uint64_t last) { add(std::to_string(first) + '-' + std::to_string(last)); }

  complete_result take(bool is_all) {
    if (is_all) answer_.total = count_;
    answer_.has_more = !is_all || count_ > answer_.values.size();
    return std::move(answer_);
  }

 private:
  std::string_view typed_;
  std::uint64_t count_ = 0;
  complete_result answer_;
};

/// The number typed before an optional `-`; nothing when it is something else.
std::optional<std::uint64_t> first_number(std::string_view typed) {
  std::uint64_t number = 0;
  const auto* end = typed.data() + typed.size();
  const auto [stopped, error] = std::from_chars(typed.data(), end, number);
  if (error != std::errc() || (stopped != end && *stopped != '-')) return std::nullopt;
  return number;
}

complete_result offered_ranges(const extremes& of, std::uint64_t a_page, std::string_view typed) {
  offer values(typed);
  values.add(of.first, of.last);
  if (const auto first = first_number(typed); first && *first >= of.first && *first <= of.last) {
    values.add(*first, std::min(of.last, *first + (a_page - 1)));
    values.add(*first, of.last);
    values.add(std::to_string(*first));
  }
  std::uint64_t pages = 0;
  for (auto first = of.first; first <= of.last; first += a_page) {
    if (pages++ == page_limit) return values.take(false);
    values.add(first, std::min(of.last, first + (a_page - 1)));
  }
  return values.take(true);
}

/// Lines of a text file; nothing for what is no text, has no line, or is too large to count.
result<std::optional<extremes>> lines_of(const open_file& file, std::uint64_t size, const call& by) {
  if (size > counted_bytes) return std::nullopt;
  bytes::form_detector form;
  std::uint64_t ends = 0;
  char last = '\n';
  const auto counted = for_each_window(file, size, by, [&](std::string_view part) {
    form.feed(part);
    ends += static_cast<std::uint64_t>(std::count(part.begin(), part.end(), '\n'));
    last = part.back();
    return true;
  });
  if (!counted) return tl::unexpected(counted.error());
  const auto lines = ends + (last == '\n' ? 0 : 1);
  if (lines == 0 || form.value() != content_form::text) return std::nullopt;
  return extremes{1, lines};
}

}  // namespace

result<complete_result> complete_range(const root& of, std::string_view path, bool is_lines, std::string_view typed,
                                       const call& by) {
  complete_result none{{}, 0, false};
  const auto decoded = percent_decode(path);
  const std::string asked = decoded ? *decoded : std::string(path);
  const auto found = of.find(asked, &by);
  HONDANA_TRY(still_wanted(by));
  if (!found || !S_ISREG(found->facts.st_mode) || !of.is_readable(asked, *found, by.who)) return none;
  auto opened = of.below()->open_file(*found);
  if (!opened) return none;
  const open_file file(std::move(*opened));
  const auto state = file.state();
  if (!state || state->size == 0) return none;
  if (!is_lines) return offered_ranges({0, state->size - 1}, bytes_a_page, typed);
  const auto lines = lines_of(file, state->size, by);
  if (!lines) {
    const auto why = lines.error().code;
    if (why == errc::cancelled || why == errc::timed_out) return tl::unexpected(lines.error());
    return none;  // it changed meanwhile: whoever types on asks again
  }
  return *lines ? offered_ranges(**lines, lines_a_page, typed) : none;
}

}  // namespace hondana::files
