// The configured backends. Next files: backends/openai/openai_backend.cpp, backends/gemini/gemini_backend.cpp,
// backends/whisper/whisper_backend.cpp.
#include <app/make_backends.hpp>
#include <app/part_settings.hpp>
#include <app/settings_check.hpp>
#include <backends/gemini/gemini_backend.hpp>
#include <backends/openai/openai_backend.hpp>
#include <backends/whisper/whisper_backend.hpp>
#include <observe/log.hpp>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace hearonce::app {

namespace {

whisper::whisper_settings whisper_settings_of(const backend_settings& configured) {
    whisper::whisper_settings made;
    made.name = configured.name;
    made.model = configured.model_path;
    made.helper = helper_path();
    // It claims its own model's name only: other names reach it as the default backend.
    made.models = claimed_models(configured);
    made.default_model = configured.models.empty() && !made.models.empty() ? made.models.front() : configured.name;
    if (configured.default_model) made.default_model = *configured.default_model;
    if (configured.threads) made.threads = *configured.threads;
    if (configured.slots) made.slots = *configured.slots;
    if (configured.queue) made.queue = *configured.queue;
    made.no_context = configured.no_context;
    made.deadline_per_audio_second = configured.deadline_per_audio_second;
    made.progress_timeout = configured.progress_timeout;
    made.log = [name = configured.name](const std::string& line) { observe::say(observe::log_level::info, line, {{"backend", name}}); };
    return made;
}

std::function<void(const std::string&)> warnings_of_backend(std::string name) {
    return [name = std::move(name)](const std::string& line) { observe::say(observe::log_level::warn, line, {{"backend", name}}); };
}

net::tls_context tls_of(const backend_settings& configured) {
    auto made = net::make_tls_context(configured.ca_file);
    if (!made) throw std::runtime_error("backends." + configured.name + (configured.ca_file ? ".ca_file: " : ": ") + made.error());
    return *made;
}

bool is_glob(std::string_view name) noexcept {
    return name.find_first_of("*?[") != std::string_view::npos;
}

// What every provider's backend takes; its own settings begin with their defaults.
template <class Settings>
Settings cloud_settings_of(const backend_settings& configured, const settings& wanted) {
    Settings made;
    made.name = configured.name;
    if (configured.base_url) made.base_url = *configured.base_url;
    made.credential = configured.credential;
    made.callers_keys = wanted.auth.mode == auth_mode::own_key;
    made.models = claimed_models(configured);
    if (configured.default_model) made.default_model = *configured.default_model;
    made.model_alias = configured.model_alias;
    made.max_in_flight = configured.max_in_flight;
    if (made.base_url.starts_with("https:")) made.tls = tls_of(configured);
    made.deadline = time_rule_of(wanted);
    made.log = warnings_of_backend(configured.name);
    return made;
}

openai::openai_settings openai_settings_of(const backend_settings& configured, const settings& wanted) {
    auto made = cloud_settings_of<openai::openai_settings>(configured, wanted);
    // Another server has models of its own: the first it is given by name stands for an absent one.
    const auto named = std::ranges::find_if_not(configured.models, is_glob);
    if (!configured.default_model && named != configured.models.end()) made.default_model = *named;
    return made;
}

// Media files are decoded outside this process only, so this needs the helper, also where nothing is recognised here.
std::shared_ptr<whisper::transcoder> transcoder_of(const backend_settings& configured) {
    whisper::transcode_settings made;
    made.helper = helper_path();
    made.jobs_max = std::max(1U, std::thread::hardware_concurrency());
    made.log = warnings_of_backend(configured.name);
    return whisper::create_transcoder(std::move(made));
}

gemini::gemini_settings gemini_settings_of(const backend_settings& configured, const settings& wanted) {
    auto made = cloud_settings_of<gemini::gemini_settings>(configured, wanted);
    made.transcoder = transcoder_of(configured);
    return made;
}

}  // namespace

std::filesystem::path helper_path() {
    std::error_code ignored;
    const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
    auto beside = here / "hearonce-whisper";
    for (const auto& candidate :
         {beside, here.parent_path() / "libexec" / "hearonce-whisper", here.parent_path() / "libexec/hearonce/hearonce-whisper"}) {
        if (std::filesystem::exists(candidate, ignored)) return candidate;
    }
    return beside;
}

std::vector<std::shared_ptr<backend>> make_backends(const settings& wanted, boost::asio::any_io_executor home) {
    std::vector<std::shared_ptr<backend>> made;
    for (const auto& configured : wanted.backends) {
        if (configured.kind == backend_kind::whisper && wanted.auth.mode == auth_mode::own_key && !wanted.auth.own_key_local) {
            // Any text passes for a key there, so without this the engine would work for everybody.
            observe::say(observe::log_level::info, "auth.own_key_local is false: the local engine takes no work in mode own-key",
                         {{"backend", configured.name}});
        } else if (configured.kind == backend_kind::whisper) {
            made.push_back(whisper::create_whisper_backend(home, whisper_settings_of(configured)));
        } else if (configured.kind == backend_kind::openai) {
            made.push_back(openai::create_openai_backend(openai_settings_of(configured, wanted)));
        } else {
            made.push_back(gemini::create_gemini_backend(gemini_settings_of(configured, wanted)));
        }
    }
    return made;
}

}  // namespace hearonce::app
