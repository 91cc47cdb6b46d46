/// Configuring and starting nginx.
#include "nginx.hpp"

#include <stdlib.h>

#include <cstdlib>
#include <filesystem>

namespace http_bench {

std::string get(const std::string& path) { return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n"; }

std::unique_ptr<contestant> start_nginx(const bench::scratch& in, const std::vector<std::string>& bodies, std::size_t plain,
                                        int core) {
  const char* path = std::getenv("PATH");
  ::setenv("PATH", (std::string(path != nullptr ? path : "/usr/bin") + ":/usr/sbin").c_str(), 1);
  if (std::system("command -v nginx >/dev/null 2>&1") != 0) return nullptr;
  const auto port = free_port();
  std::filesystem::create_directories(in.path("tmp"));
  for (std::size_t i = 0; i < bodies.size(); ++i) in.put("static/" + std::to_string(i), bodies[i]);
  std::string temporary;
  for (const auto* what : {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"}) {
    temporary += std::string("  ") + what + "_temp_path tmp/" + what + ";\n";
  }
  in.put("nginx.conf",
         "daemon off;\nmaster_process off;\npid nginx.pid;\nerror_log nginx.log crit;\n"
         "events { worker_connections 1024; }\nhttp {\n" +
             temporary +
             "  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  tcp_nodelay on;\n  keepalive_requests 1000000000;\n"
             "  default_type application/json;\n  open_file_cache max=16;\n"
             "  server {\n    listen 127.0.0.1:" +
             std::to_string(port) + " backlog=1024;\n    root " + in.folder().string() +
             ";\n    location = /return { return 200 '" + std::string(plain, 'x') + "'; }\n  }\n}\n");
  return std::make_unique<contestant>(
      std::vector<std::string>{"nginx", "-p", in.folder().string(), "-c", in.path("nginx.conf")}, core, port,
      in.path("nginx.out"));
}

}  // namespace http_bench
