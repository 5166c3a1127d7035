// Loading with the library's traps around it. Next file: recognise.cpp.
#include <backends/whisper/worker/model.hpp>

#include <ggml-backend.h>
#include <ggml.h>
#include <whisper.h>

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fstream>

namespace hearonce::whisper {
namespace {

void no_log(ggml_log_level, const char*, void*) {}

constexpr std::uint32_t magic = 0x67676d6c;  // "ggml"
constexpr std::size_t header_numbers = 11;   // n_vocab .. ftype
constexpr std::int32_t vocabulary_max = 1 << 20;
constexpr std::int32_t filter_numbers_max = 1 << 20;
constexpr std::uint32_t word_bytes_max = 1 << 16;

template <class T>
bool read(std::ifstream& from, T& value) {
    return static_cast<bool>(from.read(reinterpret_cast<char*>(&value), sizeof value));
}

// Walks over header, mel filters and vocabulary. What is wrong, or nothing when a first tensor follows. A file that ends
// before it would load as an "empty model for testing" and crash the first job.
std::string trouble_in(const std::string& path) {
    struct stat about{};
    if (::stat(path.c_str(), &about) != 0) return "there is no such file";
    if (!S_ISREG(about.st_mode)) return "it is not a file";
    std::ifstream from(path, std::ios::binary);
    if (!from) return "it cannot be read";
    std::uint32_t begins = 0;
    if (!read(from, begins) || begins != magic) return "it is not a ggml model of whisper.cpp";
    std::string cut = "it is cut short";
    std::array<std::int32_t, header_numbers> header{};
    std::array<std::int32_t, 2> filters{};
    if (!read(from, header) || !read(from, filters)) return cut;
    for (const std::int32_t number : header) {
        if (number < 0) return "its header is damaged";
    }
    if (filters[0] <= 0 || filters[1] <= 0 || filters[1] > filter_numbers_max / filters[0]) return "its header is damaged";
    from.ignore(static_cast<std::streamsize>(filters[0]) * filters[1] * 4);
    std::int32_t words = 0;
    if (!read(from, words)) return cut;
    if (words < 0 || words > vocabulary_max) return "its vocabulary is damaged";
    for (std::int32_t i = 0; i < words; ++i) {
        std::uint32_t bytes = 0;
        if (!read(from, bytes)) return cut;
        if (bytes > word_bytes_max) return "its vocabulary is damaged";
        from.ignore(bytes);
    }
    std::array<std::int32_t, 3> tensor{};
    return read(from, tensor) ? std::string() : "it holds no weights (a test model, or cut short)";
}

error bad_model(const std::string& path, const std::string& why) {
    return {errc::upstream_error, "The model " + path + " cannot be used: " + why + "."};
}

}  // namespace

void free_context::operator()(whisper_context* context) const noexcept {
    whisper_free(context);
}

std::string library_version() {
    return whisper_version();
}

result<model> load_model(const std::string& path) {
    if (const std::string why = trouble_in(path); !why.empty()) return bad_model(path, why);
    ::setenv("GGML_NO_BACKTRACE", "1", 1);  // A failed assertion would start a debugger.
    whisper_log_set(no_log, nullptr);
    ggml_log_set(no_log, nullptr);
    if (std::string(HEARONCE_GGML_BACKENDS).empty())
        ggml_backend_load_all();
    else
        ggml_backend_load_all_from_path(HEARONCE_GGML_BACKENDS);
    // Without one the library ends in an assertion.
    if (ggml_backend_dev_count() == 0)
        return error(errc::upstream_error, "No processor code of ggml was found in '" HEARONCE_GGML_BACKENDS "'.");
    try {
        whisper_context_params wanted = whisper_context_default_params();
        wanted.use_gpu = false;
        model loaded;
        loaded.context.reset(whisper_init_from_file_with_params_no_state(path.c_str(), wanted));
        if (!loaded.context) return bad_model(path, "it is damaged or there is not enough memory");
        loaded.multilingual = whisper_is_multilingual(loaded.context.get()) != 0;
        return loaded;
    } catch (const std::exception& thrown) {
        return bad_model(path, thrown.what());
    }
}

}  // namespace hearonce::whisper
