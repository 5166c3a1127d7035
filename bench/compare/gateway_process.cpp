// Next file: command.cpp.
#include <bench/compare/gateway_process.hpp>

#include <array>
#include <charconv>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hearonce::compare {
namespace {

constexpr std::chrono::seconds start_timeout{20};

std::vector<std::string> arguments_of(const std::filesystem::path& program, const std::string& upstream_url, unsigned threads) {
    std::vector<std::string> all{program.string(), "serve"};
    for (const std::string& setting :
         {std::string("server.listen=127.0.0.1:0"), "server.threads=" + std::to_string(threads), std::string("log.access=false"),
          std::string("backends.openai.kind=openai"), "backends.openai.base_url=" + upstream_url,
          std::string("backends.openai.api_key=bench"), std::string("default_backend=openai")}) {
        all.emplace_back("--set");
        all.push_back(setting);
    }
    return all;
}

[[noreturn]] void become(const std::vector<std::string>& arguments, int log) {
    std::vector<char*> argv;
    for (const auto& one : arguments) argv.push_back(const_cast<char*>(one.c_str()));
    argv.push_back(nullptr);
    std::array<char*, 1> environment{nullptr};
    ::dup2(log, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    ::execve(argv[0], argv.data(), environment.data());
    ::_exit(127);
}

// The port behind "listening on http://127.0.0.1:"; 0: it is not there yet.
std::uint16_t port_in(const std::string& log) {
    constexpr std::string_view line = "listening on http://127.0.0.1:";
    const auto at = log.find(line);
    std::uint16_t port = 0;
    if (at == std::string::npos) return 0;
    const auto* const begin = log.data() + at + line.size();
    const auto [end, failed] = std::from_chars(begin, log.data() + log.size(), port);
    return failed == std::errc() && end != log.data() + log.size() ? port : 0;
}

}  // namespace

gateway_process::gateway_process(const std::filesystem::path& program, const std::string& upstream_url, unsigned threads) {
    const auto arguments = arguments_of(program, upstream_url, threads);
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = ::fork();
    if (pid_ == 0) become(arguments, ends[1]);
    ::close(ends[1]);
    log_ = ends[0];
    std::string log;
    const auto until = std::chrono::steady_clock::now() + start_timeout;
    while ((port_ = port_in(log)) == 0) {
        pollfd waiting{log_, POLLIN, 0};
        std::array<char, 4096> room{};
        const bool readable = ::poll(&waiting, 1, 100) > 0;
        const auto got = readable ? ::read(log_, room.data(), room.size()) : 0;
        if (got > 0) log.append(room.data(), static_cast<std::size_t>(got));
        if ((readable && got <= 0) || std::chrono::steady_clock::now() > until)
            throw std::runtime_error(program.string() + " does not listen: " + log);
    }
}

gateway_process::~gateway_process() {
    if (pid_ > 0) {
        ::kill(pid_, SIGTERM);
        ::waitpid(pid_, nullptr, 0);
    }
    if (log_ >= 0) ::close(log_);
}

std::chrono::microseconds gateway_process::cpu() const {
    // Fields 14 and 15 (proc(5)) behind the name, which may hold anything but ends with the last parenthesis.
    std::ifstream file("/proc/" + std::to_string(pid_) + "/stat");
    std::string text;
    std::getline(file, text);
    std::istringstream rest(text.substr(std::min(text.rfind(')') + 1, text.size())));
    std::string skipped;
    for (int i = 0; i < 11; ++i) rest >> skipped;
    std::int64_t user = 0;
    std::int64_t system = 0;
    rest >> user >> system;
    return std::chrono::microseconds((user + system) * 1'000'000 / ::sysconf(_SC_CLK_TCK));
}

}  // namespace hearonce::compare
