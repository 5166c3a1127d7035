// OpenAI's own client when a server behind the gateway refuses, fails, is slow, or breaks off: what it is told, and how often anybody
// is asked.
//
// OPENAI_CLIENT names the installed release. Next file: own_key.test.mjs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';

import { startGateway } from './gateway.mjs';
import { newRecording, startUpstream, textOf } from './upstream.mjs';

const release = process.env.OPENAI_CLIENT ?? 'openai7';
const { default: OpenAI, toFile } = await import(release);

const operatorsKey = 'operators-key';
let upstream;
let once; // a gateway that asks the upstream once
let thrice; // one that asks it three times
let requests = []; // by the client, with the answers' headers

const settings = (attempts) => ({
    'backends.cloud.kind': 'openai', 'backends.cloud.base_url': `${upstream.url}/v1`, 'backends.cloud.api_key': operatorsKey,
    'retry.attempts': String(attempts), 'retry.pauses': '["10ms"]',
});

function connect(gateway, options = {}) {
    return new OpenAI({
        apiKey: 'unused',
        baseURL: `${gateway.url}/v1`,
        fetch: async (where, how) => {
            const answer = await fetch(where, how);
            if (String(where?.url ?? where).startsWith('http')) requests.push(answer.headers);
            return answer;
        },
        ...options,
    });
}

before(async () => {
    upstream = await startUpstream('--key', operatorsKey);
    once = await startGateway(settings(1));
    thrice = await startGateway(settings(3));
});
beforeEach(async () => {
    await upstream.reset();
    // A success between failures: a backend that only fails would be left alone.
    for (const gateway of [once, thrice]) await ask(connect(gateway));
    await upstream.reset();
    requests = [];
});
after(async () => {
    await once?.stop();
    await thrice?.stop();
    await upstream?.stop();
});

const ask = async (client, fields = {}, options = {}) =>
    client.audio.transcriptions.create({ file: await toFile(newRecording(), 'note.wav'), model: 'whisper-1', ...fields }, options);

async function refusal(promise, status, code) {
    const error = await promise.then(() => assert.fail('the call was not refused'), (why) => why);
    assert.ok(error instanceof OpenAI.APIError, String(error));
    assert.deepEqual([error.status, error.code], [status, code], error.message);
    assert.ok(!error.message.includes(operatorsKey));
    return error;
}
const calls = async () => (await upstream.stats()).calls;

describe(`${release}: limits of rate and money`, () => {
    it('obeys Retry-After, and its second request succeeds', async () => {
        await upstream.faults('status=429, retry_after=1');
        const began = performance.now();
        const bytes = newRecording();
        const answer = await ask(connect(once), { file: await toFile(bytes, 'note.wav') });
        assert.equal(answer.text, textOf(bytes));
        assert.ok(performance.now() - began >= 990, 'it waits as long as it is told');
        assert.deepEqual(requests.map((headers) => [headers.get('retry-after'), headers.get('x-should-retry')]), [['1', null], [null, null]]);
        assert.equal(await calls(), 2);
    });

    it('is not told to retry what the gateway has tried already', async () => {
        await upstream.always('status=429');
        const error = await refusal(ask(connect(thrice)), 429, 'rate_limit_exceeded');
        assert.ok(error instanceof OpenAI.RateLimitError);
        assert.deepEqual([requests.length, await calls()], [1, 3]);
        assert.equal(requests[0].get('x-should-retry'), 'false');
    });

    it('is told of a pause that is too long for the gateway', async () => {
        await upstream.always('status=429, retry_after=40');
        const error = await refusal(ask(connect(thrice, { maxRetries: 0 })), 429, 'rate_limit_exceeded');
        assert.equal(error.headers.get('retry-after'), '40');
        assert.equal(error.headers.get('x-should-retry'), null);
        assert.equal(await calls(), 1);
    });

    it('is told at once when no waiting helps', async () => {
        await upstream.always('insufficient_quota');
        await refusal(ask(connect(thrice)), 429, 'insufficient_quota');
        assert.deepEqual([requests.length, await calls()], [1, 1]);
        assert.equal(requests[0].get('x-should-retry'), 'false');
    });
});

describe(`${release}: what a model cannot do is refused before anybody is asked`, () => {
    const cases = {
        'subtitles of gpt-4o-transcribe': [{ model: 'gpt-4o-transcribe', response_format: 'srt' }, 'response_format'],
        'segments of gpt-transcribe': [{ model: 'gpt-transcribe', response_format: 'verbose_json' }, 'response_format'],
        'speakers of whisper-1': [{ model: 'whisper-1', response_format: 'diarized_json' }, 'response_format'],
        'subtitles of the model that knows speakers': [{ model: 'gpt-4o-transcribe-diarize', response_format: 'vtt' }, 'response_format'],
    };
    for (const [what, [fields, param]] of Object.entries(cases)) {
        it(what, async () => {
            const error = await refusal(ask(connect(once), fields), 400, 'unsupported_value');
            assert.equal(error.param, param);
            assert.match(error.message, new RegExp(`'${fields.response_format}'.*'${fields.model}'`));
            assert.deepEqual([requests.length, await calls()], [1, 0]);
        });
    }

    it('a translation by another model than whisper-1', async () => {
        const asked = connect(once).audio.translations.create({ file: await toFile(newRecording(), 'note.wav'), model: 'gpt-transcribe' });
        assert.equal((await refusal(asked, 400, 'unsupported_value')).param, 'model');
        assert.equal(await calls(), 0);
    });

    it('a model that no backend claims', async () => {
        await refusal(ask(connect(once), { model: 'whisper-9' }), 404, 'model_not_found');
        assert.deepEqual([requests.length, await calls()], [1, 0]);
    });
});

describe(`${release}: what the upstream refuses is said in its words`, () => {
    const cases = {
        'probabilities of whisper-1': [{ include: ['logprobs'] }, 'include', /logprobs/],
        'a keyword in brackets': [{ model: 'gpt-transcribe', keywords: ['<b>'] }, 'keywords[]', /A keyword must be one line/],
        'two ways to name the language': [{ model: 'gpt-transcribe', language: 'en', languages: ['de'] }, 'languages[]', /either language or languages/],
        'a prompt for the model that knows speakers': [{ model: 'gpt-4o-transcribe-diarize', prompt: 'note' }, 'prompt', /not supported/],
        'five speakers': [{ model: 'gpt-4o-transcribe-diarize', known_speaker_names: ['a', 'b', 'c', 'd', 'e'] }, 'known_speaker_names', /4 known speakers/],
    };
    for (const [what, [fields, param, message]] of Object.entries(cases)) {
        it(what, async () => {
            const error = await refusal(ask(connect(thrice), fields), 400, 'invalid_parameter');
            assert.equal(error.param, param);
            assert.match(error.message, message);
            assert.equal(error.type, 'invalid_request_error');
            assert.deepEqual([requests.length, await calls()], [1, 1]);
        });
    }
});

describe(`${release}: an upstream that fails`, () => {
    it('is asked as often as configured, and the client once', async () => {
        await upstream.always('status=503');
        const error = await refusal(ask(connect(thrice)), 502, 'upstream_error');
        assert.ok(error instanceof OpenAI.InternalServerError);
        assert.deepEqual([requests.length, await calls()], [1, 3]);
        assert.equal(requests[0].get('x-should-retry'), 'false');
    });

    it('is forgiven when it mends', async () => {
        await upstream.faults('status=500', 'status=503');
        const bytes = newRecording();
        assert.equal((await ask(connect(thrice), { file: await toFile(bytes, 'note.wav') })).text, textOf(bytes));
        assert.deepEqual([requests.length, await calls()], [1, 3]);
    });

    for (const fault of ['html_502', 'html_200', 'not_json', 'half_body', 'reset=after_body', 'key_invalid']) {
        it(`by ${fault}: 502, without a word of what it sent`, async () => {
            await upstream.always(fault);
            const error = await refusal(ask(connect(once, { maxRetries: 0 })), 502, 'upstream_error');
            assert.doesNotMatch(error.message, /<|html|operators/i);
        });
    }

    it('slower than the deadline: 504', async () => {
        const hasty = await startGateway({ ...settings(3), 'deadline.base': '300ms', 'deadline.per_audio_second': '0', 'deadline.cap': '300ms' });
        try {
            await upstream.always('hang');
            await refusal(ask(connect(hasty, { maxRetries: 0 })), 504, 'upstream_timeout');
            assert.equal(await calls(), 1);
        } finally {
            await hasty.stop();
        }
    });

    it('is not asked for nothing: a caller that gave up finds the work when it comes again', async () => {
        await upstream.always('delay=300ms');
        const file = await toFile(newRecording(), 'note.wav');
        const again = { file, model: 'whisper-1' };
        const stop = new AbortController();
        const first = connect(once).audio.transcriptions.create(again, { signal: stop.signal });
        while ((await upstream.stats()).in_flight === 0);
        stop.abort();
        await assert.rejects(first, OpenAI.APIUserAbortError);
        assert.equal((await connect(once).audio.transcriptions.create(again)).text, textOf(Buffer.from(await file.arrayBuffer())));
        assert.equal(await calls(), 1);
    });
});

describe(`${release}: a stream that breaks`, () => {
    const stream = async (fault, gateway = once) => {
        await upstream.always(fault);
        let deltas = '';
        let failure;
        const bytes = newRecording();
        try {
            const events = await ask(connect(gateway, { maxRetries: 0 }), { file: await toFile(bytes, 'note.wav'), model: 'gpt-4o-transcribe', stream: true });
            for await (const event of events) deltas += event.delta ?? '';
        } catch (error) {
            failure = error;
        }
        return { deltas, failure, text: textOf(bytes) };
    };

    for (const fault of ['sse_error', 'cut_sse=mid_record', 'cut_sse=between']) {
        it(`by ${fault} after its first words ends with an error, and is not begun again`, async () => {
            const { deltas, failure, text } = await stream(fault, thrice);
            assert.ok(failure instanceof OpenAI.APIError, String(failure));
            assert.equal((failure.code ?? failure.error?.code), 'upstream_error');
            assert.ok(deltas.length > 0 && text.startsWith(deltas) && deltas !== text, deltas);
            assert.equal(await calls(), 1);
        });
    }

    it('before its first word is tried again', async () => {
        await upstream.faults('status=503', 'none');
        const bytes = newRecording();
        const events = await ask(connect(thrice), { file: await toFile(bytes, 'note.wav'), model: 'gpt-4o-transcribe', stream: true });
        let last;
        for await (const event of events) last = event;
        assert.equal(last.text, textOf(bytes));
        assert.deepEqual([requests.length, await calls()], [1, 2]);
    });

    it('that was refused is an error with its status', async () => {
        const { failure } = await stream('status=429, retry_after=40');
        assert.deepEqual([failure.status, failure.code], [429, 'rate_limit_exceeded']);
        assert.equal(failure.headers.get('retry-after'), '40');
    });

    it('from a file on disk, which the client never sends twice, is tried again by the gateway', async () => {
        await upstream.faults('status=503', 'none');
        const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'hearonce-clients-')), 'note.wav');
        const bytes = newRecording();
        fs.writeFileSync(file, bytes);
        try {
            assert.equal((await ask(connect(thrice), { file: fs.createReadStream(file) })).text, textOf(bytes));
        } finally {
            fs.rmSync(path.dirname(file), { recursive: true });
        }
    });
});
