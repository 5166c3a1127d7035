// Next file: net/one_call.cpp.
#include <cli/send.hpp>

#include <cli/commands.hpp>
#include <cli/device_id.hpp>
#include <cli/form_file.hpp>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <fstream>
#include <iostream>
#include <utility>

#include <unistd.h>

namespace hearonce::cli {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

// One line on a terminal that is written over; silent elsewhere, where it would only fill logs.
class progress_line {
public:
    explicit progress_line(std::string name) : name_(std::move(name)), shown_(::isatty(STDERR_FILENO) == 1) {}
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;
    ~progress_line() { clear(); }
    void clear() {
        if (std::exchange(shown_, false)) std::cerr << "\r\x1b[K" << std::flush;
    }
    void sent(std::uint64_t bytes, std::uint64_t all) {
        const auto percent = bytes * 100 / all;
        if (!shown_ || percent == last_) return;
        last_ = percent;
        std::cerr << "\r\x1b[K" << name_
                  << (percent < 100 ? ": sent " + std::to_string(percent) + " %" : std::string(": waiting for the text")) << std::flush;
    }

private:
    std::string name_;
    bool shown_;
    std::uint64_t last_ = 101;
};

net::call_request request_of(const send_options& options, const net::tls_context& tls, const std::string& sha256,
                             const std::string& boundary) {
    net::call_request request;
    request.url = options.url;
    request.method = "POST";
    request.tls = tls;
    request.headers.push_back({"Content-Type", "multipart/form-data; boundary=" + boundary});
    request.headers.push_back({"X-Audio-Sha256", sha256});
    request.headers.push_back({"X-Request-Id", random_hex(16)});
    if (!options.device.empty()) request.headers.push_back({"X-Device-Id", options.device});
    if (!options.api_key.empty()) request.headers.push_back({"Authorization", "Bearer " + std::string(options.api_key.reveal())});
    return request;
}

// Runs the call to its end, or to the user's.
net::call_result run(net::call_request request, net::call_limits limits) {
    asio::io_context loop(1);
    asio::cancellation_signal cancel;
    asio::signal_set signals(loop, SIGINT, SIGTERM);
    std::optional<net::call_result> result;
    signals.async_wait([&cancel](const boost::system::error_code& ec, int) {
        if (!ec) cancel.emit(asio::cancellation_type::terminal);
    });
    auto ended = [&](std::exception_ptr thrown, std::optional<net::call_result> value) {
        signals.cancel();
        if (thrown) std::rethrow_exception(thrown);
        result = std::move(value);
    };
    asio::co_spawn(loop, deadline_detail::optional_of(net::call(std::move(request), limits)),
                   asio::bind_cancellation_slot(cancel.slot(), std::move(ended)));
    loop.run();
    return std::move(*result);
}

verdict verdict_of(const net::call_result& result, std::string_view format) {
    if (result) return judge(*result, format);
    const net::call_failure& why = result.error();
    if (why.body_failed) return {usage, {}, why.message};
    if (why.cancelled) return {cancelled, {}, "cancelled"};
    return {broken, {}, why.message};
}

// Whole or not at all: a name that is there holds a complete text.
exit_code write_output(const fs::path& folder, const fs::path& name, const std::string& text) {
    std::error_code ec;
    fs::create_directories(folder, ec);
    const fs::path part = folder / ("." + name.string() + ".part");
    std::ofstream file(part, std::ios::binary);
    file << text;
    file.close();
    if (file) fs::rename(part, folder / name, ec);
    if (file && !ec) return done;
    fs::remove(part, ec);
    return complain((folder / name).string() + ": cannot be written");
}

exit_code send_one(const send_options& options, const fs::path& file, const net::tls_context& tls) {
    const auto measured = measure(file);
    if (!measured) return complain(measured.error().text);
    progress_line line(file.filename().string());
    const std::string boundary = "hearonce-" + random_hex(16);
    auto request = request_of(options, tls, measured->sha256, boundary);
    request.body = create_form_file(form_of(options.fields, file, boundary), file, measured->size_bytes,
                                    [&line](std::uint64_t bytes, std::uint64_t all) { line.sent(bytes, all); });
    net::call_limits limits;
    limits.silence = options.read_timeout;
    const verdict judged = verdict_of(run(std::move(request), limits), options.fields.format);
    line.clear();
    if (judged.code != done) {
        complain(file.string() + ": " + judged.complaint);
        return judged.code;
    }
    if (options.output_folder) return write_output(*options.output_folder, output_name(file, options.fields.format), judged.output);
    std::cout << judged.output << std::flush;
    return std::cout ? done : complain("stdout cannot be written");
}

// Two recordings must not end up in one file.
std::optional<std::string> same_output(const send_options& options) {
    std::vector<fs::path> names;
    for (const fs::path& file : options.files) {
        fs::path name = output_name(file, options.fields.format);
        if (std::ranges::find(names, name) != names.end())
            return "FILE: two of them would be written to " + (*options.output_folder / name).string();
        names.push_back(std::move(name));
    }
    return std::nullopt;
}

}  // namespace

exit_code send(const send_options& options) {
    if (const auto twice = options.output_folder ? same_output(options) : std::nullopt) return complain(*twice);
    net::tls_context tls;
    if (options.url.tls) {
        const auto made = net::make_tls_context();
        if (!made) return complain(made.error());
        tls = *made;
    }
    std::vector<exit_code> codes;
    for (const fs::path& file : options.files) {
        codes.push_back(send_one(options, file, tls));
        if (codes.back() == cancelled) break;
    }
    return worst_of(codes);
}

}  // namespace hearonce::cli
