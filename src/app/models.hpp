// Speech models on this machine: where ggml files lie and what their names mean.
//
// Holds: installed_model, model_folders(), installed_models(), find_model(), is_ggml_file(). Next file: settings_check.cpp (finds a backend's model) or cli/models.cpp (lists them).
#pragma once

#include <app/load_settings.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hearonce::app {

struct installed_model {
    std::string name;
    std::filesystem::path file;
    std::uint64_t size_bytes = 0;
    std::filesystem::file_time_type installed_at;
};

// Where models are looked for, the first that has a name wins: the user's folder, then the system's.
std::vector<std::filesystem::path> model_folders(const settings_sources& from);
// Every ggml-NAME.bin in them, ordered by name; unreadable folders hold none.
std::vector<installed_model> installed_models(const settings_sources& from);
// A path (it has a slash or ends in .bin) or the name of an installed model, to its file; nullopt when there is none.
std::optional<std::filesystem::path> find_model(const settings_sources& from, const std::string& model);

// True if it begins like one: what a failed download left behind seldom does.
bool is_ggml_file(const std::filesystem::path& file);

}  // namespace hearonce::app
