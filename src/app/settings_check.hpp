// What the keys come to together: keys fetched, models found, the default backend chosen; and what must hold between them.
//
// Holds: complete(), check(), warnings_of(), claimed_models(). Next file: gateway.hpp.
#pragma once

#include <app/load_settings.hpp>

#include <string>
#include <vector>

namespace hearonce::app {

// Fills in what other places hold: backends' credentials (variables, files), model files, the default backend.
problems complete(settings& values, const settings_sources& from);

// The variable a kind's key is in when no key says otherwise.
std::string_view key_variable_of(backend_kind kind);

// Contradictions between keys, and files that are named but cannot be read. Looks at the file system, changes nothing.
problems check(const settings& values);

// Lines an operator should read although the gateway starts.
std::vector<std::string> warnings_of(const settings& values);

// Names (globs) a backend takes: its `models`, else its kind's own.
std::vector<std::string> claimed_models(const backend_settings& backend);

// What is read and checked but not part of this build; empty once everything is. One line each.
std::vector<std::string> not_built_in(const settings& values);

}  // namespace hearonce::app
