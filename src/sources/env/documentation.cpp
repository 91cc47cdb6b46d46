/// The documentation of env: URIs.
#include "sources/env/env_provider.hpp"

namespace hondana::env {

scheme_documentation describe() {
  return {
      "env",
      "Environment variables of the server's process and of .env files that an allow-list permits, with secrets masked.",
      {{"environment", "All variables of the process or of a file that the allow-list permits, as one JSON object of strings."},
       {"variable", "The value of one variable, with secrets masked by name, format and entropy."}},
      {{"env:///", "All variables of the server's process that the allow-list permits."},
       {"env:///NAME", "One of them. In NAME, all bytes except letters, digits and - . _ ~ are percent-encoded."},
       {"env://FILE/",
        "All variables of a file that the allow-list permits. FILE is the configured name, or comes from the file's name."},
       {"env://FILE/NAME", "One of them."}},
  };
}

}  // namespace hondana::env
