/// The kinds of store that the contract is tested on.
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "sources/analyses/cache/embedded/embedded_store.hpp"
#include "unit/sources/analyses/cache/redis_server.hpp"
#include "unit/sources/analyses/cache/store_contract.hpp"

namespace hondana::analyses {
namespace {

class in_memory final : public stored {
 public:
  std::shared_ptr<analysis_store> open() override { return good(open_embedded({})); }
  bool is_in_memory() const override { return true; }
};

class in_file final : public stored {
 public:
  in_file() {
    folder_ = "/tmp/analyses_XXXXXX";
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  ~in_file() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::shared_ptr<analysis_store> open() override {
    embedded_options how;
    how.path = folder_ + "/below/analyses.db";
    // Tests of what is left after a loss of power sync; these need not wait for the disk.
    how.is_synced = false;
    return good(open_embedded(how));
  }

 private:
  std::string folder_;
};

/// One server for all tests, with a prefix for each.
class in_redis final : public stored {
 public:
  explicit in_redis(bool is_tls) : is_tls_(is_tls), prefix_("test" + std::to_string(++number())) {}
  std::shared_ptr<analysis_store> open() override {
    auto& server = server_of(is_tls_);
    // Tests of servers that are killed sync always; these need not wait for the disk.
    if (!server) server = std::make_unique<redis_server>(std::vector<std::string>{"--appendfsync", "everysec"}, is_tls_);
    return good(open_redis(is_tls_ ? server->tcp_options(prefix_) : server->options(prefix_)));
  }
  static std::unique_ptr<redis_server>& server_of(bool is_tls) {
    static std::unique_ptr<redis_server> plain, with_tls;
    return is_tls ? with_tls : plain;
  }

 private:
  static int& number() {
    static int last = 0;
    return last;
  }
  bool is_tls_;
  std::string prefix_;
};

class ends_redis final : public testing::Environment {
 public:
  void TearDown() override {
    in_redis::server_of(false).reset();
    in_redis::server_of(true).reset();
  }
};
const auto* const ends_redis_with_the_tests = testing::AddGlobalTestEnvironment(new ends_redis);

INSTANTIATE_TEST_SUITE_P(each_kind, store_contract,
                         testing::Values(kind_of_store{"in_memory", [] { return std::make_unique<in_memory>(); }},
                                         kind_of_store{"in_a_file", [] { return std::make_unique<in_file>(); }},
                                         kind_of_store{"in_redis", [] { return std::make_unique<in_redis>(false); }},
                                         kind_of_store{"in_redis_over_tls", [] { return std::make_unique<in_redis>(true); }}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace hondana::analyses
