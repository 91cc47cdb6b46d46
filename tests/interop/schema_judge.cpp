/// Judges instances by our JSON Schema: each line of input is {"schema":S,"instances":[...]}; each line of output has a 1 for
/// an instance that fits and a 0 for one that does not, or says why the schema was refused.
#include <iostream>
#include <string>

#include "protocol/schema/schema.hpp"

namespace {

using hondana::value;

std::string judge(const value& asked) {
  const auto* document = asked.find("schema");
  const auto* instances = asked.find("instances");
  if (document == nullptr || instances == nullptr || instances->as_array() == nullptr) return "malformed line";
  const auto compiled = hondana::schema::schema::compile(*document);
  if (!compiled) return "refused: " + compiled.error().public_text;
  std::string out;
  for (const auto& instance : *instances->as_array()) out += compiled->validate(instance) ? '0' : '1';
  return out;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const auto asked = value::parse(line);
    std::cout << (asked ? judge(*asked) : "malformed line") << '\n';
  }
  return std::cin.bad() || !std::cout.flush() ? 1 : 0;
}
