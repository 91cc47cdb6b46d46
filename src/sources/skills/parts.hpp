/// What a collection is made of.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sources/skills/collection.hpp"

namespace hondana::skills {

struct collection::parts {
  std::string prefix;
  std::vector<resource> entries;
  std::vector<skill> skills;
  std::map<std::string, std::string, std::less<>> paths;
  std::vector<omission> left_out;
};

}  // namespace hondana::skills
