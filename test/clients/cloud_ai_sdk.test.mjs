// Vercel's AI SDK through the gateway to a server of OpenAI's API, against the same SDK asking that server by itself. Next file:
// groq.test.mjs.
import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';

import { createOpenAI } from '@ai-sdk/openai';
import { transcribe } from 'ai';

import { cacheStatus, startGateway } from './gateway.mjs';
import { callersFields, newRecording, sha256, startUpstream, textOf } from './upstream.mjs';

let upstream;
let gateway;
let through;
let direct;
let responses = [];

before(async () => {
    upstream = await startUpstream();
    gateway = await startGateway({ 'backends.cloud.kind': 'openai', 'backends.cloud.base_url': `${upstream.url}/v1`, 'retry.attempts': '1' });
    const connect = (url) => createOpenAI({
        apiKey: 'unused',
        baseURL: `${url}/v1`,
        fetch: async (...args) => {
            const response = await fetch(...args);
            responses.push(response);
            return response;
        },
    });
    through = connect(gateway.url);
    direct = connect(upstream.url);
});
beforeEach(async () => {
    await upstream.reset();
    responses = [];
});
after(async () => {
    await gateway?.stop();
    await upstream?.stop();
});

const cases = {
    'whisper-1 as it is': ['whisper-1', {}],
    'whisper-1 with every option': ['whisper-1', { language: 'de', prompt: 'Zoë\n"note"', temperature: 0.2, timestampGranularities: ['word', 'segment'] }],
    'gpt-4o-transcribe as it is': ['gpt-4o-transcribe', {}],
    'gpt-4o-transcribe with probabilities': ['gpt-4o-transcribe', { include: ['logprobs'], prompt: 'note' }],
    'gpt-transcribe': ['gpt-transcribe', { language: 'en' }],
    'speakers': ['gpt-4o-transcribe-diarize', {}],
    'speakers with settings that it sends as JSON': ['gpt-4o-transcribe-diarize', {
        chunkingStrategy: { type: 'server_vad', threshold: 0.5 }, knownSpeakerNames: ['anna'], knownSpeakerReferences: ['data:audio/wav;base64,UklGRg=='],
    }],
};
for (const [what, [model, options]] of Object.entries(cases)) {
    it(`${what}: as without the gateway`, async () => {
        const bytes = newRecording();
        const ask = async (provider) => transcribe({ model: provider.transcription(model), audio: bytes, providerOptions: { openai: options }, maxRetries: 0 });
        const expected = await ask(direct);
        const asked = await upstream.onlyCall();
        await upstream.reset();
        const answer = await ask(through);
        const sent = await upstream.onlyCall();
        for (const key of ['text', 'segments', 'language', 'durationInSeconds', 'warnings', 'providerMetadata']) assert.deepEqual(answer[key], expected[key], key);
        assert.equal(answer.text, textOf(bytes));
        // With json, granularities mean nothing and are not sent on.
        const timed = sent.fields.some(([, value]) => value === 'verbose_json');
        assert.deepEqual(callersFields(sent), callersFields(asked).filter(([name]) => timed || !name.startsWith('timestamp_granularities')));
        assert.deepEqual(sent.fields.filter(([name]) => name === 'model'), [['model', model]]);
        assert.deepEqual(sent.files.map((file) => [file.type, file.sha256]), [['audio/wav', sha256(bytes)]]);
    });
}

it('two equal uploads at once are one call', async () => {
    await upstream.always('delay=300ms');
    const bytes = newRecording();
    const ask = () => transcribe({ model: through.transcription('whisper-1'), audio: bytes });
    const answers = await Promise.all([ask(), ask()]);
    assert.deepEqual(responses.map(cacheStatus).sort(), ['collapsed', 'miss stored']);
    assert.deepEqual(answers.map(({ text }) => text), [textOf(bytes), textOf(bytes)]);
    assert.deepEqual((await upstream.stats()).by_sha256, { [sha256(bytes)]: 1 });
});

it('obeys Retry-After, and its second request succeeds', async () => {
    await upstream.faults('status=429, retry_after=1');
    const bytes = newRecording();
    const began = performance.now();
    const answer = await transcribe({ model: through.transcription('gpt-transcribe'), audio: bytes });
    // Of itself it would wait for two seconds.
    const waited = performance.now() - began;
    assert.ok(waited >= 990 && waited < 1900, `${waited} ms`);
    assert.equal(answer.text, textOf(bytes));
    assert.deepEqual(responses.map(({ status }) => status), [429, 200]);
});

it('shows the reason of a refusal', async () => {
    await upstream.always('insufficient_quota');
    await assert.rejects(transcribe({ model: through.transcription('gpt-transcribe'), audio: newRecording(), maxRetries: 0 }),
        (error) => error.statusCode === 429 && error.data?.error?.code === 'insufficient_quota' && error.message.length > 10);
});
