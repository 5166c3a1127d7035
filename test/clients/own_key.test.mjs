// OpenAI's own client under auth.mode = "own-key": its key reaches the provider, and nothing else of the caller or the operator does.
//
// OPENAI_CLIENT names the installed release. Next file: groq.test.mjs.
import assert from 'node:assert/strict';
import { after, before, beforeEach, it } from 'node:test';

import { cacheStatus, startGateway } from './gateway.mjs';
import { header, newRecording, startUpstream, textOf } from './upstream.mjs';

const release = process.env.OPENAI_CLIENT ?? 'openai7';
const { default: OpenAI, toFile } = await import(release);

const rightKey = 'sk-callers-own-0123456789';
const operatorsKey = 'sk-operators-0123456789';
let upstream;
let strict; // lets in the right key alone
let gateway;
let strictGateway;

const settings = (of) => ({ 'auth.mode': 'own-key', 'backends.openai.base_url': `${of.url}/v1`, 'backends.openai.api_key': operatorsKey, 'log.level': 'trace' });
before(async () => {
    upstream = await startUpstream();
    strict = await startUpstream('--key', rightKey);
    gateway = await startGateway(settings(upstream));
    strictGateway = await startGateway(settings(strict));
});
beforeEach(async () => {
    await upstream.reset();
    await strict.reset();
});
after(async () => {
    for (const one of [gateway, strictGateway]) {
        for (const key of [rightKey, operatorsKey, 'sk-wrong']) assert.ok(!one?.log().includes(key), 'a key is never logged');
    }
    for (const one of [gateway, strictGateway, upstream, strict]) await one?.stop();
});

const connect = (apiKey, options = {}, to = gateway) => new OpenAI({ apiKey, baseURL: `${to.url}/v1`, maxRetries: 0, ...options });
const ask = async (client, bytes = newRecording(), options = {}) =>
    client.audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'whisper-1' }, options).withResponse();

// What an HTTP request needs, and what it is about; Content-Length: the recording is whole when it is sent on.
const plain = ['accept', 'connection', 'content-length', 'content-type', 'host', 'user-agent'];
const besides = (request) => request.headers.map(([name]) => name.toLowerCase()).filter((name) => !plain.includes(name)).sort();

it(`${release}: the caller's key arrives, and nothing else`, async () => {
    const bytes = newRecording();
    const headers = { 'X-Device-Id': 'phone-7', 'X-Request-Id': 'request-7', Cookie: 'session=7', 'x-goog-api-key': 'AIza-other', traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
    const { data } = await ask(connect(rightKey, { defaultHeaders: headers }), bytes);
    assert.equal(data.text, textOf(bytes));
    const sent = await upstream.onlyCall();
    assert.equal(header(sent, 'authorization'), `Bearer ${rightKey}`);
    assert.deepEqual(besides(sent), ['authorization']);
    assert.doesNotMatch(header(sent, 'user-agent') ?? '', /OpenAI/);
    for (const word of ['phone-7', 'request-7', 'session=7', 'AIza', operatorsKey]) assert.ok(!JSON.stringify(sent).includes(word), word);
});

it(`${release}: organization and project go along`, async () => {
    await ask(connect(rightKey, { organization: 'org-1', project: 'proj-1' }));
    const sent = await upstream.onlyCall();
    assert.deepEqual([header(sent, 'openai-organization'), header(sent, 'openai-project')], ['org-1', 'proj-1']);
    assert.deepEqual(besides(sent), ['authorization', 'openai-organization', 'openai-project']);
});

it(`${release}: streams too`, async () => {
    const bytes = newRecording();
    const stream = await connect(rightKey).audio.transcriptions.create({ file: await toFile(bytes, 'note.wav'), model: 'gpt-4o-transcribe', stream: true });
    let last;
    for await (const event of stream) last = event;
    assert.equal(last.text, textOf(bytes));
    assert.equal(header(await upstream.onlyCall(), 'authorization'), `Bearer ${rightKey}`);
});

it(`${release}: callers share nothing, and one caller shares with itself`, async () => {
    const bytes = newRecording();
    const seen = [];
    for (const key of ['sk-first', 'sk-second', 'sk-first']) seen.push(cacheStatus((await ask(connect(key), bytes)).response));
    assert.deepEqual(seen, ['miss stored', 'miss stored', 'hit']);
    const { last } = await upstream.stats();
    assert.deepEqual(last.map((one) => header(one, 'authorization')), ['Bearer sk-first', 'Bearer sk-second']);
});

it(`${release}: a key that the provider refuses is the caller's 401`, async () => {
    const error = await ask(connect('sk-wrong', {}, strictGateway)).then(assert.fail, (why) => why);
    assert.ok(error instanceof OpenAI.AuthenticationError, String(error));
    assert.equal(error.code, 'invalid_api_key');
    assert.ok(!error.message.includes('sk-wrong') && !error.message.includes('operators'));
    const bytes = newRecording();
    assert.equal((await ask(connect(rightKey, {}, strictGateway), bytes)).data.text, textOf(bytes));
    assert.equal((await strict.stats()).calls, 2);
});

it(`${release}: without a key nobody is asked`, async () => {
    const error = await ask(connect('unused', { defaultHeaders: { Authorization: null } })).then(assert.fail, (why) => why);
    assert.deepEqual([error.status, error.code], [401, 'invalid_api_key']);
    assert.equal((await upstream.stats()).calls, 0);
});

it(`${release}: the header api-key is a key as well`, async () => {
    await ask(connect('unused', { defaultHeaders: { Authorization: null, 'api-key': 'azure-style' } }));
    const sent = await upstream.onlyCall();
    assert.equal(header(sent, 'authorization'), 'Bearer azure-style');
    assert.deepEqual(besides(sent), ['authorization']);
});
