// The helper's life under the gateway: take jobs from the socket, run them, tell how they ended.
//
// Holds: serve(). Next file: decode.hpp.
#pragma once

#include <backends/whisper/protocol.hpp>
#include <backends/whisper/worker/model.hpp>
#include <backends/whisper/worker/options.hpp>

#include <atomic>
#include <cstddef>
#include <functional>

namespace hearonce::whisper {

// Says `ready` (or `broken`, when the model or the sandbox fails) on the socket and works until it ends. Never returns:
// the process ends with 0 when the gateway closed the socket, 1 when it cannot work, 3 when the gateway says nonsense.
[[noreturn]] void serve(const options& wanted);

// Told where a job is: samples decoded so far, 0 until all are; and whether the next word may take long.
using step_teller = std::function<void(std::size_t samples, bool quiet)>;

// Told each piece of the text as it is heard, when the job wishes it.
using text_teller = std::function<void(std::string text)>;

// Decodes and recognises the file at `descriptor`: what a job is, also by hand.
result<transcript> run_job(const model& with, int descriptor, const start_job& wishes, const options& settings,
                           const std::atomic<bool>& cancelled, const step_teller& step, const text_teller& heard);

}  // namespace hearonce::whisper
