/// What is cut of texts that are no UTF-8: as people read them, without their secrets.
#include "search/index/document_reader.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace hondana::search {
namespace {

class one_text final : public test::scripted_provider {
 public:
  one_text(std::string bytes, hondana::secret_masking how) : scripted_provider("memo", {"memo:///"}) {
    masking = how;
    on_read = [bytes = std::make_shared<const std::string>(std::move(bytes))](const read_request&) -> result<read_result> {
      resource_content one;
      one.mime_type = "text/plain";
      one.data = bytes;
      read_result made;
      made.contents.push_back(std::move(one));
      made.version = "1";
      return made;
    };
  }
};

/// As long as a token's, and with as many kinds of characters; nobody's.
std::string drawn() {
  constexpr std::string_view from = "q7ZfK2mXw9RbT4sLh8VdN3cJy6PgQ1eA5uHk";
  std::string out;
  for (std::size_t i = 0; i < from.size(); ++i) out += from[(i * 23 + 5) % from.size()];
  return out;
}

/// All passages, and what is wrong with the document.
std::string cut_of(std::string bytes, secret_masking how = secret_masking::by_server) {
  const auto gate = gate::gate::make(scope_rules{}).value();
  const auto source = std::make_shared<one_text>(std::move(bytes), how);
  const tools::tool_services in{*test::arrange({source}, {.page_size = 3}, gate), gate, std::make_shared<executor::timers>()};
  resource entry;
  entry.uri = "memo:///a.txt";
  entry.name = "a.txt";
  entry.mime_type = "text/plain";
  const auto made = read_document({}, in, entry, {}, 1 << 20);
  EXPECT_TRUE(made) << made.error().public_text;
  if (!made) return {};
  auto out = made->metadata.problem;
  for (const auto& one : made->passages) out += one.text + '\n';
  return out;
}

/// Characters of Japanese and ASCII in UTF-16 or UTF-32.
std::string wide(std::u16string_view text, std::size_t bytes, bool is_big) {
  std::string out;
  for (const char16_t unit : text) {
    std::string one{static_cast<char>(unit & 0xFF), static_cast<char>(unit >> 8)};
    one.resize(bytes, '\0');
    out.append(is_big ? std::string(one.rbegin(), one.rend()) : one);
  }
  return out;
}

std::u16string widened(std::string_view ascii) { return {ascii.begin(), ascii.end()}; }

TEST(cutting, masks_secrets_in_what_is_decoded) {
  const auto token = "ghp_" + drawn();
  const auto masked = "ghp_" + std::string(36, '*');
  // As bytes, the first four hundred are capitals and digits: what stands behind them is read once it is decoded.
  const auto text = std::u16string(400, u'\x3042') + u"\x3002\n" + widened("token " + token + "\n");
  for (const bool is_big : {false, true}) {
    for (const auto& bytes : {wide(text, 2, is_big), wide(u"\xFEFF" + text, 2, is_big), wide(u"\xFEFF" + text, 4, is_big)}) {
      for (const auto how : {secret_masking::by_server, secret_masking::by_source}) {
        const auto found = cut_of(bytes, how);
        EXPECT_EQ(found.find(token), std::string::npos) << found;
        EXPECT_NE(found.find(masked), std::string::npos) << found;
      }
      EXPECT_NE(cut_of(bytes, secret_masking::none).find(token), std::string::npos);
    }
  }
}

TEST(cutting, reads_iso_2022_jp_that_its_source_gives_as_text) {
  const auto token = drawn();
  const std::string words = "\x1b$B$3$l$OF|K\\8l$NJ8>O$G$9\x1b(B\n";
  const auto found = cut_of(words + "token gh\x1b(Jp_" + token + "\x1b(B\n");
  EXPECT_NE(found.find("これは日本語の文章です"), std::string::npos) << found;
  EXPECT_EQ(found.find('\x1b'), std::string::npos);
  EXPECT_NE(found.find("token ghp_" + std::string(36, '*')), std::string::npos) << found;
}

TEST(cutting, leaves_texts_with_colours_as_they_are) {
  const std::string coloured = "\x1b[31mfailed\x1b(B\x1b[m at 本文\n";
  EXPECT_NE(cut_of(coloured).find("\x1b[31mfailed\x1b(B\x1b[m at 本文"), std::string::npos) << cut_of(coloured);
}

}  // namespace
}  // namespace hondana::search
