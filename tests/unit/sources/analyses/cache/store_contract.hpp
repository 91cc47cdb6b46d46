/// What every store of analyses must do: the tests of the contract run on each kind.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "sources/analyses/cache/store.hpp"
#include "unit/sources/analyses/cache/samples.hpp"

namespace hondana::analyses {

/// Where a store has its data; as often as it is opened it is another store on the same data.
class stored {
 public:
  virtual ~stored() = default;
  [[nodiscard]] virtual std::shared_ptr<analysis_store> open() = 0;
  /// In memory, so that what is opened again is empty.
  [[nodiscard]] virtual bool is_in_memory() const { return false; }
};
struct kind_of_store {
  std::string name;
  std::function<std::unique_ptr<stored>()> make;
  friend void PrintTo(const kind_of_store& what, std::ostream* to) { *to << what.name; }
};

class store_contract : public testing::TestWithParam<kind_of_store> {
 protected:
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] claim_ticket claim(const analysis& what, milliseconds lease = std::chrono::hours(1), bool is_forced = false);
  analysis_summary put(const analysis& what, analysis_status how = analysis_status::complete,
                       milliseconds fresh = std::chrono::hours(1), milliseconds stale = std::chrono::hours(1));
  [[nodiscard]] cached_answer look(const analysis& what);
  [[nodiscard]] std::vector<std::string> listed(const list_filter& which = {});
  /// Whether it holds before the deadline of tests; looks again when something has changed, or after a few milliseconds.
  [[nodiscard]] bool eventually(const std::function<bool()>& holds);

  std::unique_ptr<stored> data_;
  std::shared_ptr<analysis_store> store_;
};

/// What is there, or a failure of the test.
template <class T>
T good(result<T> what) {
  EXPECT_TRUE(what) << what.error().public_text << " | " << what.error().private_text;
  return what ? std::move(*what) : T();
}
inline void good(const result<void>& what) {
  EXPECT_TRUE(what) << what.error().public_text << " | " << what.error().private_text;
}

}  // namespace hondana::analyses
