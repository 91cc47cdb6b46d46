/// What the environment says, as long as a test needs it.
#pragma once

#include <stdlib.h>

#include <string>

namespace hondana_test {

class set_variable {
 public:
  set_variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  ~set_variable() { ::unsetenv(name_); }
  set_variable(const set_variable&) = delete;
  set_variable& operator=(const set_variable&) = delete;

 private:
  const char* name_;
};

}  // namespace hondana_test
