// The program: hands its arguments to the command line. Next file: cli/command_line.hpp.
#include <cli/command_line.hpp>

#include <csignal>

int main(int argc, char** argv) {
    // A peer or a pipe that went away is an error of the write that meets it, not the end of the process.
    std::signal(SIGPIPE, SIG_IGN);
    return hearonce::cli::run_command_line(argc, argv);
}
