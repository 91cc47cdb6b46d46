/// The folder, and the shapes of URIs that lead out of it in somebody's server.
#include "red_team/shelf.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace red_team {
namespace {

const std::string secret = "SECRET=" + std::string(canary) + "\n";

void must(bool done, const std::string& what) {
  if (!done) throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

shelf::shelf() {
  put("outside.txt", secret);
  put("project/inside.txt", inside);
  put("project/src/main.cpp", inside);
  for (const char* sibling : {"project2", "project_backup", "project-old", "project.bak", "Project", "projec"}) {
    put(std::string(sibling) + "/inside.txt", secret);
  }
  for (const char* hidden : {".env", ".env.production", ".git/config", ".ssh/id_ed25519", "id_rsa", "server.key", ".netrc",
                             "sub/.aws/credentials", "kubeconfig"}) {
    put("project/" + std::string(hidden), secret);
  }
  const auto link = [this](const std::string& at, const std::string& to) {
    std::filesystem::create_symlink(to, path("project/" + at));
  };
  link("passwd", "/etc/passwd");
  link("etc", "/etc");
  link("up", "..");
  link("relative", "../outside.txt");
  link("src/deep", "../../outside.txt");
  link("chain", "chain2");
  link("chain2", "relative");
  link("dangling", path("not_yet.txt"));
  link("round", "round");
  link("environ", "/proc/self/environ");
  link("descriptor", "/proc/self/fd/0");
  link("innocent.txt", ".env");
  link("memory", "/dev/mem");
  put("not_yet.txt", secret);
  must(::mkfifo(path("project/fifo").c_str(), 0600) == 0, "mkfifo");
  must(::truncate((put("project/sparse", ""), path("project/sparse").c_str()), 1LL << 40) == 0, "truncate");
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  const auto name = path("project/socket");
  if (name.size() >= sizeof at.sun_path) throw std::runtime_error("the path is too long: " + name);
  std::memcpy(at.sun_path, name.data(), name.size());
  must(::bind(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0, "bind");
}

shelf::~shelf() { ::close(socket_); }

std::string shelf::configuration(std::string_view more) const {
  put("hondana.toml", std::string(more) + "[[source]]\ntype = \"files\"\npath = \"project\"\n");
  return path("hondana.toml");
}

std::vector<uri_shape> hostile_uris(const shelf& of) {
  std::vector<uri_shape> all;
  const auto below = [&](std::string_view kind, std::string_view path) { all.push_back({kind, of.root_uri(path)}); };
  for (const auto path : {"2", "2/inside.txt", "_backup/inside.txt", "-old/inside.txt", ".bak/inside.txt", "2/",
                          "%32/inside.txt", "%2F..%2Fproject2%2Finside.txt"}) {
    below("path prefix", path);
  }
  all.push_back({"path prefix", of.uri("projec/inside.txt")});
  all.push_back({"path prefix", of.uri("Project/inside.txt")});
  all.push_back({"path prefix", of.uri("")});
  for (const auto path : {"/../outside.txt",
                          "/src/../../outside.txt",
                          "/../../../../../../../etc/passwd",
                          "/src/../../project2/inside.txt",
                          "/..%2Foutside.txt",
                          "/..%2F..%2Fetc%2Fpasswd",
                          "/%2e%2e/outside.txt",
                          "/%2e%2e%2foutside.txt",
                          "/.%2e/outside.txt",
                          "/%252e%252e/outside.txt",
                          "/%252e%252e%252foutside.txt",
                          "/%00",
                          "/%00inside.txt",
                          "/ins%00ide.txt",
                          "/inside.txt%00",
                          "/inside.txt%00.png",
                          "//outside.txt",
                          "//etc/passwd",
                          "//inside.txt",
                          "/src//main.cpp",
                          "/%5C%5Cserver%5Cshare",
                          "/..%5Coutside.txt",
                          "/C:%5Cx",
                          "/C:/x",
                          "/inside.txt/",
                          "/inside.txt/more",
                          "/./../outside.txt",
                          "/....//outside.txt",
                          "/..;/outside.txt",
                          "/%c0%ae%c0%ae/outside.txt",
                          "/%u002e%u002e/outside.txt",
                          "/src%2Fmain.cpp",
                          "/~",
                          "/$HOME",
                          "/%24(id)",
                          "/*",
                          "/nowhere?lines=1-2"}) {
    below("traversal", path);
  }
  all.push_back({"traversal", of.root_uri("/" + std::string(100'000, 'a'))});
  std::string deep;
  for (int i = 0; i < 4'000; ++i) deep += "/a";
  all.push_back({"traversal", of.root_uri(deep)});
  for (const std::string uri : {"",
                                "/",
                                "//",
                                "file:",
                                "file://",
                                "file:///",
                                "file:///etc/passwd",
                                "file://localhost/etc/passwd",
                                "file:/etc/passwd",
                                "FILE:///etc/passwd",
                                "file://evil.example/etc/passwd",
                                "file://127.0.0.1/etc/passwd",
                                "\\\\server\\share",
                                "C:\\x",
                                "http://169.254.169.254/latest/meta-data/",
                                "http://[::ffff:169.254.169.254]/",
                                "http://0x7f.1/",
                                "gopher://127.0.0.1:6379/",
                                "data:text/html,x",
                                "javascript:alert(1)",
                                "jar:file:///etc/passwd!/",
                                "mcp://wiki/..",
                                "skill://../x",
                                "file:///proc/self/environ",
                                "file:///dev/zero",
                                "file:///dev/stdin"}) {
    all.push_back({"traversal", uri});
  }
  for (const auto path :
       {"/passwd", "/etc", "/etc/", "/etc/passwd", "/up", "/up/outside.txt", "/up/project/inside.txt", "/relative", "/src/deep",
        "/chain", "/chain2", "/dangling", "/round", "/round/x", "/environ", "/descriptor", "/memory"}) {
    below("symlinks", path);
  }
  for (const auto path : {"/fifo", "/socket", "/sparse", "/src?lines=1-2", "/src?bytes=0-1", "/sparse?lines=2-3"}) {
    below("special files", path);
  }
  for (const auto path : {"/caf%C3", "/%C0%AFetc%C0%AFpasswd", "/%ED%A0%80", "/%FF%FE", "/%", "/%2", "/%zz", "/a%0Ab",
                          "/inside.txt%20", "/INSIDE.TXT", "/%EF%BC%8E%EF%BC%8E/outside.txt"}) {
    below("unicode", path);
  }
  for (const auto path :
       {"/.env", "/.env.production", "/.git", "/.git/config", "/.ssh/id_ed25519", "/id_rsa", "/server.key", "/.netrc",
        "/sub/.aws/credentials", "/kubeconfig", "/innocent.txt", "/.ENV", "/%2Eenv", "/src/../.env"}) {
    below("secrets", path);
  }
  return all;
}

}  // namespace red_team
