// OpenAI's own client against the upstream double, where it goes wrong: the client understands it, and what it does then is counted.
// That it understands right answers, cloud.test.mjs shows.
//
// OPENAI_CLIENT names the installed release.
import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';

import { newRecording, sha256, startUpstream, textOf } from './upstream.mjs';

const release = process.env.OPENAI_CLIENT || 'openai6';
const { default: OpenAI, toFile } = await import(release);

let upstream;
before(async () => {
    upstream = await startUpstream();
});
beforeEach(() => upstream.reset());
after(async () => {
    await upstream?.stop();
});

const connect = (prefix = '/v1') => new OpenAI({ apiKey: 'sk-test', baseURL: `${upstream.url}${prefix}` });
const hear = async (bytes, fields = {}, options = {}, one = connect()) =>
    one.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'whisper-1', ...fields }, options);
const refusal = (promise) => promise.then(() => assert.fail('it was not refused'), (why) => why);

it(`${release}: tries again what may be tried again, each time counted`, async () => {
    await upstream.faults('status=503, retry_after_ms=1', 'reset=after_body', 'none');
    const bytes = newRecording();
    assert.equal((await hear(bytes, {}, { maxRetries: 2 })).text, textOf(bytes));
    const { calls, by_sha256: bySha256, by_status: byStatus } = await upstream.stats();
    assert.deepEqual([calls, bySha256, byStatus], [3, { [sha256(bytes)]: 3 }, { 200: 1, 503: 1 }]);
});

for (const fault of ['sse_error', 'cut_sse=mid_record', 'reset=after_head']) {
    it(`${release}: notices a stream with ${fault}, asked for in a prompt`, async () => {
        let joined = '';
        await assert.rejects(async () => {
            for await (const event of await hear(newRecording(), { model: 'gpt-4o-transcribe', stream: true, prompt: `fault: ${fault}` })) {
                assert.equal(event.type, 'transcript.text.delta');
                joined += event.delta;
            }
        });
        assert.ok(fault === 'reset=after_head' || joined.length > 0);
    });
}

const refusals = {
    'a format of another model': [{ model: 'gpt-4o-transcribe', response_format: 'srt' }, 400, 'unsupported_value'],
    'a model that there is not': [{ model: 'whisper-9' }, 404, 'model_not_found'],
    'a wrong key': [{ prompt: 'fault: key_invalid' }, 401, 'invalid_api_key'],
    'a wrong key, early': [{ prompt: 'fault: early_401' }, 401, 'invalid_api_key'],
    'no money': [{ prompt: 'fault: insufficient_quota' }, 429, 'insufficient_quota'],
};
for (const [what, [fields, status, code]] of Object.entries(refusals)) {
    it(`${release}: is refused for ${what}`, async () => {
        const error = await refusal(hear(newRecording(), fields, { maxRetries: 0 }));
        assert.deepEqual([error.status, error.code], [status, code]);
    });
}

it(`${release}: that leaves is seen to leave`, async () => {
    const stop = new AbortController();
    const bytes = newRecording();
    const going = refusal(hear(bytes, { prompt: 'fault: hang' }, { signal: stop.signal, maxRetries: 0 }));
    while ((await upstream.stats()).by_sha256[sha256(bytes)] !== 1) await new Promise(setImmediate);
    stop.abort();
    await going;
    while ((await upstream.stats()).aborted_by_peer !== 1) await new Promise(setImmediate);
    const { left, in_flight: inFlight } = await upstream.stats();
    assert.deepEqual([left.map(({ during }) => during), inFlight], [['waiting'], 0]);
});

it(`${release}: finds the models and Groq's prefix`, async () => {
    assert.ok((await connect().models.list()).data.some(({ id }) => id === 'gpt-transcribe'));
    assert.equal((await connect().models.retrieve('whisper-1')).shutdown_date, '2027-02-26');
    const bytes = newRecording();
    assert.equal((await hear(bytes, { model: 'whisper-large-v3' }, {}, connect('/openai/v1'))).text, textOf(bytes));
});
