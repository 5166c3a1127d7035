// Vercel's AI SDK against the gateway: it asks for segments by itself and refuses any answer that lacks one of their keys.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, it } from 'node:test';

import { createOpenAI } from '@ai-sdk/openai';
import { transcribe } from 'ai';

import { cacheStatus, said, startGateway, wav } from './gateway.mjs';

let gateway;
let responses = [];
let provider;
before(async () => {
    gateway = await startGateway();
    provider = createOpenAI({
        apiKey: 'unused',
        baseURL: `${gateway.url}/v1`,
        fetch: async (...args) => {
            const response = await fetch(...args);
            responses.push(response);
            return response;
        },
    });
});
after(async () => {
    await gateway?.stop();
});

it('reads the transcript, its segments, language and length', async () => {
    const answer = await transcribe({ model: provider.transcription('whisper-1'), audio: fs.readFileSync(wav('hello-world')) });
    assert.equal(answer.text.trim(), said('hello-world'));
    assert.equal(answer.language, 'en');
    assert.ok(answer.segments.length > 0);
    assert.ok(answer.durationInSeconds > 0.5);
});

it('finds its own finished result', async () => {
    const ask = () => transcribe({ model: provider.transcription('whisper-1'), audio: fs.readFileSync(wav('call-back-today')) });
    responses = [];
    const first = await ask();
    const again = await ask();
    assert.deepEqual(responses.map(cacheStatus), ['miss stored', 'hit']);
    assert.deepEqual(again.segments, first.segments);
});

it('takes options that it sends all at once', async () => {
    const answer = await transcribe({
        model: provider.transcription('whisper-1'),
        audio: fs.readFileSync(wav('hello-world')),
        providerOptions: { openai: { language: 'en', prompt: 'note', temperature: 0, timestampGranularities: ['word'] } },
    });
    assert.equal(answer.text.trim(), said('hello-world'));
});

it('shows the reason of a refusal', async () => {
    await assert.rejects(transcribe({ model: provider.transcription('whisper-1'), audio: Buffer.alloc(5000, 'no audio'), maxRetries: 0 }),
        (error) => error.statusCode === 400 && error.message.length > 10 && error.data?.error?.code === 'unsupported_audio');
});
