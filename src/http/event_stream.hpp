// The answer to `stream=true`: server-sent events in OpenAI's shapes, the type in the JSON and no `event:` line.
//
// Holds: event_stream_type, delta_event(), piece_events(), turn_events(), done_event(), error_event(), render_events(). Pure.
// Next file: error_response.hpp.
#pragma once

#include <http/render.hpp>

#include <string>
#include <string_view>

namespace hearonce::http {

inline constexpr std::string_view event_stream_type = "text/event-stream";

// The records of an event stream (`stream=true`), each complete with its blank line and, where an upstream said more than the
// text, with that. Joined deltas equal the text of `done`;
// some clients show deltas only, so a `done` never comes without one, even when the text is empty.
std::string delta_event(std::string_view text);
std::string piece_events(const transcript_delta& piece);
// A record for each speaker's turn.
std::string turn_events(const transcript& heard);
std::string done_event(const transcript& heard);
// An error after the stream has begun: a record with `error`, on which SDKs raise. The stream ends with it.
std::string error_event(std::string_view error_json);
// The whole stream for a caller whose flight did not stream: one delta with everything, for diarized_json a record for each
// speaker's turn, then done.
std::string render_events(const transcript& heard, const shape& wanted = {});

}  // namespace hearonce::http
