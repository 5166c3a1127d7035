// Placeholder of the local engine until its parts are here: a backend that says it is not ready.
#include <backends/whisper/whisper_backend.hpp>

namespace hearonce::whisper {
namespace {

class absent_backend final : public whisper_backend {
public:
    explicit absent_backend(whisper_settings settings) : settings_(std::move(settings)) {}
    std::string_view name() const noexcept override { return settings_.name; }
    backend_state state() const override { return {false, "the local engine is not built yet"}; }
    std::vector<std::string> models() const override { return settings_.models; }
    std::string default_model() const override { return settings_.default_model; }
    result<void> supports(const transcription_request&) const override { return {}; }
    boost::asio::awaitable<result<transcript>> transcribe(std::shared_ptr<const recording>, transcription_request, deadline) override {
        co_return error(errc::upstream_error, "The local engine is not ready.");
    }
    whisper_counts counts() const noexcept override { return {}; }
    int helper_pid() const noexcept override { return 0; }

private:
    whisper_settings settings_;
};

}  // namespace

std::shared_ptr<whisper_backend> create_whisper_backend(boost::asio::any_io_executor, whisper_settings settings) {
    return std::make_shared<absent_backend>(std::move(settings));
}

}  // namespace hearonce::whisper
