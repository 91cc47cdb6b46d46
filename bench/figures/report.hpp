/// What a run has to show: lines that say whether an aim is reached, and the figures behind them, as Markdown and as JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "figures.hpp"

namespace bench {

/// How a value is held against its limit.
struct aim {
  enum class sense { at_most, at_least };
  sense which = sense::at_most;
  double limit = 0;
  std::string text{};  ///< How people write it, "≤ 1/25"; empty: sign and number.
};

/// One line of what must be shown.
struct line {
  std::string work;
  std::string unit;  ///< Of `ours` and `theirs`.
  std::optional<double> ours;
  std::string peer{};  ///< Empty: `ours` itself is held against the limit.
  std::optional<double> theirs{};
  std::optional<double> ratio{};
  std::optional<aim> wanted{};
  std::string remark{};
};

/// The figures of one server at one work.
struct detail {
  std::string work;
  std::string who;
  std::size_t bytes = 0;  ///< Of one answer, on the wire but for the head.
  unsigned at_once = 0;   ///< Connections, or questions in flight.
  double rate = 0;        ///< Answers a second.
  double cost = 0;        ///< Microseconds of processor time an answer.
  double p50 = 0;         ///< Microseconds.
  double p99 = 0;
  double peak_mebibytes = 0;
};

class report {
 public:
  explicit report(std::string how) : how_(std::move(how)) {}

  void add(line one) { lines_.push_back(std::move(one)); }
  /// A value that is held against nothing but its aim, where it has one.
  void amount(std::string work, std::string unit, double ours, std::string remark, std::optional<aim> wanted = {});
  /// The median of the ratios of each turn, ours by theirs, of one kind of figure; a line without a ratio where `theirs` is
  /// null.
  void compare(std::string work, std::string unit, const figures& ours, std::string peer, const figures* theirs,
               std::vector<double> figures::* kind, aim wanted);
  void add(std::string work, std::string who, std::size_t bytes, unsigned at_once, const figures& got);
  /// Something that could not be measured, and why.
  void leave_out(std::string what) { left_out_.push_back(std::move(what)); }

  void print_markdown() const;
  /// Throws when it cannot be written.
  void write_json(const std::string& path) const;

 private:
  std::string how_;
  std::vector<line> lines_;
  std::vector<detail> details_;
  std::vector<std::string> left_out_;
};

}  // namespace bench
