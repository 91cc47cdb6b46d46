/// What the process counts and measures of itself, by name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::counters {

enum class kind : std::uint8_t { counter, gauge, histogram, info };

/// Of a family of series. Text that lives as long as the program.
struct head {
  std::string_view name{};  ///< As Prometheus wants it, without `_total`, `_bucket`, `_info` and the like: "hondana_requests".
  counters::kind kind = counters::kind::counter;
  std::string_view unit{};  ///< "seconds", "bytes"; then the name ends with it. Empty: none.
  std::string_view help{};
};

struct label {
  std::string name{};
  std::string value{};
  bool operator==(const label&) const = default;
};

/// Takes what there is, family by family.
class sink {
 public:
  sink() = default;
  sink(const sink&) = delete;
  sink& operator=(const sink&) = delete;
  virtual ~sink() = default;
  virtual void family(const head& of) = 0;
  /// Of the last family. `suffix`: "_total" of counters, "_bucket", "_sum" and "_count" of histograms, "_info" of infos, empty
  /// of gauges. Buckets are cumulative and have the label `le`, the last of them "+Inf".
  virtual void sample(std::string_view suffix, std::span<const label> labels, double value) = 0;
};

class registry;

/// One that is asked for its samples whenever somebody collects. Where several have the same family and labels, for instance
/// two servers in one process, the values are added up.
class part {
 public:
  part() = default;
  part(const part&) = delete;
  part& operator=(const part&) = delete;
  virtual ~part() = default;
  [[nodiscard]] virtual head of() const = 0;
  using teller = std::function<void(std::string_view suffix, std::span<const label> labels, double value)>;
  /// Threads: any, several at once.
  virtual void tell(const teller& to) const = 0;
};

/// Families in the order of their names. Threads: any.
class registry {
 public:
  registry() = default;
  registry(const registry&) = delete;
  registry& operator=(const registry&) = delete;
  /// That of this process.
  [[nodiscard]] static registry& here();

  /// Until somebody else lets go of it.
  void add(std::weak_ptr<const part> what);
  /// Everything once. What is asked is asked without a lock.
  void collect(sink& into) const;

 private:
  mutable std::mutex mutex_;
  mutable std::list<std::weak_ptr<const part>> parts_;
};

/// A part that is one function.
[[nodiscard]] std::shared_ptr<const part> asked(const head& of, std::function<void(const part::teller&)> tells,
                                                registry& at = registry::here());

}  // namespace hondana::counters
