// Writes down what makes a piece of work, in one order and without ambiguity, and hashes it.
//
// Holds: key_material(), work_key_of(). Next file: dispatcher.cpp.
#include <work/work_key.hpp>

#include <boost/container/small_vector.hpp>

#include <openssl/sha.h>

#include <algorithm>
#include <cassert>
#include <cstdint>

namespace hearonce::work {
namespace {

// Changes when the list below does: instances of two versions that share a store then never misread each other.
constexpr std::string_view key_version = "hearonce-work-1";

void put_number(std::string& out, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>((number >> shift) & 0xff));
}

void put_text(std::string& out, std::string_view text) {
    put_number(out, text.size());
    out.append(text);
}

// Names in order, the values of one name as they came: their order can change the result, the order of the names cannot.
void put_fields(std::string& out, const std::vector<form_field>& fields) {
    boost::container::small_vector<const form_field*, 24> sorted;
    for (const form_field& field : fields) {
        assert(!field.name.empty());
        // An empty value is the same as none; it is left out here as well, whoever filled the request.
        if (!field.value.empty()) sorted.push_back(&field);
    }
    // The fields stand in one array, so the addresses keep the order in which equal names came.
    std::sort(sorted.begin(), sorted.end(), [](const form_field* left, const form_field* right) {
        const int order = left->name.compare(right->name);
        return order != 0 ? order < 0 : left < right;
    });
    put_number(out, sorted.size());
    for (const form_field* field : sorted) {
        put_text(out, field->name);
        put_text(out, field->value);
    }
}

std::size_t material_size_guess(std::string_view principal, std::string_view device, std::span<const std::string> route,
                                const transcription_request& request) {
    std::size_t size = 256 + principal.size() + device.size() + request.model.size();
    for (const std::string& name : route) size += 8 + name.size();
    for (const form_field& field : request.fields) size += 16 + field.name.size() + field.value.size();
    return size;
}

}  // namespace

std::string key_material(std::string_view principal, std::string_view device, const sha256_digest& audio,
                         std::span<const std::string> route, const transcription_request& request) {
    std::string out;
    out.reserve(material_size_guess(principal, device, route, request));
    put_text(out, key_version);
    put_text(out, principal);
    put_text(out, device);
    put_text(out, std::string_view(reinterpret_cast<const char*>(audio.data()), audio.size()));
    put_number(out, static_cast<std::uint64_t>(request.task));
    put_number(out, route.size());
    for (const std::string& name : route) put_text(out, name);
    put_text(out, request.model);
    put_fields(out, request.fields);
    put_number(out, static_cast<std::uint64_t>(detail_of(request.format)));
    return out;
}

work_key work_key_of(std::string_view principal, std::string_view device, const sha256_digest& audio, std::span<const std::string> route,
                     const transcription_request& request) {
    const std::string material = key_material(principal, device, audio, route, request);
    work_key key;
    SHA256(reinterpret_cast<const unsigned char*>(material.data()), material.size(), reinterpret_cast<unsigned char*>(key.bytes.data()));
    return key;
}

}  // namespace hearonce::work
