/// Beginnings of URIs, as they are asked for and as they are listed.
#include "search/index/search_query.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "server/catalog/list_filter.hpp"

namespace hondana::search {
namespace {

/// Whether what is listed so is found below a beginning.
bool finds(std::string_view prefix, const std::string& listed) {
  document_filter which;
  set_prefix(which, prefix);
  document what;
  what.uri = listed;
  return passes(which, what);
}

TEST(search_prefixes, plain_and_escaped_delimiters_are_the_same_whichever_is_listed) {
  for (const std::string_view one : {"gdrive://my-drive/Plan (old), R&D + 'x'; a=b!$*:@/",
                                     "gdrive://my-drive/Plan%20%28old%29%2C%20R%26D%20%2B%20%27x%27%3B%20a%3Db%21%24%2A%3A%40/",
                                     "gdrive://my-drive/Plan%20(old),%20R&D%20+%20'x';%20a=b!$*:@/",
                                     "GDRIVE://my-drive/Plan%20%28old),%20R&D%20%2b%20'x';%20a=b!$*%3a@/"}) {
    EXPECT_TRUE(finds(one, "gdrive://my-drive/Plan%20%28old%29%2C%20R%26D%20%2B%20%27x%27%3B%20a%3Db%21%24%2A%3A%40/Draft"))
        << one;
    EXPECT_TRUE(finds(one, "gdrive://my-drive/Plan%20(old),%20R&D%20+%20'x';%20a=b!$*:@/Draft")) << one;
    EXPECT_FALSE(finds(one, "gdrive://my-drive/Plan%20%28old%29/Draft")) << one;
  }
  EXPECT_TRUE(finds("docs://manual/a[1]/", "docs://manual/a%5B1%5D/b.md"));
  EXPECT_TRUE(finds("docs://manual/%61/", "docs://manual/a/b.md"));
}

TEST(search_prefixes, an_escaped_slash_and_the_signs_of_a_query_stay_what_they_are) {
  EXPECT_FALSE(finds("gdrive://my-drive/a/b", "gdrive://my-drive/a%2Fb"));
  EXPECT_FALSE(finds("gdrive://my-drive/a%2Fb", "gdrive://my-drive/a/b"));
  EXPECT_TRUE(finds("gdrive://my-drive/a%2fb", "gdrive://my-drive/a%2Fb"));
  EXPECT_TRUE(finds("gdrive://my-drive/Book?sheet=Q1 (a)", "gdrive://my-drive/Book?sheet=Q1%20%28a%29"));
  EXPECT_FALSE(finds("gdrive://my-drive/Book?sheet=a%26b", "gdrive://my-drive/Book?sheet=a&b"));
  EXPECT_FALSE(finds("gdrive://my-drive/Book?sheet=a%3Db", "gdrive://my-drive/Book?sheet=a=b"));
}

TEST(search_prefixes, letters_are_found_composed_however_they_are_written) {
  const std::string listed = "gdrive://my-drive/%E3%83%90%E3%82%A4%E3%83%88%28%E6%97%A7%29/x";
  EXPECT_TRUE(finds("gdrive://my-drive/%E3%83%90%E3%82%A4%E3%83%88(%E6%97%A7)/", listed));
  EXPECT_TRUE(finds("gdrive://my-drive/%E3%83%8F%E3%82%99%E3%82%A4%E3%83%88(%E6%97%A7)/", listed)) << "as a Mac writes it";
  EXPECT_TRUE(finds("gdrive://my-drive/%e3%83%8f%e3%82%99%e3%82%a4%E3%83", listed)) << "it ends within a character";
  EXPECT_TRUE(finds("gdrive://my-drive/%E3%83%90%E3", listed));
  EXPECT_FALSE(finds("gdrive://my-drive/%E3%83%8F%E3%82%A4", listed));
}

TEST(search_prefixes, there_are_few_spellings_and_most_have_one) {
  for (const auto* one :
       {"", "docs", "docs:", "docs://", "docs://manual", "docs://manual/", "file:///srv/a%20b/", "(", "a b:c", ":x"})
    EXPECT_EQ(catalog::prefix_forms(one), std::vector<std::string>{one}) << one;
  EXPECT_EQ(catalog::prefix_forms("docs://m/a(b"), (std::vector<std::string>{"docs://m/a(b", "docs://m/a%28b"}));
  std::string odd = "docs://m/";
  for (const auto* piece : {"%", "%4", "%zz", "%00", "%ff", "\xFF", "(", "%C3%A9", "e%CC%81", "?", "#", "/"}) {
    odd += piece;
    const auto all = catalog::prefix_forms(odd);
    EXPECT_LE(all.size(), 5u) << odd;
    EXPECT_EQ(all.front(), odd);
    EXPECT_TRUE(finds(odd, odd + "x"));
  }
}

TEST(search_prefixes, an_address_takes_them) {
  const auto got = parse_address("search:///?q=a&uriPrefix=gdrive%3A%2F%2Fmy-drive%2FPlan%20%28old%29%2F");
  ASSERT_FALSE(got) << "a blank is none of a URI's";
  const auto fine = parse_address("search:///?q=a&uriPrefix=gdrive%3A%2F%2Fmy-drive%2FPlan%2520%28old%29%2F");
  ASSERT_TRUE(fine) << fine.error().public_text;
  EXPECT_EQ(fine->query.filter.uri_prefix, "gdrive://my-drive/Plan%20(old)/");
  EXPECT_EQ(fine->query.filter.alternative_prefixes, std::vector<std::string>{"gdrive://my-drive/Plan%20%28old%29/"});
}

}  // namespace
}  // namespace hondana::search
