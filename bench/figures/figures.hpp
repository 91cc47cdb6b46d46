/// What is measured of a server, and how runs that take turns are held against each other.
#pragma once

#include <cstdint>
#include <vector>

namespace bench {

/// One run of a load generator.
struct outcome {
  std::uint64_t answers = 0;
  double seconds = 0;
  std::vector<float> round_trips;  ///< Microseconds from each question to its answer.
};

/// A server's runs, one value each.
struct figures {
  std::vector<double> rates;  ///< Answers a second.
  std::vector<double> costs;  ///< Processor time of the server in microseconds an answer.
  std::vector<double> p50;    ///< Microseconds from a question to its answer.
  std::vector<double> p99;
  long peak_kib = 0;  ///< The largest memory of all runs.

  /// `processor_seconds`: what the server used for it.
  void add(outcome what, double processor_seconds, long peak);
};

[[nodiscard]] double median(std::vector<double> values);
/// The value below which `part` (0 to 1) of all lie.
[[nodiscard]] double quantile(std::vector<double> values, double part);
/// The median of `ours[i] / theirs[i]`: runs of one turn had the same machine.
[[nodiscard]] double median_ratio(const std::vector<double>& ours, const std::vector<double>& theirs);

}  // namespace bench
