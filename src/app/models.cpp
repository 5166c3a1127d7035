// Next file: settings_check.cpp.
#include <app/models.hpp>

#include <app/settings_layers.hpp>

#include <algorithm>
#include <fstream>

namespace hearonce::app {

namespace fs = std::filesystem;

std::vector<fs::path> model_folders(const settings_sources& from) {
    std::vector<fs::path> folders;
    if (const auto data = variable_of(from.variables, "XDG_DATA_HOME"); data && fs::path(*data).is_absolute()) {
        folders.push_back(fs::path(*data) / "hearonce" / "models");
    } else if (const auto home = variable_of(from.variables, "HOME")) {
        folders.push_back(fs::path(*home) / ".local" / "share" / "hearonce" / "models");
    }
    folders.push_back(from.system_models);
    return folders;
}

std::vector<installed_model> installed_models(const settings_sources& from) {
    constexpr std::string_view head = "ggml-";
    constexpr std::string_view tail = ".bin";
    std::vector<installed_model> all;
    for (const fs::path& folder : model_folders(from)) {
        std::error_code ec;
        // Stepped by hand: the range form throws when the folder goes away underway.
        for (fs::directory_iterator entry(folder, ec), end; !ec && entry != end; entry.increment(ec)) {
            const std::string file = entry->path().filename().string();
            if (!file.starts_with(head) || !file.ends_with(tail) || file.size() <= head.size() + tail.size()) continue;
            installed_model one{file.substr(head.size(), file.size() - head.size() - tail.size()), entry->path(), 0, {}};
            std::error_code unreadable;
            if (!entry->is_regular_file(unreadable)) continue;
            one.size_bytes = entry->file_size(unreadable);
            one.installed_at = entry->last_write_time(unreadable);
            // Voice activity models lie in the same folder and transcribe nothing.
            if (unreadable || one.name.starts_with("silero")) continue;
            if (std::ranges::find(all, one.name, &installed_model::name) == all.end()) all.push_back(std::move(one));
        }
    }
    std::ranges::sort(all, {}, &installed_model::name);
    return all;
}

std::optional<fs::path> find_model(const settings_sources& from, const std::string& model) {
    std::error_code ec;
    if (model.find('/') != std::string::npos || model.ends_with(".bin")) {
        return fs::is_regular_file(model, ec) ? std::optional<fs::path>(model) : std::nullopt;
    }
    for (const installed_model& one : installed_models(from)) {
        if (one.name == model) return one.file;
    }
    return std::nullopt;
}

bool is_ggml_file(const fs::path& file) {
    constexpr std::string_view magic = "lmgg";  // 0x67676d6c, little-endian.
    std::string begin(magic.size(), '\0');
    std::ifstream stream(file, std::ios::binary);
    stream.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    return stream && begin == magic;
}

}  // namespace hearonce::app
