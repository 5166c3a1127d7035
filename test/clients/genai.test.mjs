// Google's own client against the upstream double: what it sends is taken, and what it gets it understands. So the double, against which
// the gateway's Gemini backend is tested, speaks Gemini's language.
//
// GENAI_CLIENT names the installed release: genai2 (which says /v1beta) or genai3 (/v1).
import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';

import { header, newRecording, sha256, startUpstream, textOf } from './upstream.mjs';

const release = process.env.GENAI_CLIENT || 'genai3';
const version = release === 'genai2' ? 'v1beta' : 'v1';
const { ApiError, GoogleGenAI } = await import(release);

const key = 'AIza-right';
let upstream;
before(async () => {
    upstream = await startUpstream('--key', key);
});
beforeEach(() => upstream.reset());
after(async () => {
    await upstream?.stop();
});

const connect = (apiKey = key) => new GoogleGenAI({ apiKey, httpOptions: { baseUrl: upstream.url } });
const contents = (bytes, mimeType = 'audio/wav') => [{ role: 'user', parts: [{ inlineData: { mimeType, data: bytes.toString('base64') } }, { text: 'Transcribe.' }] }];

it(`${release}: hears a recording`, async () => {
    const bytes = newRecording();
    const answer = await connect().models.generateContent({ model: 'gemini-3.8-flash', contents: contents(bytes), config: { temperature: 0, thinkingConfig: { thinkingLevel: 'LOW' } } });
    // Thoughts are no part of it.
    assert.equal(answer.text, textOf(bytes));
    assert.equal(answer.candidates[0].finishReason, 'STOP');
    assert.ok(answer.usageMetadata.totalTokenCount > 0);
    const sent = await upstream.onlyCall();
    assert.equal(sent.path, `/${version}/models/gemini-3.8-flash:generateContent`);
    assert.equal(header(sent, 'x-goog-api-key'), key);
    assert.deepEqual(sent.files.map((file) => [file.type, file.bytes, file.sha256]), [['audio/wav', bytes.length, sha256(bytes)]]);
});

it(`${release}: hears a recording piece by piece`, async () => {
    const bytes = newRecording();
    const pieces = [];
    for await (const piece of await connect().models.generateContentStream({ model: 'gemini-3.8-flash', contents: contents(bytes) })) pieces.push(piece);
    assert.ok(pieces.length > 2);
    assert.equal(pieces.map(({ text }) => text ?? '').join(''), textOf(bytes));
    assert.equal(pieces.at(-1).candidates[0].finishReason, 'STOP');
    const sent = await upstream.onlyCall();
    assert.deepEqual([sent.path, sent.query], [`/${version}/models/gemini-3.8-flash:streamGenerateContent`, 'alt=sse']);
});

it(`${release}: gets JSON of a schema`, async () => {
    const bytes = newRecording();
    const schema = {
        type: 'OBJECT', required: ['segments'],
        properties: { segments: { type: 'ARRAY', items: { type: 'OBJECT', required: ['text'], properties: { text: { type: 'STRING' } } } } },
    };
    const answer = await connect().models.generateContent({
        model: 'gemini-3.8-flash', contents: contents(bytes), config: { responseMimeType: 'application/json', responseSchema: schema },
    });
    assert.equal(JSON.parse(answer.text).segments.map(({ text }) => text).join(' '), textOf(bytes));
});

it(`${release}: asks the transcription model for the times of words`, async () => {
    const bytes = newRecording();
    const answer = await connect().models.generateContent({
        model: 'gemini-3.5-transcribe', contents: contents(bytes), config: { audioTranscriptionConfig: { languageCodes: ['de-DE'], wordTimestamp: true } },
    });
    const [, config] = (await upstream.onlyCall()).fields.find(([name]) => name === 'generationConfig');
    assert.deepEqual(JSON.parse(config).audioTranscriptionConfig, { languageCodes: ['de-DE'], wordTimestamp: true });
    const { audioTranscription: heard } = answer.candidates[0].content.parts.find((part) => part.audioTranscription);
    assert.deepEqual([heard.text, heard.languageCode, heard.words.map(({ word }) => word).join(' ')], [textOf(bytes), 'de-DE', textOf(bytes)]);
    for (const word of heard.words) assert.match(word.startOffset + word.endOffset, /^[\d.]+s[\d.]+s$/);
});

it(`${release}: is told why it gets nothing`, async () => {
    await upstream.faults('blocked', 'no_parts', 'max_tokens');
    const ask = (bytes) => connect().models.generateContent({ model: 'gemini-3.8-flash', contents: contents(bytes) });
    const blocked = await ask(newRecording());
    assert.deepEqual([blocked.promptFeedback.blockReason, blocked.text], ['SAFETY', undefined]);
    const unsafe = await ask(newRecording());
    assert.deepEqual([unsafe.candidates[0].finishReason, unsafe.text], ['SAFETY', undefined]);
    const bytes = newRecording();
    const cut = await ask(bytes);
    assert.equal(cut.candidates[0].finishReason, 'MAX_TOKENS');
    assert.ok(cut.text.length > 0 && textOf(bytes).startsWith(cut.text) && cut.text !== textOf(bytes));
});

const refusals = {
    'a wrong key': [{ apiKey: 'AIza-wrong' }, 400, 'INVALID_ARGUMENT', /API_KEY_INVALID/],
    'a model that there is not': [{ model: 'gemini-0' }, 404, 'NOT_FOUND', /gemini-0/],
    'a type of audio that is not taken': [{ type: 'audio/webm' }, 400, 'INVALID_ARGUMENT', /audio\/webm/],
    'too many calls': [{ fault: 'status=429, retry_after=17' }, 429, 'RESOURCE_EXHAUSTED', /"retryDelay":"17s"/],
    'the quota of a day': [{ fault: 'insufficient_quota' }, 429, 'RESOURCE_EXHAUSTED', /PerDay/],
    'too much work': [{ fault: 'status=503' }, 503, 'UNAVAILABLE', /./],
};
for (const [what, [{ apiKey, model = 'gemini-3.8-flash', type, fault }, status, word, detail]] of Object.entries(refusals)) {
    for (const how of ['generateContent', 'generateContentStream']) {
        it(`${release}: ${what}, by ${how}`, async () => {
            if (fault) await upstream.faults(fault);
            const error = await connect(apiKey).models[how]({ model, contents: contents(newRecording(), type) }).then(assert.fail, (why) => why);
            assert.ok(error instanceof ApiError, String(error));
            assert.equal(error.status, status);
            // The whole answer is its message.
            assert.match(error.message, new RegExp(`"${word}"`));
            assert.match(error.message.replace(/\s*:\s*/g, ':'), detail);
            assert.equal((await upstream.stats()).calls, 1, 'of itself it does not try again');
        });
    }
}

it(`${release}: tries again when it is told to`, async () => {
    await upstream.faults('status=503', 'none');
    const bytes = newRecording();
    const patient = new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: upstream.url, retryOptions: { attempts: 2, initialDelay: 0.01 } } });
    assert.equal((await patient.models.generateContent({ model: 'gemini-3.8-flash', contents: contents(bytes) })).text, textOf(bytes));
    assert.equal((await upstream.stats()).calls, 2);
});

for (const fault of ['cut_sse=mid_record', 'sse_error', 'reset=after_head', 'reset=after_body']) {
    it(`${release}: notices a stream with ${fault}`, async () => {
        await upstream.faults(fault);
        await assert.rejects(async () => {
            for await (const piece of await connect().models.generateContentStream({ model: 'gemini-3.8-flash', contents: contents(newRecording()) })) {
                assert.notEqual(piece.candidates?.[0]?.finishReason, 'STOP');
            }
        });
    });
}

it(`${release}: that leaves is seen to leave`, async () => {
    await upstream.faults('pace=60s');
    const stop = new AbortController();
    const reading = async () => {
        const config = { abortSignal: stop.signal };
        for await (const piece of await connect().models.generateContentStream({ model: 'gemini-3.8-flash', contents: contents(newRecording()), config })) {
            assert.equal(piece.candidates[0].finishReason, undefined);
            stop.abort();
        }
    };
    await assert.rejects(reading());
    while ((await upstream.stats()).aborted_by_peer !== 1) await new Promise(setImmediate);
    const { left, in_flight: inFlight } = await upstream.stats();
    assert.deepEqual([left.map(({ during }) => during), inFlight], [['answer'], 0]);
    assert.ok(left[0].after_ms < 30000);
});

it(`${release}: lists the models`, async () => {
    const names = [];
    for await (const one of await connect().models.list()) names.push(one.name);
    assert.ok(names.includes('models/gemini-3.5-transcribe'), names.join(' '));
    assert.equal((await connect().models.get({ model: 'gemini-3.8-flash' })).name, 'models/gemini-3.8-flash');
});
