// The command line as a whole: which commands there are and how they are told apart.
//
// Holds: run_command_line(). Next file: the command's own, serve.cpp first.
#pragma once

namespace hearonce::cli {

// Parses, runs the one command that was named, returns the exit code. Texts asked for (--help, --version) go to stdout,
// complaints to stderr.
int run_command_line(int argc, const char* const* argv);

}  // namespace hearonce::cli
