/// Checking: whatever is done to a log is found, at the first record that shows it.
#include <functional>

#include "unit/server/audit/a_folder.hpp"

namespace {

using namespace hondana;

class a_check : public hondana::test::audit_folder {
 protected:
  a_check() {
    auto log = audit_file::open(options());
    for (int i = 0; i < 4; ++i) {
      const auto number = (*log)->record_decision(reading("memo:///" + std::to_string(i)));
      (*log)->record_completion(number.value_or(0), {});
    }
    log->reset();
    whole_ = lines(path());
  }
  /// Checks the log after its lines were changed.
  audit_report after(const std::function<void(std::vector<std::string>&)>& change) {
    auto all = whole_;
    change(all);
    std::string joined;
    for (const auto& one : all) joined += one + '\n';
    put(path("changed"), joined);
    return verify_audit({path("changed")}).value();
  }

  std::vector<std::string> whole_;  // 10 records
};

TEST_F(a_check, finds_every_changed_byte_at_the_record_behind_it_or_at_its_own) {
  ASSERT_EQ(whole_.size(), 10u);
  for (std::size_t at = 0; at + 1 < whole_.size(); ++at) {
    for (std::size_t byte = 0; byte < whole_[at].size(); byte += 7) {
      const auto found = after([&](auto& all) { all[at][byte] = static_cast<char>(all[at][byte] ^ 1); });
      ASSERT_TRUE(found.first_fault) << at << ' ' << byte;
      EXPECT_TRUE(found.first_fault->line == at + 1 || found.first_fault->line == at + 2) << at << ' ' << byte;
      EXPECT_LE(found.last_record, at + 1);
    }
  }
}

TEST_F(a_check, finds_what_was_taken_out_put_in_or_exchanged) {
  const auto out = after([](auto& all) { all.erase(all.begin() + 3); });
  ASSERT_TRUE(out.first_fault);
  EXPECT_EQ(out.first_fault->line, 4u);
  EXPECT_EQ(out.first_fault->description, "record 4 is missing: found record 5");
  EXPECT_EQ(out.last_record, 3u);
  const auto in = after([](auto& all) { all.insert(all.begin() + 3, all[2]); });
  ASSERT_TRUE(in.first_fault);
  EXPECT_EQ(in.first_fault->line, 4u);
  const auto exchanged = after([](auto& all) { std::swap(all[3], all[4]); });
  ASSERT_TRUE(exchanged.first_fault);
  EXPECT_EQ(exchanged.first_fault->line, 4u);
}

TEST_F(a_check, shows_by_number_and_hash_what_was_cut_off_at_the_end) {
  const auto all = after([](auto&) {});
  EXPECT_FALSE(all.first_fault);
  const auto fewer = after([](auto& kept) { kept.resize(6); });
  EXPECT_FALSE(fewer.first_fault) << "the chain alone cannot show it";
  EXPECT_LT(fewer.last_record, all.last_record);
  EXPECT_NE(fewer.last_hash, all.last_hash);
}

TEST_F(a_check, names_a_record_without_end_and_counts_what_is_before_it) {
  put(path("changed"), whole_[0] + '\n' + whole_[1].substr(0, 50));
  const auto found = verify_audit({path("changed")}).value();
  ASSERT_TRUE(found.first_fault);
  EXPECT_EQ(found.first_fault->line, 2u);
  EXPECT_EQ(found.records, 1u);
}

TEST_F(a_check, of_something_that_is_no_log_says_so) {
  put(path("changed"), "a poem\n");
  EXPECT_EQ(verify_audit({path("changed")})->first_fault->description, "it is not JSON");
  put(path("changed"), std::string(9u << 20, 'x'));
  EXPECT_EQ(verify_audit({path("changed")})->first_fault->line, 1u);
  EXPECT_FALSE(verify_audit({path("none")}));
  EXPECT_FALSE(verify_audit({"/dev/zero"}));
  put(path("changed"), "");
  const auto empty = verify_audit({path("changed")}).value();
  EXPECT_FALSE(empty.first_fault);
  EXPECT_EQ(empty.records, 0u);
}

}  // namespace
