// From `[backends]` to backends.
//
// Holds: make_backends(), helper_path(). Next file: make_backends.cpp.
#pragma once

#include <app/settings.hpp>
#include <hearonce/backend.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <filesystem>
#include <memory>
#include <vector>

namespace hearonce::app {

// One backend for each configured one, but for a local engine that nobody may use, which is named in the log. `home`: the loop on which a
// local engine's side of the gateway lives.
std::vector<std::shared_ptr<backend>> make_backends(const settings& wanted, boost::asio::any_io_executor home);

// Where hearonce-whisper is: beside this program, else in the libexec folder it was installed with; the first of these if
// neither is there, so that an error can name it.
std::filesystem::path helper_path();

}  // namespace hearonce::app
