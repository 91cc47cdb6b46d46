/// No secret of the corpus in anything that a source of variables says.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "unit/sources/ear.hpp"
#include "unit/sources/env/env_folders.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using namespace hondana::env;

/// Whether a line of the secret, or the half of it, stands in the text.
bool has_some_of(std::string_view text, std::string_view secret) {
  for (std::size_t begin = 0; begin < secret.size();) {
    const auto end = std::min(secret.find('\n', begin), secret.size());
    const auto line = secret.substr(begin, end - begin);
    const auto count =
        std::count_if(line.begin(), line.end(), [](char c) { return secrets::is_in(secrets::byte_set::alnum, c); });
    const auto half = std::max<std::size_t>(line.size() / 2, std::min<std::size_t>(line.size(), 6));
    for (std::size_t at = 0; count >= 6 && at + half <= line.size(); ++at) {
      if (text.find(line.substr(at, half)) != std::string_view::npos) return true;
    }
    begin = end + 1;
  }
  return false;
}

/// A quote that does not stand in the text; nothing when all do.
std::string quote_for(std::string_view text) {
  for (const char one : {'\'', '`', '"'}) {
    if (text.find(one) == std::string_view::npos) return std::string(1, one);
  }
  return {};
}

TEST(secrets_of_the_corpus, leave_by_no_view_of_the_process) {
  test::lots from(21);
  for (const auto& shape : test::secret_shapes()) {
    const auto one = shape.draw(from);
    const auto source = of_process({"APP_VALUE=" + one.text(), "APP_SECRET=" + one.secret});
    EXPECT_FALSE(has_some_of(all_that_is_said(*source), one.secret)) << shape.name;
    EXPECT_FALSE(has_some_of(error_at(*source, "env:///" + percent_encode(one.secret)), one.secret)) << shape.name;
  }
}

struct env_leaks : env_folders {};

TEST_F(env_leaks, of_the_corpus_are_in_no_view_of_files) {
  test::lots from(22);
  std::size_t quoted = 0;
  for (const auto& shape : test::secret_shapes()) {
    const auto one = shape.draw(from);
    const auto quote = quote_for(one.text());
    quoted += quote.empty() ? 0 : 1;
    std::vector<std::string> files{
        one.text(),                                              // as it is
        "APP_VALUE=" + one.text() + "\n# " + one.text() + '\n',  // without quotes, and in a comment
        "OK=1\nAPP_SECRET=\"" + one.secret,                      // half-written
        "OK=1\n\xFF APP_SECRET=" + one.secret + '\n',            // no text
    };
    if (!quote.empty()) files.push_back("APP_VALUE=" + quote + one.text() + quote + "\nOK=1\n");
    write("prod.env", "OK=0\n");
    const auto source = open(with_file("prod.env"));
    for (std::size_t i = 0; i < files.size(); ++i) {
      write("prod.env", files[i]);
      EXPECT_FALSE(has_some_of(all_that_is_said(*source), one.secret)) << shape.name << ", file " << i;
      EXPECT_FALSE(has_some_of(log(), one.secret)) << shape.name << ", file " << i;
      lines.clear();
    }
  }
  EXPECT_GT(quoted, test::secret_shapes().size() / 2);
}

TEST_F(env_leaks, are_no_titles_of_what_is_told) {
  struct hearing final : change_listener {
    std::string all;
    void list_changed() override {}
    void content_changed(std::string_view uri, std::string_view title) override { (all += uri) += title; }
  };
  test::lots from(23);
  const auto secret = "ghp_" + from.alnum(36);
  write("prod.env", "A=1\n");
  const auto source = open(with_file("prod.env"));
  const auto to = std::make_shared<hearing>();
  source->set_listener(to);
  write("prod.env", "A=" + secret + "\nHIDDEN_" + secret + "=1\nAPP_SECRET=" + secret + '\n');
  EXPECT_FALSE(has_some_of(all_that_is_said(*source), secret));
  EXPECT_NE(to->all.find("env://prod/APP_SECRET"), std::string::npos);
  EXPECT_FALSE(has_some_of(to->all, secret));
}

}  // namespace
