/// Reads files of configuration as the library does and writes for each a line of JSON: {"file", "format", "tree", "places"},
/// the places being [[path], line of the key, begin of the key, line of the value, begin of the value, end of the value], the
/// line of a list's element being that of the value, and begins and ends bytes. Usage: located_as_json FILE...
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "base/json/writer.hpp"
#include "text/located/format.hpp"
#include "text/located/node.hpp"

namespace {

using namespace hondana;

void write_place(json::writer& to, const std::vector<std::string>& path, const located::source_range& key,
                 const located::source_range& at) {
  to.begin_array();
  to.begin_array();
  for (const auto& step : path) to.raw(step);
  to.end_array();
  to.unsigned_integer(key.line).unsigned_integer(key.begin);
  to.unsigned_integer(at.line).unsigned_integer(at.begin).unsigned_integer(at.end);
  to.end_array();
}

void write_places(json::writer& to, const located::node& of, std::vector<std::string>& path) {
  for (std::size_t i = 0; i < of.items.size(); ++i) {
    path.push_back(std::to_string(i));
    write_place(to, path, of.items[i].range, of.items[i].range);
    write_places(to, of.items[i], path);
    path.pop_back();
  }
  for (const auto& one : of.members) {
    path.push_back(json::quoted(one.key));
    write_place(to, path, one.key_range, one.value.range);
    write_places(to, one.value, path);
    path.pop_back();
  }
}

bool write_file(const std::string& file) {
  const auto how = located::detect_format(file);
  std::ifstream in(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in || !how) {
    std::cerr << file << ": " << (how ? "cannot be read" : "is of no format") << '\n';
    return false;
  }
  const auto read = located::read(*how, text);
  if (!read) {
    std::cerr << file << ": " << read.error().public_text << '\n';
    return false;
  }
  std::string out;
  json::writer to(out);
  to.begin_object().member("file", file).member("format", name_of(*how));
  to.key("tree").raw(located::json_text(read->root));
  to.key("places").begin_array();
  std::vector<std::string> path;
  write_places(to, read->root, path);
  to.end_array().end_object();
  std::cout << out << '\n';
  return true;
}

}  // namespace

int main(int count, char** arguments) {
  bool is_good = true;
  for (int i = 1; i < count; ++i) is_good = write_file(arguments[i]) && is_good;
  return is_good && std::cout.flush() ? 0 : 1;
}
