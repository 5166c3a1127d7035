// `hearonce serve` from its start to its exit code: log, signals, gateway. Next file: gateway.cpp.
#include <app/gateway.hpp>
#include <app/load_settings.hpp>
#include <app/make_backends.hpp>
#include <app/private_process.hpp>
#include <app/settings_units.hpp>
#include <observe/log.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>

namespace hearonce::app {

namespace {

using observe::say;
using level = observe::log_level;

observe::log_options log_options_of(const log_settings& wanted) {
    observe::log_options options;
    options.format = static_cast<observe::log_format>(wanted.format);
    options.level = static_cast<observe::log_level>(wanted.level);
    options.access = wanted.access;
    return options;
}
static_assert(static_cast<int>(log_format::json) == static_cast<int>(observe::log_format::json));
static_assert(static_cast<int>(log_level::error) == static_cast<int>(observe::log_level::error));

std::string url_of(const boost::asio::ip::tcp::endpoint& at, bool tls) {
    return (tls ? "https://" : "http://") + show_endpoint(at);
}

// Waits for signals on a thread of its own, so that a loop that hangs cannot keep the program from ending.
class signal_watch {
public:
    explicit signal_watch(std::function<void(int)> got) : signals_(context_, SIGTERM, SIGINT, SIGHUP), got_(std::move(got)) {
        wait();
        thread_ = std::thread([this] { context_.run(); });
    }
    ~signal_watch() {
        context_.stop();
        thread_.join();
    }

private:
    void wait() {
        signals_.async_wait([this](const boost::system::error_code& failed, int which) {
            if (failed) return;
            got_(which);
            wait();
        });
    }

    boost::asio::io_context context_{1};
    boost::asio::signal_set signals_;
    std::function<void(int)> got_;
    std::thread thread_;
};

class signal_plan {
public:
    signal_plan(gateway& running, settings current, std::function<result<settings>()> reread)
        : running_(running), current_(std::move(current)), reread_(std::move(reread)) {}

    // Nothing that goes wrong here may end the process with requests in flight.
    void operator()(int which) {
        try {
            act_on(which);
        } catch (const std::exception& why) {
            say(level::error, "a signal was not acted on", {{"why", std::string_view(why.what())}});
        }
    }

private:
    void act_on(int which) {
        if (which == SIGHUP) return reload();
        if (++asked_to_end_ == 1) {
            say(level::info, "draining: requests that began are served, no new ones are taken");
            running_.drain();
        } else {
            say(level::warn, "second signal: ending everything");
            running_.end();
        }
    }

    void reload() {
        auto fresh = reread_();
        auto done = fresh ? running_.reload(*fresh) : result<void>(fresh.error());
        if (!done) return say(level::error, "not reloaded, what was there stays in force", {{"why", done.error().message()}});
        observe::set_log_level(static_cast<observe::log_level>(fresh->log.level), fresh->log.access);
        for (const auto& changed : changed_keys(current_, *fresh)) {
            if (!changed.live) say(level::warn, "changed, but takes effect only after a restart", {{"key", changed.key}});
        }
        say(level::info, "reloaded: tokens, TLS certificate and log level");
    }

    gateway& running_;
    const settings current_;
    std::function<result<settings>()> reread_;
    int asked_to_end_ = 0;
};

}  // namespace

int run_gateway(const settings& wanted, std::function<result<settings>()> reread) {
    std::signal(SIGPIPE, SIG_IGN);
    observe::open_log(log_options_of(wanted.log));
    keep_memory_private();
    int exit_code = 0;
    try {
        gateway running(wanted, [&wanted](boost::asio::any_io_executor home) { return make_backends(wanted, std::move(home)); });
        const auto started = running.start();
        if (started) {
            // Who reads that it listens may end it at once: the signals are watched before that is said.
            const signal_watch signals(signal_plan(running, wanted, std::move(reread)));
            for (const auto& at : running.listening()) {
                say(level::info, "listening on " + url_of(at, wanted.server.tls_certificate.has_value()));
            }
            running.wait();
            say(level::info, "ended");
        } else {
            std::cerr << "hearonce: " << started.error().message() << '\n';
            exit_code = 2;
        }
    } catch (const std::runtime_error& why) {
        // What a part could not be built from: a file of secrets, most likely.
        std::cerr << "hearonce: " << why.what() << '\n';
        exit_code = 2;
    }
    observe::close_log();
    return exit_code;
}

}  // namespace hearonce::app
