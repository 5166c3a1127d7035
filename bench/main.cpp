// hearonce-bench: the load tool and what it needs around it. Hands its arguments to the one command that was named.
//
// Next files: upstream/command.hpp, compare/command.hpp.
#include <bench/compare/command.hpp>
#include <bench/upstream/command.hpp>

#include <CLI/CLI.hpp>

#include <csignal>
#include <exception>
#include <functional>
#include <iostream>

namespace {

constexpr int refused = 1;
constexpr int usage = 2;

int run(int argc, char** argv) {
    CLI::App root("Measures hearonce, and stands in for the services it calls.", "hearonce-bench");
    root.set_version_flag("--version", "hearonce-bench " HEARONCE_VERSION);
    root.require_subcommand(1);
    std::function<int()> chosen;
    hearonce::upstream::add_upstream(root, chosen);
    hearonce::compare::add_compare(root, chosen);
    try {
        root.parse(argc, argv);
    } catch (const CLI::Success& asked_for) {
        return root.exit(asked_for, std::cout, std::cerr);
    } catch (const CLI::ParseError& wrong) {
        std::cerr << "hearonce-bench: " << wrong.what() << "\nRun hearonce-bench --help, or hearonce-bench COMMAND --help.\n";
        return usage;
    }
    try {
        return chosen ? chosen() : usage;
    } catch (const std::exception& unexpected) {
        std::cerr << "hearonce-bench: " << unexpected.what() << '\n';
        return refused;
    }
}

}  // namespace

int main(int argc, char** argv) {
    // A peer that went away is an error of the write that meets it, not the end of the process.
    std::signal(SIGPIPE, SIG_IGN);
    return run(argc, argv);
}
