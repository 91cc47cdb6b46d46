/// The reader: typed access and errors that name the path.
#include "base/json/reader.hpp"

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using hondana::json::array;
using hondana::json::decoded;
using hondana::json::document;
using hondana::json::kind;
using hondana::json::object;
using hondana::json::value;

document parsed(std::string_view text) {
  auto result = document::parse(text);
  if (!result) ADD_FAILURE() << text << ": " << result.error().message;
  return result ? *std::move(result) : document();
}

object root_object(const document& message) {
  const auto root = message.root().as_object("");
  if (!root) ADD_FAILURE() << root.error().text();
  return root ? *root : object();
}

template <class T>
std::string error_of(const decoded<T>& result) {
  return result ? "no error" : result.error().text();
}

TEST(json_reader, tells_the_kinds_apart) {
  const document message = parsed(R"([null, true, 1, -1, 18446744073709551615, 1.0, 1e2, "x", [], {}])");
  const auto elements = message.root().as_array("")->elements();
  const std::vector<kind> expected = {kind::null,   kind::boolean, kind::integer, kind::integer, kind::integer,
                                      kind::number, kind::number,  kind::string,  kind::array,   kind::object};
  ASSERT_EQ(elements.size(), expected.size());
  for (std::size_t i = 0; i < elements.size(); ++i) EXPECT_EQ(elements[i].type(), expected[i]) << i;
  EXPECT_TRUE(elements[0].is_null());
  EXPECT_FALSE(elements[1].is_null());
}

TEST(json_reader, reads_every_scalar_as_its_type) {
  const document message = parsed(R"({"s":"a\u0000\n\ud83d\ude00","i":-9223372036854775808,"n":1.5,"b":true})");
  const object root = root_object(message);
  using namespace std::string_view_literals;
  EXPECT_EQ(root.get_string("s").value(), "a\0\n😀"sv);
  EXPECT_EQ(root.get("i")->as_integer("i").value(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(root.get("n")->as_number("n").value(), 1.5);
  EXPECT_EQ(root.get("i")->as_number("i").value(), -9223372036854775808.0);
  EXPECT_EQ(root.get("b")->as_boolean("b").value(), true);
}

TEST(json_reader, accepts_scalars_and_white_space_around_the_root) {
  EXPECT_EQ(parsed(" \t\r\n7 \n").root().as_integer("").value(), 7);
  EXPECT_EQ(parsed("\"x\"").root().as_string("").value(), "x");
  EXPECT_TRUE(parsed("null").root().is_null());
}

TEST(json_reader, names_what_was_expected_and_what_came) {
  const document message = parsed(R"({"z":null,"b":true,"i":1,"n":1.5,"s":"x","a":[],"o":{}})");
  const object root = root_object(message);
  EXPECT_EQ(error_of(root.get_string("i")), "i: expected a string, got a number");
  EXPECT_EQ(error_of(root.get_string("n")), "n: expected a string, got a number");
  EXPECT_EQ(error_of(root.get_string("z")), "z: expected a string, got null");
  EXPECT_EQ(error_of(root.get_string("o")), "o: expected a string, got an object");
  EXPECT_EQ(error_of(root.get_object("a")), "a: expected an object, got an array");
  EXPECT_EQ(error_of(root.get("s")->as_integer("s")), "s: expected an integer, got a string");
  EXPECT_EQ(error_of(root.get("n")->as_integer("n")), "n: expected an integer, got a number");
  EXPECT_EQ(error_of(root.get("b")->as_number("b")), "b: expected a number, got a boolean");
  EXPECT_EQ(error_of(root.get("i")->as_boolean("i")), "i: expected a boolean, got a number");
  EXPECT_EQ(error_of(root.get("o")->as_array("o")), "o: expected an array, got an object");
  EXPECT_EQ(error_of(message.root().as_string("")), "expected a string, got an object");
}

TEST(json_reader, names_the_whole_path_of_a_bad_member) {
  const document message = parsed(R"({"params":{"uri":7,"_meta":{"io.modelcontextprotocol/protocolVersion":[]}}})");
  const object root = root_object(message);
  const object params = root.get_object("params").value();
  EXPECT_EQ(params.path(), "params");
  EXPECT_EQ(error_of(params.get_string("uri")), "params.uri: expected a string, got a number");
  EXPECT_EQ(error_of(params.get_string("cursor")), "params.cursor: missing");
  EXPECT_EQ(params.get_string("uri").error().path, "params.uri");
  EXPECT_EQ(params.get_string("uri").error().message, "expected a string, got a number");
  const object meta = params.get_object("_meta").value();
  EXPECT_EQ(error_of(meta.get_string("io.modelcontextprotocol/protocolVersion")),
            "params._meta.io.modelcontextprotocol/protocolVersion: expected a string, got an array");
  EXPECT_EQ(meta.path_of("x"), "params._meta.x");
  EXPECT_EQ(root.path_of("x"), "x");
}

TEST(json_reader, tells_absent_from_wrong_for_optional_members) {
  const document message = parsed(R"({"s":"x","o":{"p":1},"n":null})");
  const object root = root_object(message);
  EXPECT_EQ(root.find_string("s").value(), "x");
  EXPECT_EQ(root.find_string("absent").value(), std::nullopt);
  EXPECT_EQ(error_of(root.find_string("n")), "n: expected a string, got null");
  EXPECT_EQ(root.find_object("o").value()->path(), "o");
  EXPECT_EQ(root.find_object("absent").value().has_value(), false);
  EXPECT_EQ(error_of(root.find_object("s")), "s: expected an object, got a string");
  EXPECT_FALSE(root.find("absent").value().has_value());
  EXPECT_TRUE(root.find("n").value()->is_null());
  EXPECT_EQ(error_of(root.get("absent")), "absent: missing");
  EXPECT_EQ(error_of(root.get_object("absent")), "absent: missing");
}

TEST(json_reader, member_names_are_case_sensitive) {
  const document message = parsed(R"({"METHOD":"a","Method":"b","params":{"URI":"c"}})");
  const object root = root_object(message);
  EXPECT_EQ(error_of(root.get_string("method")), "method: missing");
  EXPECT_EQ(root.get_string("METHOD").value(), "a");
  EXPECT_EQ(error_of(root.get_object("params")->get_string("uri")), "params.uri: missing");
}

TEST(json_reader, a_member_that_occurs_twice_is_an_error_where_it_is_looked_up) {
  const document message = parsed(R"({"a":1,"params":{"uri":"x","other":{"uri":"z"},"\u0075ri":"y"},"b":2,"a":1})");
  const object root = root_object(message);
  EXPECT_EQ(error_of(root.find("a")), "a: occurs twice");
  EXPECT_EQ(error_of(root.get("a")), "a: occurs twice");
  EXPECT_EQ(root.get("b")->as_integer("b").value(), 2);
  const object params = root.get_object("params").value();
  EXPECT_EQ(error_of(params.get_string("uri")), "params.uri: occurs twice");
  EXPECT_EQ(error_of(params.find_string("uri")), "params.uri: occurs twice");
  EXPECT_EQ(error_of(params.find_object("uri")), "params.uri: occurs twice");
  EXPECT_EQ(error_of(params.get_object("uri")), "params.uri: occurs twice");
}

TEST(json_reader, integers_beyond_64_signed_bits_are_out_of_range) {
  const document message = parsed(R"({"max":9223372036854775807,"over":9223372036854775808,"most":18446744073709551615})");
  const object root = root_object(message);
  EXPECT_EQ(root.get("max")->as_integer("max").value(), 9223372036854775807);
  EXPECT_EQ(error_of(root.get("over")->as_integer("over")), "over: out of range");
  EXPECT_EQ(error_of(root.get("most")->as_integer("most")), "most: out of range");
  EXPECT_EQ(root.get("over")->as_number("over").value(), 9223372036854775808.0);
}

TEST(json_reader, gives_members_and_elements_in_order) {
  const document message = parsed(R"({"z":[3,[1],2],"a":{"q":1},"z":4})");
  const auto members = root_object(message).members();
  ASSERT_EQ(members.size(), 3U);
  EXPECT_EQ(members[0].first, "z");
  EXPECT_EQ(members[1].first, "a");
  EXPECT_EQ(members[2].first, "z");
  EXPECT_EQ(members[1].second.to_json(), R"({"q":1})");
  const array elements = members[0].second.as_array("z").value();
  EXPECT_EQ(elements.size(), 3U);
  EXPECT_EQ(elements.elements()[1].to_json(), "[1]");
  EXPECT_EQ(elements.elements()[2].as_integer("z").value(), 2);
}

TEST(json_reader, values_outlive_the_text_and_moves_of_the_document) {
  std::string text = R"({"name":"本棚","list":["a","b"]})";
  document first = parsed(text);
  const object root = root_object(first);
  const auto name = root.get_string("name").value();
  text.assign(text.size(), '!');
  document second = std::move(first);
  first = parsed(R"({"name":"other"})");
  const document third(std::move(second));
  EXPECT_EQ(name, "本棚");
  EXPECT_EQ(root.get("list")->to_json(), R"(["a","b"])");
  EXPECT_EQ(third.root().to_json(), R"({"name":"本棚","list":["a","b"]})");
}

TEST(json_reader, documents_parsed_on_one_thread_do_not_share_anything) {
  std::vector<document> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(parsed("[\"" + std::string(static_cast<std::size_t>(i) * 997, 'x') + "\"," + std::to_string(i) + "]"));
  }
  for (int i = 0; i < 50; ++i) {
    const auto elements = all[static_cast<std::size_t>(i)].root().as_array("")->elements();
    EXPECT_EQ(elements[0].as_string("")->size(), static_cast<std::size_t>(i) * 997);
    EXPECT_EQ(elements[1].as_integer("").value(), i);
  }
}

TEST(json_reader, a_document_may_be_read_on_another_thread_than_parsed_it) {
  document message;
  std::thread parser([&message] { message = parsed(R"({"a":"b"})"); });
  parser.join();
  EXPECT_EQ(root_object(message).get_string("a").value(), "b");
}

TEST(json_reader, defaults_are_null_and_empty) {
  EXPECT_TRUE(value().is_null());
  EXPECT_EQ(value().to_json(), "null");
  EXPECT_EQ(error_of(value().as_object("params")), "params: expected an object, got null");
  EXPECT_TRUE(document().root().is_null());
  EXPECT_FALSE(object().find("a").value().has_value());
  EXPECT_EQ(error_of(object().get("a")), "a: missing");
  EXPECT_TRUE(object().members().empty());
  EXPECT_EQ(array().size(), 0U);
  EXPECT_TRUE(array().elements().empty());
}

TEST(json_reader, counts_arrays_beyond_what_the_parser_counts) {
  const std::size_t size = (1U << 24) + 3;
  std::string text("[");
  text.reserve(2 * size + 1);
  for (std::size_t i = 0; i < size; ++i) text += "1,";
  text.back() = ']';
  const document message = parsed(text);
  EXPECT_EQ(message.root().as_array("")->size(), 16777219U);
}

}  // namespace
