// Next file: send.cpp.
#include <cli/device_id.hpp>

#include <hearonce/ascii.hpp>

#include <openssl/rand.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace hearonce::cli {
namespace {

std::string variable(const app::environment& variables, std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
}

std::string kept(const std::filesystem::path& file) {
    const auto text = app::read_private_file(file);
    std::string id = text ? *text : std::string();
    while (id.ends_with('\n') || id.ends_with('\r')) id.pop_back();
    return valid_device_id(id) ? id : std::string();
}

}  // namespace

std::string random_hex(std::size_t bytes) {
    std::vector<unsigned char> random(bytes);
    if (RAND_bytes(random.data(), static_cast<int>(bytes)) != 1) throw std::runtime_error("the system gives no random bytes");
    return ascii::hex_of(std::as_bytes(std::span(random)));
}

bool valid_device_id(std::string_view id) noexcept {
    return !id.empty() && id.size() <= 128 && id.front() != ' ' && id.back() != ' ' &&
           std::ranges::all_of(id, [](char c) { return c >= 0x20 && c < 0x7f; });
}

boost::system::result<std::string, app::file_problem> stored_device_id(const app::environment& variables) {
    std::filesystem::path folder = variable(variables, "XDG_STATE_HOME");
    if (!folder.is_absolute()) {
        const std::string home = variable(variables, "HOME");
        if (home.empty())
            return app::file_problem("hearonce/device-id", "there is no folder for it: neither XDG_STATE_HOME nor HOME is set");
        folder = std::filesystem::path(home) / ".local" / "state";
    }
    folder /= "hearonce";
    const auto file = folder / "device-id";
    if (std::string id = kept(file); !id.empty()) return id;
    std::error_code ec;
    std::filesystem::create_directories(folder, ec);
    // Two first calls at one time must end up with one id.
    const app::folder_lock lock(folder);
    if (std::string id = kept(file); !id.empty()) return id;
    std::string id = random_hex(16);
    const auto written = app::write_private_file(file, id + "\n");
    if (!written) return written.error();
    return id;
}

}  // namespace hearonce::cli
