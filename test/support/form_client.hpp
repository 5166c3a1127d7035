// Uploads as the tests send them: forms, whole requests, and the answer to each.
//
// Holds: form_part, form_body(), post_form(), post(), get(), read_answer(), closes().
#pragma once

#include <support/raw_client.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace hearonce::test {

struct form_part {
    std::string name;
    std::string value;
    std::optional<std::string> file_name = {};
    std::string type = {};
};

// A multipart/form-data body in the order given.
inline std::string form_body(const std::string& boundary, const std::vector<form_part>& parts) {
    std::string body;
    for (const auto& part : parts) {
        body += "--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + part.name + "\"";
        if (part.file_name) body += "; filename=\"" + *part.file_name + "\"";
        if (!part.type.empty()) body += "\r\nContent-Type: " + part.type;
        body += "\r\n\r\n" + part.value + "\r\n";
    }
    return body + "--" + boundary + "--\r\n";
}

// One whole POST of a form; `headers` are extra lines, each ended by CRLF.
inline std::string post_form(const std::string& path, const std::string& body, const std::string& boundary,
                             const std::string& headers = {}) {
    return "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=" + boundary +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + headers + "\r\n" + body;
}

// The next answer; throws when none comes whole within the limit, so that a hang fails the test instead of the build.
inline raw_answer read_answer(raw_client& client, bool to_head = false) {
    auto answer = client.answer(to_head, std::chrono::seconds(60));
    if (!answer.complete) throw std::runtime_error("no whole answer; got: " + answer.body + client.rest());
    return answer;
}

// True if the peer closes without another byte.
inline bool closes(raw_client& client) {
    return client.wait_end(std::chrono::seconds(30)) == raw_client::end_kind::closed && client.rest().empty();
}

inline raw_answer post(std::uint16_t port, const std::string& path, const std::vector<form_part>& parts, const std::string& headers = {},
                       const std::string& boundary = "xYz123") {
    raw_client client(port);
    client.send(post_form(path, form_body(boundary, parts), boundary, headers));
    return read_answer(client);
}

inline raw_answer get(std::uint16_t port, const std::string& path, const std::string& headers = {}) {
    raw_client client(port);
    client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n");
    return read_answer(client);
}

}  // namespace hearonce::test
