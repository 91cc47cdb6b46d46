/// The documentation of env: URIs.
#include "sources/env/env_provider.hpp"

namespace hondana::env {

scheme_documentation describe() {
  return {
      "env",
      "Environment variables that an allow-list names, of the server's process and of .env files, without their secrets.",
      {{"environment", "All variables of the process or of a file that may be seen, as one JSON object of texts."},
       {"variable", "The value of one variable, with secrets masked by name, format and entropy."}},
      {{"env:///", "All variables of the server's process that the allow-list names."},
       {"env:///NAME", "One of them; NAME is percent-encoded where it has other bytes than letters, digits and - . _ ~."},
       {"env://FILE/", "All variables of a file that the allow-list names; FILE is made of the file's name or given."},
       {"env://FILE/NAME", "One of them."}},
  };
}

}  // namespace hondana::env
