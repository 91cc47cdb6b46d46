/// An embedder and its service: what is sent, what comes back, and what becomes of a service that misbehaves.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "deadline.hpp"
#include "lsa/model.hpp"
#include "lsa/server.hpp"
#include "search/embeddings/embedder.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace {

using hondana::errc;
using hondana::embeddings::embedder;
using hondana::embeddings::make_embedder;
using hondana::embeddings::settings;
using hondana_test::heard_request;
using hondana_test::scripted_connection;
using hondana_test::scripted_server;

std::vector<std::string> shelf_of_texts() {
  return {"Cats and dogs are animals that live in houses with people.",
          "A cat sleeps most of the day, and a dog guards the house.",
          "Animals such as cats need water and food each day.",
          "The database keeps rows in tables, and an index finds them.",
          "An index of a table makes queries of the database fast.",
          "Queries that use no index read every row of the table.",
          "猫と犬は家で人と暮らす動物です。",
          "猫は一日の大半を眠って過ごします。",
          "データベースは行を表に保存し、索引で検索します。",
          "索引があると検索が速くなります。"};
}

std::shared_ptr<const lsa::model> shelf_model() {
  static const auto made = lsa::model::of(shelf_of_texts(), 8);
  return made;
}

/// Time stands still, so that no request is too slow.
class an_embedder : public testing::Test {
 protected:
  hondana::manual_clock clock;
};

/// A service with a model, and an embedder that asks it.
struct asked_service {
  explicit asked_service(const lsa::behaviour& how = {}, settings from = {}) : service(shelf_model(), how) {
    service.start();
    from.connection.url = service.url();
    if (from.model.empty()) from.model = "lsa";
    auto made = make_embedder(std::move(from));
    EXPECT_TRUE(made) << made.error().public_text;
    if (made) by = *made;
  }
  [[nodiscard]] hondana::failure failure_of_documents() const {
    const auto texts = shelf_of_texts();
    auto got = by->embed_documents(texts, {});
    EXPECT_FALSE(got);
    return got ? hondana::failure{} : got.error();
  }
  lsa::server service;
  std::shared_ptr<const embedder> by;
};

std::chrono::steady_clock::time_point far() { return hondana::monotonic_clock::now() + std::chrono::minutes(1); }

double closeness(const std::vector<float>& a, const std::vector<float>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out += static_cast<double>(a[i]) * b[i];
  return out;
}

/// Fails once a word is missing in the text.
void expect_says(const hondana::failure& what, errc code, const std::vector<std::string>& words) {
  EXPECT_EQ(what.code, code) << what.public_text;
  for (const auto& word : words)
    EXPECT_NE(what.public_text.find(word), std::string::npos) << word << " in: " << what.public_text;
}

TEST_F(an_embedder, gives_vectors_of_length_one_in_order_whose_nearest_are_of_the_same_subject) {
  for (const bool is_base64 : {false, true}) {
    for (const bool is_out_of_order : {false, true}) {
      const asked_service it({.is_base64 = is_base64, .is_out_of_order = is_out_of_order}, {.batch_size = 3});
      const auto texts = shelf_of_texts();
      EXPECT_EQ(it.by->dimension(), 0u);
      const auto got = it.by->embed_documents(texts, {});
      ASSERT_TRUE(got) << got.error().public_text;
      ASSERT_EQ(got->size(), texts.size());
      for (std::size_t i = 0; i < texts.size(); ++i) {
        EXPECT_NEAR(closeness((*got)[i], (*got)[i]), 1, 1e-5);
        EXPECT_GT(closeness((*got)[i], shelf_model()->embed(texts[i])), 0.9999) << texts[i];
      }
      EXPECT_EQ(it.service.requests(), 4u);
      EXPECT_EQ(it.by->dimension(), 8u);
      const auto cat = it.by->embed_query("a sleeping cat", far(), {});
      ASSERT_TRUE(cat) << cat.error().public_text;
      EXPECT_GT(closeness(*cat, (*got)[1]), closeness(*cat, (*got)[4]));
      const auto index = it.by->embed_query("索引", far(), {});
      ASSERT_TRUE(index) << index.error().public_text;
      EXPECT_GT(closeness(*index, (*got)[9]), closeness(*index, (*got)[7]));
    }
  }
}

TEST_F(an_embedder, sends_what_openai_documents_with_prefixes_and_what_is_too_long_cut_at_a_character) {
  scripted_server server([](const heard_request&, scripted_connection& to) {
    return to.answer(200, "application/json", R"({"data":[{"index":0,"embedding":[1,0]},{"index":1,"embedding":[0,1]}]})");
  });
  const auto by = make_embedder({.connection = {.url = server.url("/api/v1/")},
                                 .model = "m\"1",
                                 .dimensions = 2,
                                 .document_prefix = "passage: ",
                                 .max_bytes = 64});
  ASSERT_TRUE(by) << by.error().public_text;
  const std::vector<std::string> texts{std::string(63, 'a') + "あ", " \n"};
  ASSERT_TRUE((*by)->embed_documents(texts, {}));
  const auto sent = server.requests(1).at(0);
  EXPECT_EQ(sent.method, "POST");
  EXPECT_EQ(sent.target, "/api/v1/embeddings");
  EXPECT_EQ(sent.field("content-type"), "application/json");
  EXPECT_EQ(sent.body, R"({"model":"m\"1","input":["passage: )" + std::string(63, 'a') +
                           R"(","passage: ."],"encoding_format":"float","dimensions":2})");
  EXPECT_EQ((*by)->dimension(), 2u);
  const auto whole = make_embedder({.connection = {.url = server.url("/x/embeddings?api-version=1")}, .model = "m"});
  ASSERT_TRUE(whole);
  ASSERT_TRUE((*whole)->embed_documents(texts, {}));
  EXPECT_EQ(server.requests(2).at(1).target, "/x/embeddings?api-version=1");
  EXPECT_EQ(server.requests(2).at(1).body.find("dimensions"), std::string::npos);
}

TEST_F(an_embedder, has_an_id_of_model_prefixes_and_dimensions) {
  const auto id = [](settings from) {
    from.connection.url = "http://127.0.0.1:1/v1";
    const auto made = make_embedder(std::move(from));
    return made ? (*made)->id() : made.error().public_text;
  };
  EXPECT_EQ(id({.model = "m"}), id({.model = "m", .batch_size = 5}));
  EXPECT_NE(id({.model = "m"}), id({.model = "n"}));
  EXPECT_NE(id({.model = "m"}), id({.model = "m", .dimensions = 5}));
  EXPECT_NE(id({.model = "m", .query_prefix = "p"}), id({.model = "m", .document_prefix = "p"}));
}

TEST_F(an_embedder, is_not_made_of_what_cannot_be) {
  const auto why = [](settings from) {
    const auto made = make_embedder(std::move(from));
    if (made) return std::string("made");
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    return made.error().public_text.substr(0, made.error().public_text.find(':'));
  };
  const hondana::endpoint::settings at{.url = "http://127.0.0.1:1/v1"};
  EXPECT_EQ(why({.connection = at}), "model");
  EXPECT_EQ(why({.connection = at, .model = "m", .batch_size = 0}), "batch");
  EXPECT_EQ(why({.connection = at, .model = "m", .batch_size = 2049}), "batch");
  EXPECT_EQ(why({.connection = at, .model = "m", .dimensions = 100'000}), "dimensions");
  EXPECT_EQ(why({.connection = at, .model = "m", .max_bytes = 1}), "max_bytes");
  EXPECT_EQ(why({.connection = at, .model = "m", .query_timeout = std::chrono::milliseconds(0)}), "query_time");
  EXPECT_NE(why({.connection = {.url = "ftp://x"}, .model = "m"}), "made");
}

TEST_F(an_embedder, asks_for_halves_where_a_batch_is_too_large_and_makes_a_text_shorter_that_is_too_long) {
  const asked_service it({.most_texts = 3, .most_bytes = 2'000});
  auto texts = shelf_of_texts();
  texts[4] = "index table ";
  while (texts[4].size() < 8'000) texts[4] += "index table ";
  const auto got = it.by->embed_documents(texts, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_GT(closeness((*got)[0], shelf_model()->embed(texts[0])), 0.9999);
  EXPECT_GT(closeness((*got)[4], shelf_model()->embed("index table")), 0.99);
  EXPECT_GT(closeness((*got)[9], shelf_model()->embed(texts[9])), 0.9999);
  // What is refused by itself is left out, as long as the service takes anything.
  const asked_service hardly({.most_bytes = 10});
  const auto none = hardly.by->embed_documents(texts, {});
  ASSERT_TRUE(none) << none.error().public_text;
  for (const auto& one : *none) EXPECT_TRUE(one.empty());
  const asked_service never({.most_bytes = 0});
  expect_says(never.failure_of_documents(), errc::protocol_error, {"400", "\"lsa\""});
}

TEST_F(an_embedder, says_what_a_service_answers_instead_of_vectors) {
  expect_says(asked_service({.is_short = true}).failure_of_documents(), errc::protocol_error, {"9 vectors for 10 texts"});
  expect_says(asked_service({.has_no_number = true}).failure_of_documents(), errc::protocol_error, {"invalid JSON"});
  expect_says(asked_service({.is_base64 = true, .has_no_number = true}).failure_of_documents(), errc::protocol_error,
              {"not finite"});
  expect_says(asked_service({.is_all_zero = true}).failure_of_documents(), errc::protocol_error, {"only zeros"});
  expect_says(asked_service({.model = "other"}).failure_of_documents(), errc::source_unavailable,
              {"404", "/v1/embeddings", "\"lsa\""});
  const auto failed = asked_service({.status = 500, .message = "out of memory"}).failure_of_documents();
  expect_says(failed, errc::source_unavailable, {"500"});
  EXPECT_EQ(failed.private_text, "out of memory");
  const auto plain = asked_service({.status = 400, .message = "what?", .is_plain = true}).failure_of_documents();
  expect_says(plain, errc::protocol_error, {"400"});
  EXPECT_EQ(plain.private_text, "what?");
  expect_says(asked_service({.status = 307}).failure_of_documents(), errc::protocol_error, {"redirects", "307"});
}

TEST_F(an_embedder, tells_for_how_long_a_service_wants_to_be_left_alone) {
  for (const int status : {429, 503}) {
    const asked_service it({.status = status, .retry_after = "7"});
    const auto failed = it.failure_of_documents();
    expect_says(failed, errc::source_unavailable, {std::to_string(status), "7 s"});
    EXPECT_EQ(failed.retry_after, std::chrono::seconds(7));
    const auto query = it.by->embed_query("cat", far(), {});
    ASSERT_FALSE(query);
    expect_says(query.error(), errc::source_unavailable, {"not called for another", "7 s"});
    EXPECT_EQ(it.service.requests(), 1u);
  }
}

TEST_F(an_embedder, sends_its_token_and_repeats_neither_it_nor_what_a_service_says_of_it) {
  const auto file = std::filesystem::temp_directory_path() / ("embeddings-token-" + std::to_string(::getpid()));
  std::ofstream(file) << "open-sesame\n";
  std::filesystem::permissions(file, std::filesystem::perms::owner_read);
  const settings with{.connection = {.bearer_file = file.string()}};
  EXPECT_TRUE(asked_service({.token = "open-sesame"}, with).by->embed_query("cat", far(), {}));
  const auto refused = asked_service({.token = "another"}, with).failure_of_documents();
  expect_says(refused, errc::access_denied, {"401", "token"});
  EXPECT_EQ((refused.public_text + refused.private_text).find("sesame"), std::string::npos);
  expect_says(asked_service({.token = "another"}).failure_of_documents(), errc::access_denied, {"401", "bearer_file"});
  std::filesystem::remove(file);
}

TEST_F(an_embedder, takes_another_dimension_from_documents_and_refuses_it_in_queries_until_then) {
  const asked_service it({.requests_until_other_dimension = 1});
  const auto texts = shelf_of_texts();
  ASSERT_TRUE(it.by->embed_documents(texts, {}));
  const auto query = it.by->embed_query("cat", far(), {});
  ASSERT_FALSE(query);
  expect_says(query.error(), errc::content_changed, {"4 numbers", "8"});
  EXPECT_EQ(it.by->dimension(), 8u);
  ASSERT_TRUE(it.by->embed_documents(texts, {}));
  EXPECT_EQ(it.by->dimension(), 4u);
  EXPECT_TRUE(it.by->embed_query("cat", far(), {}));
  const asked_service configured({}, {.dimensions = 4});
  EXPECT_EQ(configured.by->dimension(), 4u);
  EXPECT_TRUE(configured.by->embed_documents(texts, {}));
  const asked_service too_many({}, {.dimensions = 9});
  expect_says(too_many.failure_of_documents(), errc::protocol_error, {"8 numbers", "9 are configured"});
}

TEST_F(an_embedder, leaves_out_the_texts_that_a_service_refuses_by_themselves) {
  for (const int status : {400, 422, 500}) {
    const asked_service it({.refuses = "poison", .refuses_with = status});
    auto texts = shelf_of_texts();
    texts[3] = "poison";
    texts[8] = "more poison";
    const auto got = it.by->embed_documents(texts, {});
    ASSERT_TRUE(got) << got.error().public_text;
    for (std::size_t i = 0; i < texts.size(); ++i) EXPECT_EQ((*got)[i].empty(), i == 3 || i == 8) << i;
    EXPECT_LE(it.service.requests(), 20u);
    EXPECT_TRUE(it.by->embed_query("cat", far(), {}));
  }
}

TEST_F(an_embedder, does_not_ask_for_every_text_where_a_service_refuses_all) {
  for (const int status : {400, 422, 500}) {
    const asked_service it({.status = status});
    EXPECT_EQ(it.failure_of_documents().code, status == 500 ? errc::source_unavailable : errc::protocol_error);
    EXPECT_EQ(it.service.requests(), 2u);
  }
}

TEST_F(an_embedder, gives_up_a_query_when_its_caller_has_no_more_time) {
  const asked_service it({.delay = std::chrono::hours(1)}, {.query_timeout = std::chrono::seconds(30)});
  const std::jthread passing([&] {
    EXPECT_TRUE(hondana_test::eventually([&] { return it.service.requests() > 0; }));
    clock.advance(std::chrono::milliseconds(100));
  });
  const auto late = it.by->embed_query("cat", hondana::monotonic_clock::now() + std::chrono::milliseconds(100), {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::timed_out);
}

TEST_F(an_embedder, answers_queries_at_once_while_its_service_is_down_and_is_well_again_with_it) {
  asked_service it({.is_dead = true});
  const auto first = it.by->embed_query("cat", far(), {});
  ASSERT_FALSE(first);
  EXPECT_NE(first.error().code, errc::internal);
  for (int i = 0; i < 5; ++i) {
    const auto further = it.by->embed_query("cat", far(), {});
    ASSERT_FALSE(further);
    expect_says(further.error(), errc::source_unavailable, {"has failed", "not called for another", "1 s"});
    EXPECT_TRUE(further.error().retry_after);
  }
  EXPECT_LE(it.service.requests(), 2u);  // a connection that is reset may be tried once more
  it.service.behave({});
  // Documents are asked for whenever whoever indexes them wants to.
  const auto texts = shelf_of_texts();
  const auto got = it.by->embed_documents(texts, {});
  ASSERT_TRUE(got) << got.error().public_text;
  EXPECT_TRUE(it.by->embed_query("cat", far(), {}));
  EXPECT_EQ(it.by->description().find("last:"), std::string::npos) << it.by->description();
  it.service.stop();
  EXPECT_EQ(it.by->embed_documents(texts, {}).error().code, errc::source_unavailable);
}

TEST_F(an_embedder, gives_up_a_query_after_its_time_and_at_once_when_it_is_cancelled) {
  const asked_service it({.delay = std::chrono::hours(1)}, {.query_timeout = std::chrono::milliseconds(50)});
  std::jthread passing([&] {
    EXPECT_TRUE(hondana_test::eventually([&] { return it.service.requests() > 0; }));
    clock.advance(std::chrono::milliseconds(50));
  });
  const auto late = it.by->embed_query("cat", far(), {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::timed_out);
  passing.join();
  const asked_service other({.delay = std::chrono::hours(1)});
  std::stop_source stop;
  std::thread stopping([&] {
    EXPECT_TRUE(hondana_test::eventually([&] { return other.service.requests() > 0; }));
    stop.request_stop();
  });
  const auto texts = shelf_of_texts();
  const auto cancelled = other.by->embed_documents(texts, stop.get_token());
  stopping.join();
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, errc::cancelled);
  // Nobody is to blame for that.
  EXPECT_EQ(other.by->description().find("last:"), std::string::npos);
}

TEST_F(an_embedder, is_asked_by_several_threads) {
  const asked_service it({}, {.batch_size = 2});
  const auto texts = shelf_of_texts();
  std::vector<std::thread> asking;
  asking.reserve(6);
  for (int i = 0; i < 6; ++i) {
    asking.emplace_back([&] {
      for (int j = 0; j < 5; ++j) {
        EXPECT_TRUE(it.by->embed_documents(texts, {}));
        EXPECT_TRUE(it.by->embed_query("index", far(), {}));
        EXPECT_FALSE(it.by->description().empty());
      }
    });
  }
  for (auto& one : asking) one.join();
  EXPECT_EQ(it.service.texts(), 6u * 5u * 11u);
}

TEST_F(an_embedder, names_its_place_and_files) {
  const asked_service it;
  EXPECT_EQ(it.by->address(), "127.0.0.1:" + std::to_string(it.service.port()));
  EXPECT_TRUE(it.by->files().empty());
  EXPECT_NE(it.by->description().find("\"lsa\""), std::string::npos);
}

}  // namespace
