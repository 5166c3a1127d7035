// OpenAI's own client against the gateway with its local engine: every format, every way to hand over a file, every refusal.
//
// OPENAI_CLIENT names the installed release (openai6, openai6buffered, openai7); see package.json.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';

import { cacheStatus, localEngine, said, startGateway, wav } from './gateway.mjs';

const release = process.env.OPENAI_CLIENT ?? 'openai7';
const { default: OpenAI, toFile } = await import(release);

const hello = wav('hello-world');
const bytes = (name) => fs.readFileSync(wav(name));
const sha256 = (data) => createHash('sha256').update(data).digest('hex');

let gateway;
let client;
let requests = 0; // what really went over the wire, retries included

/** A client that counts its requests; each test names a device of its own, so that no test finds another's results. */
function connect(device, options = {}) {
    return new OpenAI({
        apiKey: 'unused',
        baseURL: `${gateway.url}/v1`,
        defaultHeaders: { 'X-Device-Id': device },
        fetch: (where, how) => {
            // The client also "fetches" a data: address to learn whether FormData works.
            if (String(where?.url ?? where).startsWith('http')) requests++;
            return fetch(where, how);
        },
        ...options,
    });
}

/** The error that a call must end with. */
async function refusal(promise) {
    try {
        await promise;
    } catch (error) {
        assert.ok(error instanceof OpenAI.APIError, String(error));
        return error;
    }
    assert.fail('the call was not refused');
}

before(async () => {
    gateway = await startGateway();
    client = connect('before');
});
after(async () => {
    await gateway?.stop();
});

describe(`${release}: what it can ask for`, () => {
    it('lists the models', async () => {
        const page = await client.models.list();
        assert.ok(page.data.length > 0);
        for (const one of page.data) {
            assert.equal(one.object, 'model');
            assert.equal(typeof one.id, 'string');
            assert.equal(typeof one.created, 'number');
            assert.equal(typeof one.owned_by, 'string');
        }
    });

    it('gets plain JSON', async () => {
        const answer = await connect('json').audio.transcriptions.create({ file: fs.createReadStream(hello), model: 'whisper-1' });
        assert.equal(answer.text, said('hello-world'));
    });

    it('gets text', async () => {
        const answer = await connect('text').audio.transcriptions.create({ file: fs.createReadStream(hello), model: 'whisper-1', response_format: 'text' });
        assert.equal(answer, `${said('hello-world')}\n`);
    });

    it('gets SRT', async () => {
        const answer = await connect('srt').audio.transcriptions.create({ file: fs.createReadStream(hello), model: 'whisper-1', response_format: 'srt' });
        assert.match(answer, /^1\n\d\d:\d\d:\d\d,\d{3} --> \d\d:\d\d:\d\d,\d{3}\nhello world\n/);
    });

    it('gets WebVTT', async () => {
        const answer = await connect('vtt').audio.transcriptions.create({ file: fs.createReadStream(hello), model: 'whisper-1', response_format: 'vtt' });
        assert.match(answer, /^WEBVTT\n\n(?:1\n)?\d\d:\d\d:\d\d\.\d{3} --> \d\d:\d\d:\d\d\.\d{3}\nhello world\n/);
    });

    it('gets segments', async () => {
        const answer = await connect('segments').audio.transcriptions.create({
            file: fs.createReadStream(wav('long-memo-45s')), model: 'whisper-1', response_format: 'verbose_json', timestamp_granularities: ['segment'],
        });
        assert.equal(answer.language, 'english');
        assert.ok(Math.abs(Number(answer.duration) - 45) < 3, `duration ${answer.duration}`);
        assert.ok(answer.segments.length > 3);
        assert.ok(!answer.words?.length);
        let last = 0;
        for (const [index, segment] of answer.segments.entries()) {
            assert.equal(segment.id, index);
            for (const key of ['seek', 'start', 'end', 'temperature', 'avg_logprob', 'compression_ratio', 'no_speech_prob']) {
                assert.equal(typeof segment[key], 'number', key);
            }
            assert.ok(Array.isArray(segment.tokens));
            assert.ok(segment.start >= last - 0.001 && segment.end >= segment.start, `segment ${index}`);
            last = segment.start;
        }
        assert.equal(answer.segments.map((s) => s.text).join('').trim(), answer.text.trim());
    });

    it('gets words', async () => {
        const answer = await connect('words').audio.transcriptions.create({
            file: fs.createReadStream(hello), model: 'whisper-1', response_format: 'verbose_json', timestamp_granularities: ['word'],
        });
        assert.deepEqual(answer.words.map((w) => w.word), ['hello', 'world']);
        for (const word of answer.words) assert.ok(word.end >= word.start && word.start >= 0);
        assert.ok(!answer.segments?.length);
    });

    it('gets words and segments', async () => {
        const answer = await connect('both').audio.transcriptions.create({
            file: fs.createReadStream(hello), model: 'whisper-1', response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'],
        });
        assert.ok(answer.words.length > 0 && answer.segments.length > 0);
        assert.equal(answer.text.trim(), said('hello-world'));
    });

    it('streams', async () => {
        const stream = await connect('stream').audio.transcriptions.create({ file: fs.createReadStream(hello), model: 'whisper-1', stream: true });
        let deltas = '';
        let done;
        for await (const event of stream) {
            assert.ok(!done, 'nothing follows the last event');
            if (event.type === 'transcript.text.delta') deltas += event.delta;
            else if (event.type === 'transcript.text.done') done = event;
        }
        assert.equal(done.text.trim(), said('hello-world'));
        assert.equal(deltas, done.text);
    });

    it('translates', async () => {
        const answer = await connect('translate').audio.translations.create({ file: fs.createReadStream(hello), model: 'whisper-1' });
        assert.equal(answer.text, said('hello-world'));
    });
});

describe(`${release}: every way to hand over a file`, () => {
    const ways = {
        'a stream of a file': (name) => fs.createReadStream(wav(name)),
        'a buffer': (name) => toFile(bytes(name), 'note.wav'),
        'a buffer with a type': (name) => toFile(bytes(name), 'note.wav', { type: 'audio/wav' }),
        'a buffer without an ending': (name) => toFile(bytes(name), 'blob'),
        'a File': (name) => new File([bytes(name)], 'note.wav', { type: 'audio/x-wav' }),
        'a name in another script': (name) => toFile(bytes(name), 'Notiz "für" später 録音.wav'),
        'an answer of fetch': (name) => new Response(bytes(name)),
        'an iterator of pieces': (name) => {
            async function* pieces() {
                const all = bytes(name);
                for (let at = 0; at < all.length; at += 1000) yield all.subarray(at, at + 1000);
            }
            return toFile(pieces(), 'note.wav');
        },
    };
    for (const [way, open] of Object.entries(ways)) {
        it(way, async () => {
            const answer = await connect(`way ${way.replace(/[^a-z ]/g, '')}`).audio.transcriptions.create({ file: await open('call-back-today'), model: 'whisper-1' });
            assert.equal(answer.text, said('call-back-today'));
        });
    }
});

describe(`${release}: work done once`, () => {
    const ask = (one, extra = {}, options = {}) =>
        one.audio.transcriptions.create({ file: fs.createReadStream(wav('stop-and-go-back-home')), model: 'whisper-1', ...extra }, options).withResponse();

    it('says who did the work', async () => {
        const one = connect('once');
        const first = await ask(one);
        assert.equal(cacheStatus(first.response), 'miss stored');
        assert.equal(first.response.headers.get('x-audio-sha256'), sha256(bytes('stop-and-go-back-home')));
        assert.equal(first.response.headers.get('x-hearonce-backend'), 'local');
        assert.ok(first.request_id);
        const again = await ask(one);
        assert.equal(cacheStatus(again.response), 'hit');
        assert.notEqual(again.request_id, first.request_id);
        const text = await ask(one, { response_format: 'text' });
        assert.equal(cacheStatus(text.response), 'hit', 'text and json are of one class');
        assert.equal(text.data.trim(), first.data.text);
        const detailed = await ask(one, { response_format: 'verbose_json' });
        assert.equal(cacheStatus(detailed.response), 'miss stored', 'segments are another piece of work');
        const subtitles = await ask(one, { response_format: 'srt' });
        assert.equal(cacheStatus(subtitles.response), 'hit');
    });

    it('a file of another name is the same recording', async () => {
        const one = connect('renamed');
        await ask(one);
        const again = await ask(one, { file: await toFile(bytes('stop-and-go-back-home'), 'other.wav') });
        assert.equal(cacheStatus(again.response), 'hit');
    });

    it('other settings and other callers are other work', async () => {
        const one = connect('settings');
        await ask(one);
        assert.equal(cacheStatus((await ask(one, { temperature: 0.2 })).response), 'miss stored');
        assert.equal(cacheStatus((await ask(one, { prompt: 'note' })).response), 'miss stored');
        assert.equal(cacheStatus((await ask(connect('someone else'))).response), 'miss stored');
    });

    it('uploads at the same time are one piece of work', async () => {
        const one = connect('together');
        const file = () => toFile(bytes('long-memo-45s'), 'memo.wav');
        const answers = await Promise.all(
            Array.from({ length: 6 }, async () => one.audio.transcriptions.create({ file: await file(), model: 'whisper-1' }).withResponse()));
        const seen = answers.map(({ response }) => cacheStatus(response));
        assert.equal(seen.filter((s) => s === 'miss stored').length, 1, seen.join(', '));
        assert.ok(seen.every((s) => ['miss stored', 'collapsed', 'hit'].includes(s)), seen.join(', '));
        assert.equal(new Set(answers.map(({ data }) => data.text)).size, 1);
    });

    it('obeys no-cache and no-store', async () => {
        const one = connect('fresh');
        const headers = (value) => ({ headers: { 'Cache-Control': value } });
        await ask(one);
        assert.equal(cacheStatus((await ask(one, {}, headers('no-cache'))).response), 'request stored');
        assert.equal(cacheStatus((await ask(one, {}, headers('no-store'))).response), 'request');
    });

    it('a caller that gives up leaves the work to its resend', async () => {
        const one = connect('gives up');
        const stop = new AbortController();
        const file = await toFile(bytes('long-memo-45s'), 'memo.wav');
        const first = one.audio.transcriptions.create({ file, model: 'whisper-1', prompt: 'memo' }, { signal: stop.signal });
        // It is being worked on once the gateway counts it; then the caller goes.
        let flying = false;
        for (let tries = 0; tries < 2000 && !flying; tries++) {
            const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
            flying = /^hearonce_work_in_flight(?:\{[^}]*\})? [1-9]/m.test(metrics);
        }
        assert.ok(flying, 'the work was never in flight');
        stop.abort();
        await assert.rejects(first, OpenAI.APIUserAbortError);
        const again = await one.audio.transcriptions.create({ file, model: 'whisper-1', prompt: 'memo' }).withResponse();
        assert.ok(['collapsed', 'hit'].includes(cacheStatus(again.response)), cacheStatus(again.response));
    });
});

describe(`${release}: refusals that it understands`, () => {
    const cases = {
        'an unknown format': [{ response_format: 'docx' }, 400, 'response_format'],
        'a temperature that is too high': [{ temperature: 3 }, 400, 'temperature'],
        'a temperature that is no number': [{ temperature: 'warm' }, 400, 'temperature'],
        'an unknown granularity': [{ response_format: 'verbose_json', timestamp_granularities: ['letter'] }, 400, /^timestamp_granularities/],
        'no file': [{ file: undefined }, 400, 'file', 'missing_file'],
    };
    for (const [what, [fields, status, param, code]] of Object.entries(cases)) {
        it(what, async () => {
            const before = requests;
            const error = await refusal(connect('refused').audio.transcriptions.create({ file: fs.createReadStream(hello), model: 'whisper-1', ...fields }));
            assert.equal(error.status, status);
            if (param instanceof RegExp) assert.match(error.param, param);
            else assert.equal(error.param, param);
            if (code) assert.equal(error.code, code);
            assert.equal(error.type, 'invalid_request_error');
            assert.ok(error.message.length > 10);
            assert.equal(requests - before, 1, 'a final refusal is not sent again');
        });
    }

    it('an empty file', async () => {
        const error = await refusal(connect('empty').audio.transcriptions.create({ file: await toFile(Buffer.alloc(0), 'a.wav'), model: 'whisper-1' }));
        assert.deepEqual([error.status, error.code], [400, 'empty_audio']);
    });

    it('a file that is no audio', async () => {
        const error = await refusal(connect('noise').audio.transcriptions.create({ file: await toFile(Buffer.alloc(5000, 'no audio'), 'a.wav'), model: 'whisper-1' }));
        assert.deepEqual([error.status, error.code], [400, 'unsupported_audio']);
    });

    it('a hash that does not fit', async () => {
        const one = connect('hash');
        const ask = (hash) => one.audio.transcriptions.create({ file: fs.createReadStream(hello), model: 'whisper-1' }, { headers: { 'X-Audio-Sha256': hash } });
        const error = await refusal(ask('0'.repeat(64)));
        assert.deepEqual([error.status, error.code], [400, 'audio_hash_mismatch']);
        assert.equal((await ask(sha256(bytes('hello-world')).toUpperCase())).text, said('hello-world'));
    });

    it('one Idempotency-Key for two recordings', async () => {
        const one = connect('idempotent');
        const ask = (name) => one.audio.transcriptions.create({ file: fs.createReadStream(wav(name)), model: 'whisper-1' }, { headers: { 'Idempotency-Key': 'note-1' } });
        await ask('hello-world');
        assert.equal((await ask('hello-world')).text, said('hello-world'));
        const before = requests;
        const error = await refusal(ask('call-back-today'));
        assert.deepEqual([error.status, error.code], [409, 'idempotency_conflict']);
        assert.equal(requests - before, 1, 'x-should-retry: false is obeyed');
    });

    it('audio that is too large', async () => {
        const small = await startGateway({ ...localEngine, 'server.max_audio': '64KiB' });
        try {
            const one = new OpenAI({ apiKey: 'unused', baseURL: `${small.url}/v1` });
            const error = await refusal(one.audio.transcriptions.create({ file: await toFile(bytes('long-memo-45s'), 'memo.wav'), model: 'whisper-1' }));
            assert.deepEqual([error.status, error.code], [413, 'audio_too_large']);
        } finally {
            await small.stop();
        }
    });

    it('a model that nobody claims', async () => {
        const cloud = await startGateway({ 'backends.openai.kind': 'openai', 'backends.openai.api_key': 'unused', 'backends.openai.base_url': 'http://127.0.0.1:9/v1' });
        try {
            const one = new OpenAI({ apiKey: 'unused', baseURL: `${cloud.url}/v1` });
            const error = await refusal(one.audio.transcriptions.create({ file: fs.createReadStream(hello), model: 'nobody-claims-this' }));
            assert.deepEqual([error.status, error.code], [404, 'model_not_found']);
        } finally {
            await cloud.stop('SIGINT');
        }
    });

    it('a wrong token, where the right one is served', async () => {
        const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'hearonce-clients-'));
        const tokens = path.join(folder, 'tokens');
        fs.writeFileSync(tokens, `phone:${sha256('the-right-token')}\n`, { mode: 0o600 });
        const closed = await startGateway({ ...localEngine, 'auth.mode': 'tokens', 'auth.tokens_file': tokens });
        try {
            const holder = (apiKey) => new OpenAI({ apiKey, baseURL: `${closed.url}/v1` });
            const ask = (one) => one.audio.transcriptions.create({ file: fs.createReadStream(hello), model: 'whisper-1' });
            const error = await refusal(ask(holder('not-a-token')));
            assert.deepEqual([error.status, error.code], [401, 'invalid_api_key']);
            assert.ok(error instanceof OpenAI.AuthenticationError);
            assert.equal((await refusal(holder('not-a-token').models.list())).status, 401);
            assert.equal((await ask(holder('the-right-token'))).text, said('hello-world'));
            assert.ok(!closed.log().includes('the-right-token'), 'a token is never logged');
        } finally {
            await closed.stop();
            fs.rmSync(folder, { recursive: true });
        }
    });
});
