/// Stars, links and age.
#include "sources/gdrive/weighing.hpp"

#include <algorithm>
#include <cmath>

namespace hondana::gdrive {

weight weight_of(const item& what, std::size_t links, std::chrono::system_clock::time_point now) {
  using namespace std::chrono_literals;
  constexpr auto day = 24h;
  constexpr double most = 0.95;
  weight made;
  const auto add = [&made](double more, const char* why) {
    made.priority += more;
    (made.reason += made.reason.empty() ? "" : ", ") += why;
  };
  if (what.is_starred) add(0.2, "starred");
  if (links >= 3) add(0.15, "target of three or more shortcuts");
  if (links > 0 && links < 3) add(0.1, "target of a shortcut");
  if (what.modified) {
    const auto age = now - *what.modified;
    if (age <= 7 * day) {
      add(0.15, "changed within a week");
    } else if (age <= 30 * day) {
      add(0.1, "changed within a month");
    } else if (age > 730 * day) {
      add(-0.1, "not changed for two years");
    }
  }
  // Sums of such fractions are not what people write.
  made.priority = std::round(std::min(most, made.priority) * 100) / 100;
  if (made.reason.empty()) made.reason = "as usual";
  return made;
}

}  // namespace hondana::gdrive
