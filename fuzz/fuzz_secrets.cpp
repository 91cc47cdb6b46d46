/// Fuzzes the redactor: lengths and line ends are kept, no text takes more steps than its size allows, and a part with what
/// decides about it is masked as in the whole.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "text/secrets/redactor.hpp"

namespace {

using namespace hondana::secrets;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_line_end(char byte) { return byte == '\n' || byte == '\r'; }

}  // namespace

/// The input: a byte of flags, two bytes that say where a part begins and how long it is, the text.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const auto how = (data[0] & 1) != 0 ? masking_policy::settings : masking_policy::text;
  const bool is_apart = (data[0] & 2) != 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 3, size - 3);

  // Far from both ends of the source, where a part does not reach to them; or alone.
  const std::string filler(is_apart ? margin + 64 : 0, '\n');
  const auto text = filler + std::string(input) + filler;
  const redactor by(how, text);
  auto whole = text;
  const auto count = by.mask(whole);
  require(whole.size() == text.size());
  require(whole.starts_with(filler) && whole.ends_with(filler));
  const bool is_narrow = !detect_encodings(text).any();
  for (std::size_t i = filler.size(); i < filler.size() + input.size(); ++i) {
    const bool is_kept = whole[i] == text[i] || whole[i] == '*' || whole[i] == '\0';
    require(is_kept);
    if (is_narrow) require(is_line_end(text[i]) == is_line_end(whole[i]));
  }

  std::vector<span> found;
  const auto steps = find(text, how, found);
  require(steps <= max_steps_per_byte * (text.size() + max_examined_bytes));
  by.find(text, found);
  require(found.size() == count);
  for (std::size_t i = 0; i < found.size(); ++i) {
    require(found[i].begin < found[i].end && found[i].end <= text.size());
    require(i == 0 || found[i - 1].end < found[i].begin);
  }

  if (input.empty()) return 0;
  const auto part_begin = filler.size() + data[1] % input.size();
  const auto part_end = std::min(text.size(), part_begin + 1 + data[2]);
  const auto begin = (part_begin - std::min(part_begin, by.margin_bytes())) / unit_bytes * unit_bytes;
  const auto end = std::min(text.size(), part_end + by.margin_bytes());
  auto window = text.substr(begin, end - begin);
  by.mask_part(window, part_begin - begin, part_end - begin, true);
  require(window.compare(part_begin - begin, part_end - part_begin, whole, part_begin, part_end - part_begin) == 0);

  require(redact_text(input).size() == input.size());
  require(redact_uri(input).size() == input.size());
  return 0;
}
