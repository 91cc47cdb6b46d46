/// The documentation of config:// URIs.
#include "sources/config_files/set_provider.hpp"

namespace hondana::config_files {

scheme_documentation describe() {
  return {
      "config",
      "Configuration files in TOML, YAML, JSON, INI, dotenv, properties and systemd format, with secrets masked, and the "
      "values in effect of several layers.",
      {{"file", "A configuration file."},
       {"value", "One value, with its location."},
       {"merged", "All layers merged, with the origin of each value and the values that it overrides."},
       {"layer", "The values of one layer: a file, the environment, a command line."},
       {"diff", "The keys added, removed and changed from one layer to another."},
       {"folder", "A folder of files or layers. Reading it returns the URIs of its entries, one per line."}},
      {{"config://SET/file/PATH", "A file of the set SET as it is, with secrets masked."},
       {"config://SET/file/PATH?format=json", "Its values as JSON."},
       {"config://SET/file/PATH?key=server.tls.port",
        "One value: key, value, file and line. List items are numbered (hosts.0); names with dots are in brackets "
        "(labels[\"app.name\"])."},
       {"config://SET/merged?key=KEY", "The values in effect: all layers merged, or one value with all that it overrides."},
       {"config://SET/layers/NAME", "The values of one layer."},
       {"config://SET/diff/FROM..TO", "Differences from one layer to another; merged stands for all layers together."}},
  };
}

}  // namespace hondana::config_files
