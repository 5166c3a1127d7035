// Next file: event_stream.cpp.
#include <net/framed_recording_body.hpp>

#include <utility>

namespace hearonce::net {

namespace asio = boost::asio;

framed_recording_body::framed_recording_body(std::string prefix, std::shared_ptr<const stored_bytes> recording, std::string suffix)
    : prefix_(std::move(prefix)), reader_(std::move(recording)), suffix_(std::move(suffix)) {}

// As much in one batch as can be had without waiting, so that a recording in memory leaves in one write with its frame.
body_batch framed_recording_body::next() {
    batch_.clear();
    if (!std::exchange(prefix_given_, true) && !prefix_.empty()) batch_.push_back(asio::buffer(prefix_));
    while (!suffix_given_ && batch_.size() < batch_buffers_max) {
        const body_batch more = reader_.next(batch_buffers_max - batch_.size());
        if (more.step != body_step::given) {
            // What is there goes first; the reader says the same again.
            if (batch_.empty()) return more;
            break;
        }
        batch_.insert(batch_.end(), more.buffers.begin(), more.buffers.end());
        if (!more.buffers.empty()) continue;
        suffix_given_ = true;
        if (!suffix_.empty()) batch_.push_back(asio::buffer(suffix_));
    }
    return {body_step::given, batch_};
}

void framed_recording_body::rewind() {
    reader_.rewind();
    prefix_given_ = false;
    suffix_given_ = false;
}

}  // namespace hearonce::net
