// From samples to a transcript, by whisper.cpp.
//
// Holds: recognise(). Next file: serve.hpp.
#pragma once

#include <backends/whisper/protocol.hpp>
#include <backends/whisper/worker/model.hpp>

#include <atomic>
#include <functional>
#include <vector>

namespace hearonce::whisper {

struct recognise_settings {
    int threads = 1;
    bool no_context = false;
};

// Runs on the calling thread (and `threads` - 1 of the library's). `step` is called at every encoder pass and decoder
// step, perhaps from another thread. `cancelled` is looked at there as well and ends the run with errc::cancelled.
// `quiet` is called once before what comes without a step however long it takes: memory, spectrum, language.
// `heard` is called with each piece of the text as it comes when the job wishes it, on the calling thread.
// invalid_parameter: a language the model does not know. `samples` has samples_min of them at least.
result<transcript> recognise(const model& with, const std::vector<float>& samples, const start_job& wishes,
                             const recognise_settings& settings, const std::atomic<bool>& cancelled, const std::function<void()>& step,
                             const std::function<void()>& quiet, const std::function<void(std::string)>& heard);

}  // namespace hearonce::whisper
