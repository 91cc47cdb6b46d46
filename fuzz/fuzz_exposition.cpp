/// Expositions in both formats: the first two bytes say where the text is cut; cut in any way it says the same, and what is
/// heard is written so that it is heard again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/exposition/parser.hpp"
#include "sources/metrics/exposition/writer.hpp"

namespace {

using namespace hondana;

class keeping final : public exposition::sample_handler {
 public:
  std::string all{};
  exposition::writer again;
  explicit keeping(exposition::parser::format which) : again(which) {}

  void family(std::string_view name, const series::metadata& of) override {
    all.append(name).append(1, ' ').append(series::name_of(of.kind)).append(of.unit).append(of.help).append(1, '\n');
  }
  bool sample(const series::identity& of, double value, std::optional<series::instant> at) override {
    auto copy = of;
    if (of.name.empty() || !series::normalize(copy) || copy != of) std::abort();
    all.append(to_text(of))
        .append(1, ' ')
        .append(exposition::format_number(value))
        .append(at ? std::to_string(*at) : "")
        .append(1, '\n');
    samples.append(to_text(of))
        .append(1, ' ')
        .append(exposition::format_number(value))
        .append(at ? std::to_string(*at) : "")
        .append(1, '\n');
    again.sample(of, value, at);
    return ++count < 1000;
  }
  std::string samples{};
  std::size_t count = 0;
};

/// What was heard, and of an error its text.
std::string heard_in(std::string_view text, exposition::parser::format which, std::size_t first, std::size_t piece,
                     keeping& to) {
  exposition::parse_limits most;
  most.max_line_bytes = 300;
  most.max_bytes = 1 << 16;
  most.max_label_bytes = 100;
  most.max_labels = 5;
  most.max_families = 10;
  exposition::parser by(which, to, most);
  for (std::size_t next = std::min(first, text.size());; next = std::min(piece, text.size())) {
    if (auto done = by.parse(text.substr(0, next)); !done) return done.error().public_text;
    text.remove_prefix(next);
    if (text.empty()) break;
  }
  const auto done = by.finish();
  return done ? "good" : done.error().public_text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  for (const auto which : {exposition::parser::format::prometheus, exposition::parser::format::open_metrics}) {
    keeping whole(which), cut(which);
    const auto end = heard_in(text, which, text.size(), text.size(), whole);
    if (heard_in(text, which, data[0], data[1] + 1u, cut) != end || cut.all != whole.all) std::abort();
    keeping again(which);
    exposition::parser by(which, again);
    const auto written = whole.again.finish();
    if (!by.parse(written) || !by.finish() || again.samples != whole.samples) std::abort();
  }
  return 0;
}
