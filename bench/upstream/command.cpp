// Next file: double_server.cpp.
#include <bench/upstream/command.hpp>

#include <bench/upstream/double_server.hpp>
#include <bench/upstream/fault.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/signal_set.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <fstream>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

namespace hearonce::upstream {

namespace asio = boost::asio;

namespace {

struct flags {
    settings how;
    std::string listen = "127.0.0.1:8090";
    std::string delay = "0";
    std::string delay_exponential = "0";
    std::string tls;
    std::string ca_out;
};

asio::ip::tcp::endpoint endpoint_of(const std::string& text) {
    const auto colon = text.rfind(':');
    auto host = text.substr(0, colon);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    if (host == "localhost") host = "127.0.0.1";
    boost::system::error_code failed;
    const auto address = asio::ip::make_address(host, failed);
    std::uint16_t port = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + std::min(colon + 1, text.size()), end, port);
    const bool numbered = colon != std::string::npos && read.ec == std::errc() && read.ptr == end;
    if (failed || !numbered) throw std::invalid_argument("--listen takes ADDRESS:PORT, such as 127.0.0.1:0");
    return {address, port};
}

std::chrono::milliseconds time_of(const std::string& text, const char* name) {
    // A delay is written the same way everywhere.
    const auto read = parse_fault("delay=" + text);
    if (!read || !read->delay) throw std::invalid_argument(std::string(name) + " takes a time, such as 300ms");
    return *read->delay;
}

tls_kind kind_of(const std::string& text) {
    if (text == "expired") return tls_kind::expired;
    if (text == "wrong-host") return tls_kind::wrong_host;
    if (text == "other-ca") return tls_kind::other_ca;
    return tls_kind::good;
}

int run(const flags& given) {
    auto how = given.how;
    how.listen = endpoint_of(given.listen);
    how.delay = time_of(given.delay, "--delay");
    how.delay_exponential = time_of(given.delay_exponential, "--delay-exponential");
    if (!given.tls.empty()) how.tls = kind_of(given.tls);
    const double_server server(how);
    if (how.tls && !given.ca_out.empty()) {
        std::ofstream to(given.ca_out, std::ios::trunc);
        to << server.ca_pem();
        if (!to.flush()) throw std::runtime_error("cannot write " + given.ca_out);
    }
    const auto& address = how.listen.address();
    std::cout << "listening on " << server.url({}, address.is_v6() ? "[" + address.to_string() + "]" : address.to_string()) << std::endl;
    asio::io_context waiting(1);
    asio::signal_set signals(waiting, SIGINT, SIGTERM);
    signals.async_wait([](const boost::system::error_code&, int) {});
    waiting.run();
    return 0;
}

void add_flags(CLI::App& to, flags& given) {
    to.add_option("--listen", given.listen, "ADDRESS:PORT; port 0 takes a free one, told in the first line of stdout")
        ->capture_default_str();
    to.add_option("--threads", given.how.threads, "Event loops")->capture_default_str()->check(CLI::Range(1, 64));
    to.add_option("--delay", given.delay, "Time before every answer")->type_name("TIME");
    to.add_option("--delay-exponential", given.delay_exponential, "Mean of a random time, added to --delay")->type_name("TIME");
    to.add_option("--seed", given.how.seed, "Of the random times; the nth call's depends on it and n alone")->capture_default_str();
    to.add_option("--fault", given.how.always, "For every call that neither script nor header nor prompt gives one")->type_name("FAULT");
    to.add_option("--fault-others", given.how.others, "For what is no call, such as GET /v1/models")->type_name("FAULT");
    to.add_option("--key", given.how.key, "The only API key that is let in")->type_name("KEY");
    to.add_flag("--any-model", given.how.any_model, "Take models nobody knows for whisper-1's kind");
    to.add_flag("--done-marker", given.how.done_marker, "End OpenAI's streams with data: [DONE]");
    to.add_flag("--tell-language", given.how.tell_language, "End the text with the language that was asked for, as in '... [de]'");
    to.add_option("--last", given.how.last_max, "Requests that /_stats shows")->capture_default_str()->check(CLI::Range(0, 100000));
    to.add_option("--tls", given.tls, "Speak TLS with a certificate made now: good, expired, wrong-host or other-ca")
        ->type_name("KIND")
        ->check(CLI::IsMember({"good", "expired", "wrong-host", "other-ca"}));
    to.add_option("--ca-out", given.ca_out, "Where to write the authority that clients are to trust")->type_name("FILE");
}

}  // namespace

void add_upstream(CLI::App& to, std::function<int()>& chosen) {
    auto* command = to.add_subcommand(
        "upstream",
        "Stand in for OpenAI (/v1/audio/...) and Gemini (/v1beta/models/...). The text depends on the SHA-256 of the recording alone.");
    auto given = std::make_shared<flags>();
    add_flags(*command, *given);
    command->footer(std::string(fault_help) +
                    "\nGET /_stats   exact counts of calls, by SHA-256; who left and when; the last requests\n"
                    "POST /_reset  forgets them\n"
                    "POST /_faults [\"FAULT\", ...] one a call, or {\"script\": [...], \"always\": \"FAULT\", \"others\": \"FAULT\"}");
    command->callback([given, &chosen] { chosen = [given] { return run(*given); }; });
}

}  // namespace hearonce::upstream
