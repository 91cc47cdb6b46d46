/// Draws the pictures of the documentation: usage: draw_pictures FOLDER
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "sources/metrics/charts/chart.hpp"

namespace {

using namespace hondana;

// 2026-11-24T00:00:00Z
constexpr series::instant midnight = 1'795'478'400'000;
constexpr series::duration hour = 3'600'000;

/// The same numbers on every machine.
class noise {
 public:
  double next() noexcept {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 40) / static_cast<double>(1U << 24) - 0.5;
  }

 private:
  std::uint64_t state_ = 20261124;
};

double wave(series::instant at, double hours, double phase) {
  return std::sin((static_cast<double>(at - midnight) / static_cast<double>(hour) / hours + phase) * 6.283185307179586);
}

/// Processors of one machine through a working day, with a scrape that failed for half an hour.
charts::chart of_processors() {
  charts::chart out;
  out.title = "node_cpu_seconds_total";
  out.subtitle = "sum by (mode) (rate[5m]) · instance=\"web-1\"";
  out.unit = "ratio";
  out.start = midnight;
  out.end = midnight + 24 * hour;
  out.step = 120'000;
  out.zone = "Asia/Tokyo";
  out.is_stacked = true;
  noise rough;
  const std::vector<std::pair<std::string, double>> modes{
      {"user", 0.34}, {"system", 0.14}, {"iowait", 0.07}, {"softirq", 0.03}, {"steal", 0.015}};
  for (const auto& [mode, size] : modes) {
    charts::line one{"mode=\"" + mode + "\"", {}};
    double drift = 0;
    for (auto at = out.start; at <= out.end; at += out.step) {
      drift = drift * 0.92 + rough.next() * 0.14;
      const double day = 0.75 - 0.45 * wave(at, 24, 0.35) + 0.12 * wave(at, 5, size);
      if (at > midnight + 14 * hour && at < midnight + 14 * hour + hour / 2) continue;
      one.samples.push_back({at, std::max(0.002, size * (day + drift))});
    }
    out.lines.push_back(std::move(one));
  }
  return out;
}

/// Quantiles of a service's latencies, with a limit that one of them crosses.
charts::chart of_latencies() {
  charts::chart out;
  out.title = "http_request_duration_seconds";
  out.subtitle = "p50,p90,p99 · handler=\"/api/orders\"";
  out.unit = "seconds";
  out.start = midnight + 9 * hour;
  out.end = midnight + 12 * hour;
  out.step = 15'000;
  out.thresholds.push_back({0.5, "above"});
  noise rough;
  for (const auto& [name, size] : {std::pair{"p50", 0.06}, std::pair{"p90", 0.17}, std::pair{"p99", 0.31}}) {
    charts::line one{name, {}};
    double drift = 0;
    for (auto at = out.start; at <= out.end; at += out.step) {
      drift = drift * 0.95 + rough.next() * 0.1;
      const double minutes = static_cast<double>(at - out.start) / 60'000;
      const double burst = size * 1.4 * std::exp(-std::pow((minutes - 128) / 9, 2));
      if (minutes > 62 && minutes < 71) continue;
      one.samples.push_back({at, size * (1 + drift * 0.6) + burst});
    }
    out.lines.push_back(std::move(one));
  }
  return out;
}

/// Names in several scripts.
charts::chart of_temperatures() {
  charts::chart out;
  out.title = "サーバー室の温度 — 本棚計測";
  out.subtitle = "センサー別・一週間";
  out.unit = "celsius";
  out.start = midnight - 7 * 24 * hour;
  out.end = midnight;
  out.step = 1'800'000;
  out.zone = "Asia/Tokyo";
  out.thresholds.push_back({32, "上限"});
  noise rough;
  const std::vector<std::pair<std::string, double>> places{
      {"東棟・ラック1（吸気）", 21}, {"東棟・ラック1（排気）", 29}, {"西棟・配電盤", 25.5}, {"屋上", 9}};
  for (const auto& [name, base] : places) {
    charts::line one{name, {}};
    double drift = 0;
    for (auto at = out.start; at <= out.end; at += out.step) {
      drift = drift * 0.9 + rough.next() * 0.5;
      one.samples.push_back({at, base + (base < 10 ? 4.5 : 1.1) * wave(at, 24, -0.1) + drift});
    }
    out.lines.push_back(std::move(one));
  }
  return out;
}

/// Many series of one metric.
charts::chart of_networks() {
  charts::chart out;
  out.title = "node_network_receive_bytes_total";
  out.subtitle = "rate[5m]";
  out.unit = "bytes/s";
  out.start = midnight - 3 * hour;
  out.end = midnight + 3 * hour;
  out.step = 60'000;
  noise rough;
  for (int host = 1; host <= 8; ++host) {
    charts::line one{"device=\"eth0\",instance=\"node-" + std::to_string(host) + ".cluster.example:9100\",job=\"node\"", {}};
    const double base = 9e6 * std::exp(rough.next() * 2.4);
    double drift = 0;
    for (auto at = out.start; at <= out.end; at += out.step) {
      drift = drift * 0.985 + rough.next() * 0.09;
      one.samples.push_back({at, std::max(0.0, base * (1 + 0.25 * wave(at, 4, base) + drift))});
    }
    out.lines.push_back(std::move(one));
  }
  return out;
}

/// Nothing was measured.
charts::chart of_nothing() {
  charts::chart out;
  out.title = "up";
  out.subtitle = "job=\"prometheus\"";
  out.start = midnight;
  out.end = midnight + hour;
  out.step = 15'000;
  return out;
}

bool draw_one(const std::string& folder, const std::string& name, const charts::chart& what, charts::image_format as,
              const charts::image_size& how) {
  const auto drawn = charts::draw(what, as, how);
  if (!drawn) {
    std::fprintf(stderr, "%s: %s (%s)\n", name.c_str(), drawn.error().public_text.c_str(), drawn.error().private_text.c_str());
    return false;
  }
  std::ofstream to(folder + "/" + name, std::ios::binary);
  to << *drawn;
  to.close();
  if (!to) std::fprintf(stderr, "%s: cannot be written\n", name.c_str());
  return static_cast<bool>(to);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::fputs("usage: draw_pictures FOLDER\n", stderr);
    return 2;
  }
  const std::string folder = words[1];
  using charts::image_format;
  const charts::image_size light{600, 320, 1, false};
  const charts::image_size dark{600, 320, 1, true};
  bool is_well = draw_one(folder, "chart-stacked.png", of_processors(), image_format::png, light);
  is_well = draw_one(folder, "chart-quantiles-dark.png", of_latencies(), image_format::png, dark) && is_well;
  is_well = draw_one(folder, "chart-japanese.png", of_temperatures(), image_format::png, light) && is_well;
  is_well = draw_one(folder, "chart-many-series.png", of_networks(), image_format::png, {600, 340, 1, false}) && is_well;
  is_well = draw_one(folder, "chart-empty.png", of_nothing(), image_format::png, {600, 240, 1, false}) && is_well;
  is_well = draw_one(folder, "chart-quantiles.svg", of_latencies(), image_format::svg, light) && is_well;
  return is_well ? 0 : 1;
}
