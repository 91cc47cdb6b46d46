/// Requests cut out of bytes: whole, one byte at a time, and malformed.
#include "transport/http_server/request_parser.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace {

using hondana::transport::http_server::request_parser;
using progress = request_parser::progress;
using defect = request_parser::defect;

struct outcome {
  progress last = progress::needs_more;
  bool saw_head = false;
  std::string body;
  defect what = defect::none;
  std::string rest;
};

/// Feeds `bytes` in pieces of `piece`, keeping what the parser leaves.
outcome feed(request_parser& parser, std::string_view bytes, std::size_t piece) {
  outcome out;
  while (true) {
    const auto step = parser.feed(out.rest);
    if (step.status == progress::complete) out.body = parser.body();  // perhaps a view of what was put
    out.rest.erase(0, step.consumed);
    out.last = step.status;
    if (step.status == progress::head) {
      out.saw_head = true;
      continue;
    }
    if (step.status != progress::needs_more || bytes.empty()) break;
    out.rest += bytes.substr(0, piece);
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  out.rest += bytes;
  out.what = parser.current_defect();
  return out;
}

/// All outcomes must agree, however the bytes arrive.
outcome parse(std::string_view bytes) {
  constexpr request_parser::caps caps{1024, 100};
  request_parser whole(caps);
  auto expected = feed(whole, bytes, bytes.size());
  for (const std::size_t piece : {1u, 2u, 3u, 7u}) {
    request_parser parser(caps);
    const auto got = feed(parser, bytes, piece);
    EXPECT_EQ(got.last, expected.last) << piece << ": " << bytes;
    EXPECT_EQ(got.saw_head, expected.saw_head) << piece << ": " << bytes;
    EXPECT_EQ(got.what, expected.what) << piece << ": " << bytes;
    if (expected.last == progress::complete) {
      EXPECT_EQ(got.body, expected.body) << piece << ": " << bytes;
      EXPECT_EQ(got.rest, expected.rest) << piece << ": " << bytes;
    }
  }
  return expected;
}

TEST(request_parser, reads_a_head_without_a_body) {
  request_parser parser({1024, 100});
  const auto out = feed(parser, "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: \t a b \t\r\nx: 2\r\n\r\nGET", 1000);
  EXPECT_EQ(out.last, progress::complete);
  EXPECT_EQ(out.rest, "GET");
  EXPECT_EQ(parser.head().method, "GET");
  EXPECT_EQ(parser.head().target, "/healthz");
  EXPECT_FALSE(parser.head().has_body);
  EXPECT_TRUE(parser.head().keep_alive);
  EXPECT_EQ(parser.head().find("X").count, 2u);
  EXPECT_EQ(parser.head().find("x").first, "a b");
}

TEST(request_parser, reads_a_body_by_length) {
  const auto out = parse("POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloPOST");
  EXPECT_EQ(out.last, progress::complete);
  EXPECT_EQ(out.body, "hello");
  EXPECT_EQ(out.rest, "POST");
}

TEST(request_parser, reads_a_chunked_body_and_drops_its_trailer) {
  const auto out = parse(
      "POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;name=\"a b\"\r\nhel\r\n0002\r\nlo\r\n0\r\nHost: evil\r\n\r\nnext");
  EXPECT_EQ(out.last, progress::complete);
  EXPECT_EQ(out.body, "hello");
  EXPECT_EQ(out.rest, "next");
}

TEST(request_parser, reads_an_empty_chunked_body) {
  const auto out = parse("POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET");
  EXPECT_EQ(out.last, progress::complete);
  EXPECT_EQ(out.body, "");
  EXPECT_EQ(out.rest, "GET");
}

TEST(request_parser, a_trailer_is_no_header) {
  request_parser parser({1024, 100});
  const auto out = feed(parser,
                        "POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                        "1\r\nx\r\n0\r\nHost: evil\r\n\r\n",
                        1000);
  EXPECT_EQ(out.last, progress::complete);
  EXPECT_EQ(parser.head().find("Host").count, 1u);
}

TEST(request_parser, says_whether_the_connection_stays) {
  const auto stays = [](std::string_view text) {
    request_parser parser({1024, 100});
    EXPECT_EQ(feed(parser, text, 1000).last, progress::complete) << text;
    return parser.head().keep_alive;
  };
  EXPECT_TRUE(stays("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.1\r\nConnection: x, Close\r\n\r\n"));
  EXPECT_FALSE(stays("GET / HTTP/1.0\r\n\r\n"));
  EXPECT_TRUE(stays("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

TEST(request_parser, can_be_used_again_after_a_reset) {
  request_parser parser({1024, 100});
  for (int i = 0; i < 3; ++i) {
    const auto out = feed(parser, "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok", 1000);
    EXPECT_EQ(out.last, progress::complete);
    EXPECT_EQ(out.body, "ok");
    EXPECT_EQ(parser.head().fields.size(), 2u);
    parser.reset();
  }
}

/// What a head says, in words.
std::string words(const hondana::transport::http_server::request_head& head) {
  std::string out(head.method);
  out += ' ';
  out += head.target;
  out += head.keep_alive ? " stays" : " goes";
  out += head.has_body ? " with a body" : "";
  out += head.content_length ? " of " + std::to_string(*head.content_length) : std::string();
  for (const auto& one : head.fields) {
    out += '|';
    out += one.name;
    out += '=';
    out += one.value;
  }
  return out;
}

TEST(request_parser, a_head_that_comes_again_says_the_same) {
  const std::string begin = "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length:  ";
  const std::string end = "\r\nX-Content-Length: 3\r\n\r\n";
  request_parser parser({1024, 100});
  // As it is, with other digits, longer, with no body, other from the first byte on, and cut short.
  const std::vector<std::pair<std::string, bool>> requests{
      {begin + "3" + end + "one", false},
      {begin + "3" + end + "two", true},
      {begin + "4" + end + "four", true},
      {begin + "0" + end, true},
      {begin + "12" + end + "twelve bytes", false},
      {begin + "05" + end + "five.", true},
      {"GET / HTTP/1.1\r\n\r\n", false},
      {"GET / HTTP/1.1\r\n\r\n", true},
      {"GET / HTTP/1.0\r\n\r\n", false},
      {begin + "3" + end + "one", false},
      {begin + "3" + end + "two", true},
  };
  for (const auto& [text, is_repeated] : requests) {
    request_parser other({1024, 100});
    const auto expected = feed(other, text, 1000);
    const auto got = feed(parser, text, 1000);
    EXPECT_EQ(got.last, progress::complete) << text;
    EXPECT_EQ(got.body, expected.body) << text;
    EXPECT_TRUE(got.rest.empty()) << text;
    EXPECT_EQ(words(parser.head()), words(other.head())) << text;
    EXPECT_EQ(parser.is_repeated(), is_repeated) << text;
    parser.reset();
  }
}

TEST(request_parser, a_body_behind_a_head_that_comes_again_arrives_in_pieces) {
  const std::string text = "POST /mcp HTTP/1.1\r\nContent-Length: 26\r\n\r\nabcdefghijklmnopqrstuvwxyz";
  request_parser parser({1024, 100});
  EXPECT_EQ(feed(parser, text, 1000).last, progress::complete);
  parser.reset();
  for (std::size_t piece = 1; piece < text.size(); ++piece) {
    const auto out = feed(parser, text + "POST", piece);
    EXPECT_EQ(out.last, progress::complete) << piece;
    EXPECT_EQ(out.body, "abcdefghijklmnopqrstuvwxyz") << piece;
    parser.reset();
    EXPECT_EQ(feed(parser, text, 1000).last, progress::complete);
    parser.reset();
  }
}

TEST(request_parser, another_length_in_a_known_head_is_judged_as_in_any) {
  const auto with = [](std::string_view digits) {
    return "POST /mcp HTTP/1.1\r\nContent-Length: " + std::string(digits) + "\r\n\r\n";
  };
  for (const std::string_view digits : {"101", "999", "-12", "0x5", "1 2", "+10", " 10"}) {
    request_parser parser({1024, 100});
    EXPECT_EQ(feed(parser, with("100") + std::string(100, 'x'), 1000).last, progress::complete);
    parser.reset();
    request_parser other({1024, 100});
    const auto text = with(digits) + std::string(150, 'x');
    const auto expected = feed(other, text, 1000);
    const auto got = feed(parser, text, 1000);
    EXPECT_EQ(got.last, expected.last) << digits;
    EXPECT_EQ(got.what, expected.what) << digits;
    EXPECT_EQ(got.saw_head, expected.saw_head) << digits;
  }
}

TEST(request_parser, knows_no_head_again_whose_end_it_cannot_tell_by_the_length) {
  for (const std::string_view text :
       {"POST /mcp HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello",
        "POST /mcp HTTP/1.1\r\nX: y\r\n Content-Length: 9\r\nContent-Length:\r\n 5\r\n\r\nhello"}) {
    request_parser parser({1024, 100});
    const auto first = feed(parser, text, 1000);
    parser.reset();
    const auto second = feed(parser, text, 1000);
    EXPECT_EQ(second.last, first.last) << text;
    EXPECT_EQ(second.body, first.body) << text;
    EXPECT_FALSE(parser.is_repeated()) << text;
  }
}

TEST(request_parser, refuses_two_ways_to_find_the_end) {
  for (const std::string_view fields :
       {"Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6", "Content-Length: 5, 6", "Transfer-Encoding: gzip\r\nContent-Length: 5",
        "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: identity", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: xchunked", "Transfer-Encoding:"}) {
    const auto out = parse("POST /mcp HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
    EXPECT_EQ(out.last, progress::failed) << fields;
    EXPECT_EQ(out.what, defect::malformed) << fields;
    EXPECT_FALSE(out.saw_head) << fields;
  }
  EXPECT_EQ(parse("POST /mcp HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").what, defect::malformed);
}

TEST(request_parser, refuses_malformed_heads) {
  for (const std::string_view text : {"\x16\x03\x01\x02\x01\x01\xfc\x03\x03 \r\n\r\n",
                                      "GET\r\n\r\n",
                                      "GET /\r\n\r\n",
                                      "GET / HTTP/2.0\r\n\r\n",
                                      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                      "GET / HTTP/1.1\nHost: a\n\n\r\n\r\n",
                                      "GET  / HTTP/1.1\r\n\r\n",
                                      "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
                                      "GET / HTTP/1.1\r\n: a\r\n\r\n",
                                      "GET / HTTP/1.1\r\nHost\r\n\r\n",
                                      "GET / HTTP/1.1\r\nHo st: a\r\n\r\n",
                                      "GET / HTTP/1.1\r\nHost: a\x01\r\n\r\n",
                                      "POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                                      "POST / HTTP/1.1\r\nContent-Length: 0x5\r\n\r\n",
                                      "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
                                      "POST / HTTP/1.1\r\nContent-Length:\r\n\r\n",
                                      "POST / HTTP/1.1\r\nContent-Length: 5\r\n 0\r\n\r\nhello",
                                      "POST / HTTP/1.1\r\nContent-Length:\r\n 5\r\n\r\nhello",
                                      "POST / HTTP/1.1\r\nTransfer-Encoding:\r\n\tchunked\r\n\r\n0\r\n\r\n",
                                      "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n",
                                      "GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n",
                                      "{\"jsonrpc\":\"2.0\"}\r\n\r\n"}) {
    const auto out = parse(text);
    EXPECT_EQ(out.last, progress::failed) << text;
    EXPECT_EQ(out.what, defect::malformed) << text;
  }
}

TEST(request_parser, refuses_malformed_chunks) {
  for (const std::string_view body : {"x\r\nhello\r\n0\r\n\r\n", "-1\r\nhello\r\n0\r\n\r\n", "\r\nhello\r\n0\r\n\r\n",
                                      "5\r\nhelloX\r\n0\r\n\r\n", "FFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n",
                                      "5 x\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "5\nhello\n0\n\n\r\n\r\n"}) {
    const auto out = parse("POST /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(body));
    EXPECT_EQ(out.last, progress::failed) << body;
    EXPECT_EQ(out.what, defect::malformed) << body;
  }
}

TEST(request_parser, refuses_a_body_over_the_cap_after_showing_the_head) {
  for (const std::string& rest :
       {"Content-Length: 101\r\n\r\n" + std::string(101, 'x'), std::string("Content-Length: 18446744073709551615\r\n\r\n....."),
        std::string("Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\nhello\r\n"),
        std::string("Transfer-Encoding: chunked\r\n\r\n65\r\nhello\r\n"),
        "Transfer-Encoding: chunked\r\n\r\n64\r\n" + std::string(100, 'x') + "\r\n1\r\nx\r\n0\r\n\r\n"}) {
    const auto out = parse("POST /mcp HTTP/1.1\r\nHost: a\r\n" + rest);
    EXPECT_EQ(out.last, progress::failed) << rest;
    EXPECT_EQ(out.what, defect::body_too_large) << rest;
    EXPECT_TRUE(out.saw_head) << rest;
  }
  EXPECT_EQ(parse("POST /mcp HTTP/1.1\r\nContent-Length: 100\r\n\r\n" + std::string(100, 'x')).last, progress::complete);
}

TEST(request_parser, refuses_header_bombs) {
  std::string many = "GET / HTTP/1.1\r\n";
  for (int i = 0; i < 200; ++i) many += "X-" + std::to_string(i) + ": y\r\n";
  for (const std::string& text : {many, "GET / HTTP/1.1\r\nX: " + std::string(2000, 'x'), "GET /" + std::string(2000, 'x'),
                                  "GET / HTTP/1.1\r\n" + std::string(2000, 'x'), std::string(2000, 'G')}) {
    const auto out = parse(text);
    EXPECT_EQ(out.last, progress::failed) << text.substr(0, 20);
    EXPECT_EQ(out.what, defect::header_too_large) << text.substr(0, 20);
  }
}

TEST(request_parser, refuses_chunk_lines_and_trailers_without_end) {
  const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string& text :
       {head + "5;x=" + std::string(2000, 'x'), head + "0\r\nX: " + std::string(2000, 'x'), head + std::string(2000, '0')}) {
    const auto out = parse(text);
    EXPECT_EQ(out.last, progress::failed) << text.substr(0, 60);
    EXPECT_EQ(out.what, defect::header_too_large) << text.substr(0, 60);
  }
}

}  // namespace
