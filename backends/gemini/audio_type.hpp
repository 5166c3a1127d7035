// Under which media type a recording goes out, and whether it must be changed into another kind first. Pure functions.
//
// Holds: audio_type_of(). Next file: request_text.hpp.
#pragma once

#include <hearonce/audio.hpp>

#include <string>

namespace hearonce::gemini {

// The type for a model of the given kind (model.hpp: is_transcriber()). Empty: the model does not take this container, so
// it has to be decoded and sent as FLAC. By what the bytes show; where they show nothing, a type of the caller's that the
// model takes is believed.
std::string audio_type_of(const recording& audio, bool transcriber);

}  // namespace hearonce::gemini
