/// A blocking HTTP client that does exactly what a test says, also what no client should.
#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hondana_test {

struct answer {
  int status = 0;
  std::map<std::string, std::string> fields;  ///< Names in lower case.
  std::string body;                           ///< Without the chunks' framing.
  bool is_complete = false;                   ///< Its end came as its framing says.
};

/// How a client speaks TLS.
struct tls_manner {
  std::string authorities{};  ///< PEM file; empty: whatever the server shows is taken.
  std::string certificate{};  ///< PEM file; empty: none is shown.
  std::string key{};
  std::string protocols = "\x08http/1.1";  ///< As RFC 7301 lists them; empty: none are offered.
  int newest = 0;                          ///< TLS1_2_VERSION, say; 0: any.
  int oldest = 0;
  const char* suites = nullptr;  ///< Of TLS 1.2.
  SSL_SESSION* resumes = nullptr;
};

/// One connection. Every wait gives up after `event_deadline`, and the test then fails by what is missing.
class client {
 public:
  /// `receive_buffer`: bytes the kernel may keep for us; 0: as usual.
  explicit client(std::uint16_t port, int receive_buffer = 0);
  /// Connected to a Unix socket.
  static client at_path(const std::string& path);
  /// Connected from one of the loopback addresses.
  static client from_address(const char* literal, std::uint16_t port);
  /// Not connected yet.
  client();
  ~client();
  client(client&& other) noexcept;
  client(const client&) = delete;
  client& operator=(const client&) = delete;
  client& operator=(client&&) = delete;

  /// Throws when nobody listens, and where `speaks_tls(port)` when that fails.
  void connect(std::uint16_t port);
  /// Speaks TLS from here on. False when the server does not want us, or we not the server: `trouble` says why.
  bool shake_hands(const tls_manner& how = {});
  /// The reason of OpenSSL's last failure here.
  const std::string& trouble() const { return trouble_; }
  /// The connection, to do with as one likes; null without TLS.
  SSL* tls() { return tls_; }
  /// The serial number of the server's certificate; 0 without TLS.
  long serial() const;
  /// The connection's socket.
  int socket() const { return socket_; }
  /// False when the server has closed.
  bool send(std::string_view bytes);
  /// One answer; informational ones are skipped.
  answer receive(bool has_body = true);
  /// The next bytes up to and with `end`.
  std::string receive_until(std::string_view end);
  /// Whether `end`, or the end of the connection, is among what has come by now. Does not wait.
  bool has_received(std::string_view end);
  /// True when the server closes without sending anything more.
  bool sees_the_end();
  /// Leaves with a reset instead of a farewell.
  void vanish();

 private:
  explicit client(int socket);
  bool fill();
  /// What has come, at most `size` bytes; less than 1 at the end and when nothing comes.
  long receive_some(char* into, std::size_t size);
  void note_trouble();

  int socket_ = -1;
  SSL* tls_ = nullptr;
  std::string trouble_;
  std::string input_;
  bool ended_ = false;
};

/// A request of the stateless era; `params` are members, each with a comma behind it.
std::string modern(std::string_view method, std::string_view id = "7", std::string_view params = {});
/// A POST to /mcp with the usual headers, among them those that repeat what a stateless message says; `more` are lines that
/// end with CR LF.
std::string post(std::string_view body, std::string_view more = {});
/// The same as a client of HTTP/1.0 sends it.
std::string old_post(std::string_view body);
/// A GET with a good Host.
std::string get(std::string_view target);

}  // namespace hondana_test
