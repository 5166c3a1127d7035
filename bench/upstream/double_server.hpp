// The upstream double: a server of OpenAI's audio API and of Gemini's generateContent that hears text_of(SHA-256) in every
// recording, counts exactly, and fails in whatever way it is told.
//
// Holds: double_server. Next file: session.hpp, which serves a connection.
#pragma once

#include <bench/upstream/ledger.hpp>
#include <bench/upstream/settings.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::upstream {

// Threads of its own. The members may be called from any thread.
class double_server {
public:
    // Listens when it returns. Throws std::runtime_error when it cannot, std::invalid_argument for a misspelt fault.
    explicit double_server(settings how = {});
    // Ends every connection at once.
    ~double_server();
    double_server(const double_server&) = delete;
    double_server& operator=(const double_server&) = delete;

    std::uint16_t port() const noexcept;
    // "http://127.0.0.1:PORT" and a path behind it, with https when it speaks TLS.
    std::string url(std::string_view path = {}, std::string_view host = "127.0.0.1") const;
    // The authority to trust; empty without TLS.
    const std::string& ca_pem() const noexcept;

    counts seen() const;
    // Waits until the counts are as wanted; false when they are not within the limit.
    bool wait_until(const std::function<bool(const counts&)>& enough, std::chrono::milliseconds limit = std::chrono::seconds(20)) const;
    void reset();

    // As POST /_faults sets them. Throw std::invalid_argument for a misspelt fault.
    void script(const std::vector<std::string>& faults);
    void always(std::string_view fault);
    void others(std::string_view fault);

private:
    class inside;
    std::unique_ptr<inside> inside_;
};

}  // namespace hearonce::upstream
