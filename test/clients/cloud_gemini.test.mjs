// OpenAI's own client through the gateway to Gemini, which speaks another language: what it asks for arrives in Gemini's words, and what it
// gets is OpenAI's.
//
// Next file: genai.test.mjs, which holds the double to Google's own client.
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';

import { cacheStatus, startGateway } from './gateway.mjs';
import { header, newRecording, sha256, startUpstream, textOf } from './upstream.mjs';

const release = process.env.OPENAI_CLIENT ?? 'openai7';
const { default: OpenAI, toFile } = await import(release);

const operatorsKey = 'AIza-operators';
let upstream;
let gateway;
let client;
before(async () => {
    upstream = await startUpstream('--key', operatorsKey);
    gateway = await startGateway({ 'backends.gemini.base_url': upstream.url, 'backends.gemini.api_key': operatorsKey, 'retry.attempts': '1' });
    client = new OpenAI({ apiKey: 'unused', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
});
beforeEach(() => upstream.reset());
after(async () => {
    await gateway?.stop();
    await upstream?.stop();
});

const ask = async (bytes, fields) => client.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'gemini-3.5-transcribe', ...fields });

for (const model of ['gemini-3.5-transcribe', 'gemini-3.8-flash']) {
    describe(`${release}: ${model}`, () => {
        it('json, text and the fields that Gemini has words for', async () => {
            const bytes = newRecording();
            const fields = { model, language: 'de', keywords: ['hearonce'], prompt: 'Zoë called' };
            assert.equal((await ask(bytes, fields)).text, textOf(bytes));
            const sent = await upstream.onlyCall();
            assert.equal(sent.path, `/v1beta/models/${model}:generateContent`);
            assert.deepEqual(sent.files.map((file) => [file.type, file.bytes, file.sha256]), [['audio/wav', bytes.length, sha256(bytes)]]);
            assert.equal(header(sent, 'x-goog-api-key'), operatorsKey);
            assert.deepEqual([header(sent, 'authorization'), sent.query.includes('key=')], [undefined, false]);
            assert.match(JSON.stringify(sent.fields), /hearonce/);
            // The transcription model takes no instructions.
            assert.equal(JSON.stringify(sent.fields).includes('Zoë called'), model !== 'gemini-3.5-transcribe');
            assert.match(JSON.stringify(sent.fields), /\bde\b|german/i);
            assert.equal(await ask(bytes, { ...fields, response_format: 'text' }), `${textOf(bytes)}\n`);
            assert.equal((await upstream.stats()).calls, 1);
        });

        it('segments and subtitles', async () => {
            const bytes = newRecording(2);
            const answer = await ask(bytes, { model, response_format: 'verbose_json' });
            assert.equal(answer.text, textOf(bytes));
            assert.ok(answer.segments.length > 0);
            assert.equal(answer.segments.map(({ text }) => text).join('').trim(), textOf(bytes));
            for (const segment of answer.segments) {
                for (const key of ['id', 'seek', 'start', 'end', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob']) assert.equal(typeof segment[key], 'number', key);
                assert.ok(Array.isArray(segment.tokens) && segment.end >= segment.start);
            }
            assert.match(await ask(bytes, { model, response_format: 'srt' }), /^1\n\d\d:\d\d:\d\d,\d{3} --> /);
            assert.match(await ask(bytes, { model, response_format: 'vtt' }), /^WEBVTT\n\n/);
            assert.equal((await upstream.stats()).calls, 1);
        });

        it('a stream', async () => {
            const bytes = newRecording();
            let deltas = '';
            let last;
            for await (const event of await ask(bytes, { model, stream: true })) {
                last = event;
                if (event.type === 'transcript.text.delta') deltas += event.delta;
            }
            assert.deepEqual([last.type, last.text, deltas], ['transcript.text.done', textOf(bytes), textOf(bytes)]);
            assert.equal((await upstream.onlyCall()).path, `/v1beta/models/${model}:streamGenerateContent`);
        });

        it('two equal uploads at once are one call', async () => {
            await upstream.always('delay=300ms');
            const bytes = newRecording();
            const one = async () => client.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model }).withResponse();
            const answers = await Promise.all([one(), one()]);
            assert.deepEqual(answers.map(({ response }) => cacheStatus(response)).sort(), ['collapsed', 'miss stored']);
            assert.deepEqual(answers.map(({ data }) => data.text), [textOf(bytes), textOf(bytes)]);
            assert.deepEqual((await upstream.stats()).by_sha256, { [sha256(bytes)]: 1 });
        });
    });
}

describe(`${release}: what Gemini refuses, in OpenAI's words`, () => {
    const cases = {
        'status=429, retry_after=40': [429, 'rate_limit_exceeded'],
        'insufficient_quota': [429, 'insufficient_quota'],
        'key_invalid': [502, 'upstream_error'],
        'html_502': [502, 'upstream_error'],
    };
    for (const [fault, [status, code]] of Object.entries(cases)) {
        it(fault, async () => {
            await upstream.always(fault);
            const error = await ask(newRecording()).then(assert.fail, (why) => why);
            assert.ok(error instanceof OpenAI.APIError, String(error));
            assert.deepEqual([error.status, error.code], [status, code], error.message);
            if (status === 429 && fault.includes('40')) assert.equal(error.headers.get('retry-after'), '40');
            assert.ok(!error.message.includes(operatorsKey));
            assert.equal((await upstream.stats()).calls, 1);
        });
    }
});

it(`${release}: a caller's own key reaches Gemini as Gemini wants it`, async () => {
    const own = await startGateway({ 'auth.mode': 'own-key', 'backends.gemini.base_url': upstream.url });
    try {
        const bytes = newRecording();
        for (const how of [{ apiKey: operatorsKey }, { apiKey: 'unused', defaultHeaders: { Authorization: null, 'x-goog-api-key': operatorsKey } }]) {
            const one = new OpenAI({ ...how, baseURL: `${own.url}/v1`, maxRetries: 0 });
            const answer = await one.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'gemini-3.5-transcribe' });
            assert.equal(answer.text, textOf(bytes));
        }
        const sent = (await upstream.stats()).last;
        for (const call of sent) assert.deepEqual([header(call, 'x-goog-api-key'), header(call, 'authorization')], [operatorsKey, undefined]);
        assert.ok(!own.log().includes(operatorsKey));
    } finally {
        await own.stop();
    }
});
