/// What services answer: vectors in all spellings, what is none, and refusals.
#include "search/embeddings/embedding_response.hpp"

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using hondana::errc;
using hondana::embeddings::parse_rejection;
using hondana::embeddings::parse_vectors;

std::string data_of(std::string_view inner) { return R"({"object":"list","data":[)" + std::string(inner) + "]}"; }

TEST(embedding_answers, of_openai_ollama_and_llama_cpp_are_read) {
  // The members of each, with their own numbers left out.
  for (const std::string text :
       {R"({"object":"list","data":[{"object":"embedding","embedding":[3,4],"index":0}],)"
        R"("model":"text-embedding-3-small","usage":{"prompt_tokens":8,"total_tokens":8}})",
        R"({"object":"list","data":[{"object":"embedding","embedding":[3e0,4.0],"index":0}],)"
        R"("model":"nomic-embed-text","usage":{"prompt_tokens":2,"total_tokens":2}})",
        R"({"model":"bge","object":"list","usage":{"prompt_tokens":6,"total_tokens":6},)"
        R"("data":[{"embedding":[0.3,0.4],"index":0,"object":"embedding"}]})",
        R"({"id":"embd-1","object":"list","created":1,"model":"e5",)"
        R"("data":[{"index":0,"object":"embedding","embedding":[30.0,40.0]}],)"
        R"("usage":{"prompt_tokens":4,"total_tokens":4,"completion_tokens":0,"prompt_tokens_details":null}})"}) {
    const auto got = parse_vectors(text, 1);
    ASSERT_TRUE(got) << got.error().public_text;
    ASSERT_EQ(got->size(), 1u);
    ASSERT_EQ(got->front().size(), 2u);
    EXPECT_FLOAT_EQ(got->front()[0], 0.6F);
    EXPECT_FLOAT_EQ(got->front()[1], 0.8F);
  }
}

TEST(embedding_answers, are_put_in_order_by_their_index) {
  const auto got = parse_vectors(
      data_of(R"({"index":2,"embedding":[0,0,5]},{"index":0,"embedding":[1,0,0]},{"index":1,"embedding":[0,2,0]})"), 3);
  ASSERT_TRUE(got) << got.error().public_text;
  for (std::size_t i = 0; i < 3; ++i) EXPECT_FLOAT_EQ((*got)[i][i], 1);
  const auto without = parse_vectors(data_of(R"({"embedding":[1,0]},{"embedding":[0,1]})"), 2);
  ASSERT_TRUE(without) << without.error().public_text;
  EXPECT_FLOAT_EQ((*without)[1][1], 1);
}

TEST(embedding_answers, may_be_base64_of_little_endian_floats) {
  const auto got = parse_vectors(data_of(R"({"index":0,"embedding":"AABAQAAAgEA="})"), 1);  // 3.0, 4.0
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_FLOAT_EQ(got->front()[0], 0.6F);
  EXPECT_FLOAT_EQ(got->front()[1], 0.8F);
}

TEST(embedding_answers, that_are_none_say_what_is_wrong_with_them) {
  std::string long_one = R"({"index":0,"embedding":[1)";
  for (int i = 0; i < 20'000; ++i) long_one += ",1";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "invalid JSON"},
      {"<html>it works</html>", "invalid JSON"},
      {data_of(R"({"index":0,"embedding":[NaN,1]})"), "invalid JSON"},
      {data_of(R"({"index":0,"embedding":[1e999,1]})"), ""},
      {"[]", "expected an object"},
      {"{}", "data"},
      {R"({"data":{}})", "data: expected an array"},
      {R"({"data":[],"data":[]})", "data"},
      {data_of(""), "0 vectors for 1 texts"},
      {data_of(R"({"index":0,"embedding":[1]},{"index":1,"embedding":[1]})"), "2 vectors for 1 texts"},
      {data_of("1"), "data[0]: expected an object"},
      {data_of(R"({"index":0})"), "embedding"},
      {data_of(R"({"index":1,"embedding":[1]})"), "indexes"},
      {data_of(R"({"index":-1,"embedding":[1]})"), "indexes"},
      {data_of(R"({"index":"0","embedding":[1]})"), "index: expected an integer"},
      {data_of(R"({"index":0,"embedding":[]})"), "empty vector"},
      {data_of(R"({"index":0,"embedding":""})"), "empty vector"},
      {data_of(R"({"index":0,"embedding":null})"), "data[0].embedding: expected an array"},
      {data_of(R"({"index":0,"embedding":[1,null]})"), "not a list of numbers"},
      {data_of(R"({"index":0,"embedding":[[1,2],[3,4]]})"), "--pooling mean"},
      {data_of(R"({"index":0,"embedding":[0,0.0,-0]})"), "only zeros"},
      {data_of(R"({"index":0,"embedding":[1e300,1]})"), "not finite"},
      {data_of(R"({"index":0,"embedding":"AAB/fwAAwH8="})"), "not finite"},
      {data_of(R"({"index":0,"embedding":"AABAQAA="})"), "neither numbers nor base64"},
      {data_of(R"({"index":0,"embedding":"*"})"), "neither numbers nor base64"},
      {data_of(long_one + "]}"), "20001 numbers"},
  };
  for (const auto& [text, wanted] : cases) {
    const auto got = parse_vectors(text, 1);
    ASSERT_FALSE(got) << text.substr(0, 100);
    EXPECT_EQ(got.error().code, errc::protocol_error);
    EXPECT_NE(got.error().public_text.find(wanted), std::string::npos) << text.substr(0, 100) << "\n"
                                                                       << got.error().public_text;
    EXPECT_TRUE(got.error().public_text.starts_with("answered with")) << got.error().public_text;
  }
  const auto twice = parse_vectors(data_of(R"({"index":0,"embedding":[1]},{"index":0,"embedding":[1]})"), 2);
  ASSERT_FALSE(twice);
  EXPECT_NE(twice.error().public_text.find("indexes"), std::string::npos);
  const auto uneven = parse_vectors(data_of(R"({"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]})"), 2);
  ASSERT_FALSE(uneven);
  EXPECT_NE(uneven.error().public_text.find("1 and 2"), std::string::npos);
}

TEST(embedding_refusals, have_their_words_in_several_places_or_are_plain_text) {
  for (const std::string text :
       {R"({"error":{"message":"no such model","type":"invalid_request_error","param":null,"code":"model_not_found"}})",
        R"({"error":"no such model"})", R"({"object":"error","message":"no such model","type":"NotFoundError","code":404})",
        R"({"detail":"no such model"})", "no such model"})
    EXPECT_EQ(parse_rejection(404, text).message, "no such model") << text;
  EXPECT_EQ(parse_rejection(500, "").message, "");
  EXPECT_EQ(parse_rejection(500, "{\"error\":[1]}").message, "{\"error\":[1]}");
  EXPECT_EQ(parse_rejection(500, "a\nb\x1b[31m\xff").message, "a b [31m\xEF\xBF\xBD");
  EXPECT_LE(parse_rejection(500, std::string(70'000, 'x')).message.size(), 310u);
}

TEST(embedding_refusals, for_size_are_known_by_their_words) {
  const std::vector<std::pair<int, std::string>> of_size{
      {400, "This model's maximum context length is 8192 tokens, however you requested 10000 tokens"},
      {400, "the input length exceeds the context length"},
      {400, "Requested 400000 tokens, max_tokens_per_request 300000"},
      {500, "input is too large to process. increase the physical batch size"},
      {500, "input (992 tokens) is too large to process. increase the physical batch size (current batch size: 512)"},
      {422, "batch size 64 > maximum allowed batch size 32"},
      {413, ""}};
  for (const auto& [status, text] : of_size) EXPECT_TRUE(parse_rejection(status, text).is_too_large) << text;
  EXPECT_FALSE(parse_rejection(404, "batch size").is_too_large);
  EXPECT_FALSE(parse_rejection(429, "too large").is_too_large);
  EXPECT_FALSE(parse_rejection(400, "unknown encoding_format").is_too_large);
  EXPECT_FALSE(parse_rejection(500, "out of memory").is_too_large);
}

}  // namespace
