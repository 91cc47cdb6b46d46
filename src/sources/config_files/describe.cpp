/// The documentation of config:// URIs.
#include "sources/config_files/set_provider.hpp"

namespace hondana::config_files {

scheme_documentation describe() {
  return {
      "config",
      "Configuration: files in TOML, YAML, JSON, INI, dotenv, properties and as systemd units, without their secrets, and what "
      "takes effect of several layers.",
      {{"file", "A file of configuration."},
       {"value", "One value, with where it stands."},
       {"merged", "All layers merged, with where each value comes from and what it overrides."},
       {"layer", "What one layer says: a file, the environment, a command line."},
       {"diff", "What was added, removed and changed from one layer to another."},
       {"folder", "A folder of files, or of layers. Reading it gives what is in it, one URI a line."}},
      {{"config://SET/file/PATH", "A file of the set SET as it stands, secrets masked."},
       {"config://SET/file/PATH?format=json", "What it says, as JSON."},
       {"config://SET/file/PATH?key=server.tls.port",
        "One value: key, value, file and line. Items of lists go by number (hosts.0), names with dots in brackets "
        "(labels[\"app.name\"])."},
       {"config://SET/merged?key=KEY", "What takes effect: all layers merged, or one value with all it overrides."},
       {"config://SET/layers/NAME", "What one layer says."},
       {"config://SET/diff/FROM..TO", "What differs from one layer to another; merged stands for all of them together."}},
  };
}

}  // namespace hondana::config_files
