/// Ticks of times, and zones.
#include "sources/metrics/charts/time_axis.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/metrics/charts/samples_made.hpp"

namespace hondana::charts {
namespace {

const drawing_library& loaded_here() {
  const auto out = loaded_drawing_library();
  if (!out) throw std::runtime_error(out.error().public_text + out.error().private_text);
  return **out;
}

/// "09:00 2026-11-24" where there is a date.
std::vector<std::string> times_of(series::instant start, series::instant end, const char* zone_name, unsigned most) {
  const zone in(loaded_here(), zone_name);
  std::vector<std::string> out;
  for (const auto& tick : time_ticks(start, end, in, most))
    out.push_back(tick.text + (tick.date.empty() ? "" : " " + tick.date));
  return out;
}
using texts = std::vector<std::string>;

TEST(time_axis, has_whole_hours_of_the_zone_and_dates_where_the_day_changes) {
  EXPECT_EQ(times_of(tuesday, tuesday + 12 * one_hour, "", 6), (texts{"00:00 2026-11-24", "03:00", "06:00", "09:00", "12:00"}));
  EXPECT_EQ(times_of(tuesday, tuesday + 24 * one_hour, "Asia/Tokyo", 6),
            (texts{"12:00 2026-11-24", "18:00", "00:00 2026-11-25", "06:00"}));
  EXPECT_EQ(times_of(tuesday, tuesday + 12 * one_hour, "Asia/Kathmandu", 5),
            (texts{"06:00 2026-11-24", "09:00", "12:00", "15:00"}));
}

TEST(time_axis, goes_from_thousandths_to_centuries) {
  EXPECT_EQ(times_of(tuesday, tuesday + 1000, "", 3), (texts{"00:00 2026-11-24", ".500", "00:00:01"}));
  EXPECT_EQ(times_of(tuesday, tuesday + 60'000, "", 3), (texts{"00:00 2026-11-24", "00:00:30", "00:01"}));
  EXPECT_EQ(times_of(tuesday, tuesday + 3 * one_day, "", 4), (texts{"11-24 2026", "11-25", "11-26", "11-27"}));
  EXPECT_EQ(times_of(tuesday, tuesday + 40 * one_day, "", 6), (texts{"11-30 2026", "12-07", "12-14", "12-21", "12-28"}))
      << "weeks begin on Mondays";
  EXPECT_EQ(times_of(tuesday, tuesday + 170 * one_day, "", 6),
            (texts{"2026-12", "2027-01", "2027-02", "2027-03", "2027-04", "2027-05"}));
  EXPECT_EQ(times_of(tuesday, tuesday + 1500 * one_day, "", 6), (texts{"2027", "2028", "2029", "2030", "2031"}));
  EXPECT_EQ(times_of(-62'000'000'000'000, 253'000'000'000'000, "", 6), (texts{"2000", "4000", "6000", "8000"}));
}

TEST(time_axis, shows_no_hour_that_clocks_leave_out_and_goes_on_after_one_that_comes_twice) {
  // Clocks in Berlin went from 02:00 to 03:00 on 2026-03-29, 01:00 UTC, and from 03:00 to 02:00 on 2026-10-25.
  constexpr series::instant spring = 1'774'746'000'000;
  EXPECT_EQ(times_of(spring - 2 * one_hour, spring + 2 * one_hour, "Europe/Berlin", 6),
            (texts{"00:00 2026-03-29", "01:00", "03:00", "04:00", "05:00"}));
  constexpr series::instant autumn = 1'792'890'000'000;
  EXPECT_EQ(times_of(autumn - 2 * one_hour, autumn + 2 * one_hour, "Europe/Berlin", 6),
            (texts{"01:00 2026-10-25", "02:00", "03:00", "04:00"}));
  const zone berlin(loaded_here(), "Europe/Berlin");
  EXPECT_EQ(berlin.text(autumn - one_hour, autumn + one_hour), "Europe/Berlin (UTC+02:00, +01:00)");
}

TEST(time_axis, ticks_rise_and_are_as_many_as_fit_whatever_the_span) {
  for (const char* const name : {"", "Asia/Tokyo", "America/St_Johns", "Pacific/Apia", "Australia/Lord_Howe"}) {
    const zone in(loaded_here(), name);
    for (series::duration span = 1; span < 900'000 * one_day; span = span * 3 + 7) {
      for (const unsigned most : {2U, 5U, 12U, 60U}) {
        const auto ticks = time_ticks(tuesday - span / 3, tuesday + span - span / 3, in, most);
        EXPECT_LE(ticks.size(), most + 1) << name << span;
        for (std::size_t at = 1; at < ticks.size(); ++at) EXPECT_LT(ticks[at - 1].time, ticks[at].time) << name << span;
      }
    }
  }
}

TEST(zone, that_is_not_known_is_utc_and_says_so) {
  const auto& with = loaded_here();
  for (const char* const name :
       {"Mars/Olympus", "../../../etc/passwd", "/etc/localtime", "Asia/../Asia/Tokyo", "a b", "Asia/Tokyo\x01"}) {
    const zone in(with, name);
    EXPECT_EQ(in.offset_at(tuesday), 0) << name;
    EXPECT_TRUE(in.text(tuesday, tuesday).starts_with("UTC (unknown time zone ")) << in.text(tuesday, tuesday);
  }
  EXPECT_EQ(zone(with, "").text(0, 0), "UTC");
  EXPECT_EQ(zone(with, "UTC").text(0, 0), "UTC");
  EXPECT_EQ(zone(with, "Asia/Tokyo").text(0, 0), "Asia/Tokyo (UTC+09:00)");
  EXPECT_EQ(zone(with, "America/St_Johns").text(tuesday, tuesday), "America/St_Johns (UTC-03:30)");
}

TEST(zone, instants_are_written_as_clocks_there_show_them) {
  const auto& with = loaded_here();
  EXPECT_EQ(instant_text(tuesday, zone(with, "Asia/Tokyo")), "2026-11-24 09:00");
  EXPECT_EQ(instant_text(tuesday + 61'250, zone(with, "")), "2026-11-24 00:01:01.250");
  EXPECT_EQ(instant_text(-1000, zone(with, "")), "1969-12-31 23:59:59");
}

}  // namespace
}  // namespace hondana::charts
